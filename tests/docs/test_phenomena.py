"""Every page of a phenomenon answers the same questions, in code short enough to read."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in (DOCS / "phenomena").glob("*.md")}
INDEX = PAGES.pop("index")
CELL = re.compile(r"^```{code-cell}\n(?P<options>(?::[^\n]*\n)*)(?P<code>.*?)^```$", re.M | re.S)
QUESTIONS = [
    "What theory predicts", "When it holds", "See it in your own network", "How to read the numbers", "More",
]  # fmt: skip
LINKS = ("lazyrich reproduce", "](../theory/", "{py:", "](../notation.md", "](../errata.md#")


def test_there_is_a_page_for_each_phenomenon():
    names = ["plateaus-and-saddles", "emergence", "lazy-and-rich"]
    assert set(PAGES) == {*names, "neural-collapse", "grokking", "feature-emergence"}


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_answers_the_questions_in_order(name):
    headings = re.findall(r"^## (.+)$", PAGES[name], re.M)
    assert [heading for heading in headings if heading in QUESTIONS] == QUESTIONS
    own = PAGES[name].partition("\n## See it in your own network\n")[2].partition("\n## ")[0]
    assert "measures." in "".join(match["code"] for match in CELL.finditer(own))


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_leads_on(name):
    assert [link for link in LINKS if link not in PAGES[name]] == []
    assert f"]({name}.md)" in INDEX
    assert f"\n{name}\n" in INDEX


@pytest.mark.parametrize("name", sorted(PAGES))
def test_code_is_short_and_pictures_are_described(name):
    cells = list(CELL.finditer(PAGES[name]))
    drawing = [cell for cell in cells if "plotting.style()" in cell["code"]]
    assert drawing
    assert all("hide-input" in cell["options"] and "alt:" in cell["options"] for cell in drawing)
    lengths = [cell["code"].count("\n") for cell in cells if cell not in drawing]
    assert max(lengths) <= 25
