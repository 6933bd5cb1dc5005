"""Which modules a result depends on."""

import shutil
from pathlib import Path

import pytest

import lazyrich
from lazyrich import checks, experiments
from lazyrich.runner import _code_digest, code_digest, modules_used

FIG1 = "lazyrich.experiments.linear_grokking.fig1"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package that may be edited."""
    root = tmp_path / "lazyrich"
    shutil.copytree(Path(lazyrich.__file__).parent, root, ignore=shutil.ignore_patterns("*.pyc"))
    monkeypatch.setattr(_code_digest, "ROOT", root)
    _code_digest._direct_uses.cache_clear()
    yield root
    _code_digest._direct_uses.cache_clear()


def write(package, name, text):
    """Add or replace a module of the copy."""
    place = package.joinpath(*name.split(".")[1:]).with_suffix(".py")
    place.parent.mkdir(exist_ok=True)
    place.write_text(text)
    _code_digest._direct_uses.cache_clear()
    return name


def edit(package, name):
    place = package / name
    place.write_text(place.read_text() + "\n# edited\n")
    _code_digest._direct_uses.cache_clear()


def test_facades_are_seen_through():
    used = modules_used(FIG1)
    assert {
        FIG1,
        "lazyrich.theory._linear_grokking",
        "lazyrich.theory._marchenko_pastur",  # through the one above
        "lazyrich.simulate._linear_descent",
        "lazyrich.measures._crossing_time",
        "lazyrich.measures._seed_mean",
        "lazyrich.tasks._teacher_student",
        "lazyrich.quantities._threshold_accuracy",  # through theory
        "lazyrich.core._precision",
    } <= used
    assert "lazyrich.theory._linear_flow" not in used, "of theory only what is used"
    assert not [name for name in used if name.startswith(_code_digest.NO_INFLUENCE)]
    for package in ("checks", "cli", "runner", "store"):
        assert not [name for name in used if name.startswith(f"lazyrich.{package}")]


@pytest.mark.parametrize("id", experiments.ids())
def test_every_experiment_has_a_digest(id):
    module = experiments.get(id).module
    assert len(code_digest(module)) == 64
    assert code_digest(module) == code_digest(module)
    assert module in modules_used(module)
    assert all(name.startswith("lazyrich.") for name in modules_used(module))


def test_the_copy_has_the_same_digest(package):
    copied = code_digest(FIG1)
    assert package == _code_digest.ROOT
    _code_digest._direct_uses.cache_clear()
    _code_digest.ROOT = Path(lazyrich.__file__).parent
    assert code_digest(FIG1) == copied


@pytest.mark.parametrize(
    "name",
    ["experiments/linear_grokking/fig1.py", "theory/_linear_grokking.py", "theory/_marchenko_pastur.py",
     "simulate/_linear_descent.py", "quantities/_threshold_accuracy.py", "core/_precision.py"],
)  # fmt: skip
def test_editing_what_is_used_changes_the_digest(package, name):
    before = code_digest(FIG1)
    edit(package, name)
    assert code_digest(FIG1) != before


@pytest.mark.parametrize(
    "name",
    ["plotting/_style.py", "report/_gallery.py", "theory/_linear_flow.py", "runner/_reproduce.py",
     "cli/_app.py", "store/_result.py", "checks/__init__.py", "theory/__init__.py"],
)  # fmt: skip
def test_editing_anything_else_does_not(package, name):
    before = code_digest(FIG1)
    edit(package, name)
    assert code_digest(FIG1) == before


def test_moving_what_is_used_changes_the_digest(package):
    before = code_digest(FIG1)
    (package / "measures/_seed_mean.py").rename(package / "measures/_mean.py")
    stub = package / "measures/__init__.pyi"
    stub.write_text(stub.read_text().replace("._seed_mean", "._mean"))
    _code_digest._direct_uses.cache_clear()
    assert "lazyrich.measures._mean" in modules_used(FIG1)
    assert code_digest(FIG1) != before


FLOW, LAW = "lazyrich.theory._linear_flow", "lazyrich.theory._marchenko_pastur"
FORMS = {
    "from lazyrich import theory\ntheory.LinearFlow": FLOW,
    "from lazyrich import theory as t\nt.LinearFlow(1).train_loss(2)": FLOW,
    "from lazyrich.theory import LinearFlow": FLOW,
    "from lazyrich.theory import LinearFlow as L": FLOW,
    "from lazyrich.theory._linear_flow import LinearFlow": FLOW,
    "from lazyrich.theory import _linear_flow": FLOW,
    "import lazyrich\nlazyrich.theory.LinearFlow": FLOW,
    "import lazyrich as l\nl.theory.LinearFlow.train_loss": FLOW,
    "import lazyrich.theory\nlazyrich.theory.LinearFlow": FLOW,
    "import lazyrich.theory as t\nt.LinearFlow": FLOW,
    "import lazyrich.theory._linear_flow as f\nf.LinearFlow": FLOW,
    "from ..theory import LinearFlow": FLOW,
    "from .. import theory\ntheory.LinearFlow": FLOW,
    "def f():\n    from lazyrich.theory import LinearFlow\n    return LinearFlow": FLOW,
    "from lazyrich import theory\ngetattr(theory, name)": FLOW,
    "from lazyrich import theory\nf(theory)": FLOW,
    "from lazyrich import theory\nmodels = [theory.LinearFlow, theory.MarchenkoPastur]": FLOW,
    "from lazyrich import theory\nx = {'a': [theory.LinearFlow(y).z for y in w]}": FLOW,
    # one name for two things, in two functions
    "def f():\n    from lazyrich.theory import LinearFlow as model\n"
    "def g():\n    from lazyrich.theory import MarchenkoPastur as model": FLOW,
    "def f():\n    from lazyrich import theory as part\n    return part.LinearFlow\n"
    "def g():\n    from lazyrich import measures as part\n    return part.seed_mean": FLOW,
}


@pytest.mark.parametrize("text", FORMS, ids=range(len(FORMS)))
def test_every_form_of_import(package, text):
    module = write(package, "lazyrich.experiments.trial", text)
    assert FORMS[text] in modules_used(module)


@pytest.mark.parametrize(
    "text",
    [
        "from lazyrich import theory\ntheory.MarchenkoPastur",
        "from lazyrich.theory import MarchenkoPastur",
        "import lazyrich\nlazyrich.theory.MarchenkoPastur",
        "from lazyrich import theory",
        "import numpy as theory\ntheory.LinearFlow",
        "'lazyrich.theory.LinearFlow'",
    ],
)
def test_nothing_more_than_is_used(package, text):
    module = write(package, "lazyrich.experiments.trial", text)
    assert FLOW not in modules_used(module)
    assert not [name for name in modules_used(module) if name.startswith(_code_digest.NO_INFLUENCE)]


def test_neighbours_and_constants_of_packages(package):
    write(package, "lazyrich.experiments.saddles.__init__", "SIZE = 3")
    write(package, "lazyrich.experiments.saddles._shared", "from lazyrich.theory import LinearFlow")
    text = "from lazyrich.experiments.saddles import SIZE, _shared\n"
    module = write(package, "lazyrich.experiments.saddles.fig1", text)
    assert {
        "lazyrich.experiments.saddles",
        "lazyrich.experiments.saddles._shared",
        FLOW,
    } <= modules_used(module)
    before = code_digest(module)
    edit(package, "experiments/saddles/__init__.py")
    assert code_digest(module) != before


def test_circles_end(package):
    one = write(package, "lazyrich.experiments.one", "from lazyrich.experiments import two")
    two = write(package, "lazyrich.experiments.two", "from lazyrich.experiments import one")
    assert modules_used(one) == modules_used(two) == {one, two}


def test_checks_and_experiments_are_read_without_running_them(package):
    module = write(package, "lazyrich.experiments.trial", "raise SystemExit('I was run')")
    assert modules_used(module) == {module}
    assert checks.ids()
