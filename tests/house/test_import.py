"""Importing has no side effects, and heavy parts load on use."""

import json
import subprocess
import sys

import pytest

import lazyrich


def in_new_process(code):
    """What a fresh interpreter prints, as JSON."""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return json.loads(result.stdout)


def test_importing_lazyrich_loads_nothing_heavy():
    loaded = in_new_process("import sys, json, lazyrich; print(json.dumps(list(sys.modules)))")
    assert not {"jax", "numpy", "scipy", "xarray", "matplotlib", "rich"} & set(loaded)


def test_ids_and_titles_do_not_need_jax():
    loaded = in_new_process(
        "import sys, json\n"
        "from lazyrich import checks, experiments\n"
        "from lazyrich.checks import accuracy\n"
        "[accuracy.get(id).title for id in accuracy.ids()]\n"
        "[experiments.get(id).title for id in experiments.ids()], [checks.get(id) for id in checks.ids()]\n"
        "print(json.dumps(list(sys.modules)))"
    )
    assert not {"jax", "xarray", "matplotlib", "mpmath"} & set(loaded)


@pytest.mark.parametrize("package", sorted(set(lazyrich.__all__) - {"__version__"}))
def test_using_a_package_leaves_jax_settings_alone(package):
    before, after, backend = in_new_process(
        "import json, jax\n"
        "values = lambda: {k: str(v) for k, v in jax.config.values.items()}\n"
        "before = values()\n"
        f"import lazyrich.{package} as p\n"
        "[getattr(p, name) for name in p.__all__]\n"
        "import sys\n"
        "print(json.dumps([before, values(), 'matplotlib.pyplot' in sys.modules]))"
    )
    assert before == after
    assert not backend, "pyplot is global state"


def test_computing_leaves_the_setting_alone():
    import jax

    before = jax.config.jax_enable_x64
    lazyrich.theory.LinearGrokking(0.5).train_loss(1.0)
    assert jax.config.jax_enable_x64 == before


def test_unknown_attribute():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        lazyrich.theory.nothing  # noqa: B018
