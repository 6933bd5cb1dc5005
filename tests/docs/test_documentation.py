"""What the documentation says is executed, exists, and is complete."""

import contextlib
import doctest
import fnmatch
import importlib
import importlib.util
import io
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import lazyrich
from lazyrich import checks, core, measures, theory
from lazyrich.theory._frozen import Frozen

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
PAGES = [page for page in PAGES if not {"_build", "auto_examples"} & set(page.parts)]
BLOCK = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$", re.M | re.S)
EXECUTED = {"python", "{code-cell}"}


def name(path):
    return str(path.relative_to(ROOT))


def blocks(text):
    """Kind and text of every fenced block; the options of a directive are left out."""
    for match in BLOCK.finditer(text):
        yield match["kind"].strip(), re.sub(r"\A(:[\w-]+:.*\n)+\n?", "", match["text"])


def code_of(page):
    return [text for kind, text in blocks(page.read_text(encoding="utf-8")) if kind in EXECUTED]


def run_blocks(codes, label):
    """Executes blocks in one namespace, as a reader would; returns what they print."""
    printed, namespace = io.StringIO(), {"__name__": label}
    with contextlib.redirect_stdout(printed):
        for number, code in enumerate(codes):
            exec(compile(code, f"{label}, block {number}", "exec"), namespace)
    if "matplotlib.pyplot" in sys.modules:  # pages leave pictures open; twenty would be a warning
        sys.modules["matplotlib.pyplot"].close("all")
    return printed.getvalue()


@pytest.mark.parametrize("page", [page for page in PAGES if code_of(page)], ids=name)
def test_code_on_pages_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    run_blocks(code_of(page), name(page))


def test_every_measure_has_a_row_on_its_page():
    page = (DOCS / "guide" / "measure.md").read_text(encoding="utf-8")
    rows = "\n".join(line for line in page.splitlines() if line.startswith("|"))
    every = [name for name in measures.__all__ if not isinstance(getattr(measures, name), type)]
    missing = [name for name in every if f"`{name}`" not in rows]
    assert not missing, "add a row for each under *Which measure* of docs/guide/measure.md"


def test_python_on_pages_is_executed():
    kinds = [(name(page), kind) for page in PAGES for kind, _ in blocks(page.read_text("utf-8"))]
    left = [page for page, kind in kinds if "python" in kind and kind not in EXECUTED]
    assert left == ["docs/guide/measure.md"]  # needs PyTorch: a test below runs it


ID = re.compile(r"(?<![\w/-])(?:linear-grokking|saddles|layerwise|li2)/[\w*-]+")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if ID.search(page.read_text("utf-8"))], ids=name
)
def test_ids_on_pages_exist(page):
    known = [*lazyrich.experiments.ids(), *checks.ids()]
    named = dict.fromkeys(ID.findall(page.read_text(encoding="utf-8")))
    assert [id for id in named if not fnmatch.filter(known, id)] == []


@pytest.mark.torch
def test_torch_code_prints_what_the_page_says():
    """Pages are built without PyTorch, so that its block is not executed there."""
    torch = pytest.importorskip("torch", reason="needs the `bench` extra")
    torch.set_num_threads(1)  # arrays are small; on a busy machine threads wait for each other
    page = (DOCS / "guide" / "measure.md").read_text(encoding="utf-8")
    [code] = [text for kind, text in blocks(page) if kind == "{code-block} python"]
    assert run_blocks([code], "measure.md").strip() == code.rpartition("  # ")[2].strip()


def test_readme_example_prints_what_the_readme_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    readme = ROOT / "README.md"
    shown = next(
        text for kind, text in blocks(readme.read_text(encoding="utf-8")) if kind == "text"
    )
    printed = run_blocks(code_of(readme), "README.md").splitlines()
    assert printed[0] == shown.splitlines()[0]
    predicted = float(re.search(r"\d+", printed[0])[0])
    mean, error = map(float, re.findall(r"\d+", printed[1]))
    assert abs(mean - predicted) < 3 * error
    mean_shown, error_shown = map(float, re.findall(r"\d+", shown.splitlines()[1]))
    assert abs(mean - mean_shown) < error_shown


@pytest.mark.parametrize(
    ("marker", "words"),
    [("reproduce", ["lazyrich reproduce all"]), ("test", ["[test]", "pytest"])],
)
def test_readme_commands(marker, words):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.findall(rf"^<!-- command: {marker} -->\n```bash\n(.*?)^```$", text, re.M | re.S)
    assert len(found) == 1, "one block under its marker"
    [command] = found[0].splitlines()
    assert command.startswith("python3 -m venv ")
    assert all(word in command for word in words)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_to_files(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    for link in links:
        assert link.startswith("https://") or (ROOT / link).exists(), f"{page} links to {link}"


def packages():
    return [m.name for m in pkgutil.iter_modules(lazyrich.__path__, "lazyrich.") if m.ispkg]


@pytest.fixture(scope="module")
def public_names():
    """The Sphinx extension that writes the API reference; this part of it does not need Sphinx."""
    spec = importlib.util.spec_from_file_location("public_names", DOCS / "_ext" / "public_names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("package", packages())
def test_every_public_name_has_an_api_entry(package, public_names):
    page = DOCS / "api" / f"{package.removeprefix('lazyrich.')}.md"
    assert f".. public-names:: {package}\n" in page.read_text(encoding="utf-8")
    assert f"\n{page.stem}\n" in (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    entries = set(
        re.findall(r"^\.\. auto\w+:: (\S+)$", "\n".join(public_names.rest(package)), re.M)
    )
    exported = importlib.import_module(package).__all__
    assert exported
    assert {f"{package}.{name}" for name in exported} <= entries


def test_api_entries_have_what_private_base_classes_share(public_names):
    entries = "\n".join(public_names.rest("lazyrich.theory")).split(
        ".. autoclass:: lazyrich.theory."
    )
    entry = {text.partition("\n")[0]: text for text in entries}
    assert ":inherited-members: Module\n" in entry["LinearModes"]
    assert ":inherited-members:" not in entry["ModeStages"]


def errata():
    text = (DOCS / "errata.md").read_text(encoding="utf-8")
    return {part.partition("\n")[0]: part for part in re.split(r"^### ", text, flags=re.M)[1:]}


@pytest.mark.parametrize("title", errata())
def test_errata_name_their_evidence(title):
    entry = errata()[title]
    for field in ("Printed", "Wrong", "Corrected", "Evidence"):
        assert f"\n{field}:\n: " in entry, f"no field {field}"
    evidence = entry.partition("\nEvidence:\n")[2].partition("\n\n")[0]
    named = re.findall(r"`([\w-]+/[^`]+)`", evidence)
    assert named
    for item in named:
        assert _exists(item), f"{title} names {item}, which does not exist"


def _exists(item):
    file, _, function = item.partition("::")
    if file.endswith(".py"):
        return f"def {function}(" in (ROOT / file).read_text(encoding="utf-8")
    return item in checks.ids() or item in lazyrich.experiments.ids()


def corrected_checks():
    """Ids of checks that give the printed form an error, themselves or by a function for several."""
    sources = "\n".join(
        path.read_text("utf-8") for path in (ROOT / "src/lazyrich/checks").rglob("*.py")
    )
    return [
        re.search(r'"([\w-]+/[\w-]+)"', part)[1]
        for part in sources.split("@check(")[1:]
        if re.search(r"printed_error=|return _\w+_result\(", part)
    ]


def test_every_corrected_check_is_in_the_errata():
    text = (DOCS / "errata.md").read_text(encoding="utf-8")
    assert corrected_checks()
    assert [id for id in corrected_checks() if f"check `{id}`" not in text] == []


def test_the_readme_counts_checks_and_errata():
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    said = re.search(r"Of these (\d+) checks (\d+) found .* wrong in (\d+) entries", text)
    numbers = len(checks.ids()), len(corrected_checks()), len(errata())
    assert said is not None
    assert tuple(map(int, said.groups())) == numbers


def test_versions_agree():
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    version = re.search(r'^version = "(.+)"$', pyproject, re.M)[1]
    assert lazyrich.__version__ == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_citation_has_every_paper():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    found = re.findall(
        r'\n    title: "(.+)"\n    authors:\n((?: {6,}.+\n)+)    year: (\d+)\n', text
    )
    authors = r"family-names: (.+)\n +given-names: (.+)\n"
    cited = {
        (title, tuple(map(", ".join, re.findall(authors, names))), int(year))
        for title, names, year in found
    }
    papers = {id.partition("/")[0] for id in lazyrich.experiments.ids()}
    known = [core.reference(paper) for paper in papers]
    assert cited == {(one.title, one.authors, one.year) for one in known}


def test_solutions_that_are_no_pytrees_are_named():
    page = (DOCS / "guide" / "predict.md").read_text(encoding="utf-8")
    exceptions = page.partition("The exceptions ")[2].partition("\n\n")[0]
    exported = {name: getattr(theory, name) for name in theory.__all__}
    frozen = {
        n for n, kind in exported.items() if isinstance(kind, type) and issubclass(kind, Frozen)
    }
    assert set(re.findall(r"`(\w+)`", exceptions)) == frozen


# examples in docstrings

MODULES = [
    module.name
    for module in pkgutil.walk_packages(lazyrich.__path__, "lazyrich.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failures = io.StringIO()
    runner = doctest.DocTestRunner(verbose=False)
    source = importlib.import_module(module)
    for test in doctest.DocTestFinder(exclude_empty=True).find(source, module):
        runner.run(test, out=failures.write)
    assert failures.getvalue() == ""


def test_examples_are_found():
    count = sum(
        len(test.examples)
        for module in MODULES
        for test in doctest.DocTestFinder().find(importlib.import_module(module), module)
    )
    assert count > 40
