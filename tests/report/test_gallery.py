"""The gallery: one page, whole, safe and on its own."""

import re
from html.parser import HTMLParser

import pytest

from lazyrich.report import gallery

VOID = {"meta", "link", "input", "img"}
HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>'


class Page(HTMLParser):
    """Tags and text of a page; raises where tags are not closed in order."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self._open = [], "", []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self._open):
            self.text += data

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    def links(self):
        return [a["href"] for a in self.all("a") if not a["href"].startswith("#")]


def test_shows_everything(record, folder):
    page = Page(gallery([record()], folder, title="My figures"))
    text = " ".join(page.text.split())
    for claim in record()["claims"]:
        assert claim["statement"] in text
        assert claim["source"] in text
        assert claim["reason"] in text
    shown = ("My figures", "5 claims: 1 holds, 1 corrected, 1 departs, 1 not applicable, 1 fails",
             "Train and test loss", "linear-grokking/fig1", "quick preset", "Loss against time.",
             "0.95 ± 2 %", "0.9497 ± 0.0021", "8 seeds", "printed: 1", "mean square, no ½",
             "lazyrich reproduce linear-grokking/fig1 --preset quick", "12 s", "t = step",
             "lazyrich 0.1.0, jax 0.8", "Levi et al. (2024).", "@article{levi, year = {2024} }",
             "Grokking in Linear Estimators")  # fmt: skip
    assert [words for words in shown if words not in text] == []
    assert page.links() == [
        "quick/linear-grokking/fig1/figure.png",
        "quick/linear-grokking/fig1/data.lazyrich",
    ]


def test_embeds_the_figure_once(record, folder):
    html = gallery([record()], folder)
    [image] = Page(html).all("img")
    assert image["src"].startswith("data:image/png;base64,iVBORw0KGgo")
    assert image["alt"] == "Loss against time."
    assert (image["width"], image["height"]) == ("1", "1")
    assert html.count(image["src"]) == 1


def test_legend_explains_and_filters_the_verdicts(record, failed, folder):
    page = Page(gallery([record(), failed], folder))
    choices = [a["value"] for a in page.all("input") if a["type"] == "radio"]
    assert choices == [
        "all", "holds", "corrected", "departs", "not-applicable", "fails", "crashed",
    ]  # fmt: skip
    style = gallery([], folder)
    for verdict in choices[1:]:
        assert f'[value="{verdict}"]:checked) .filtered:not(.has-{verdict})' in style
    articles = [a["class"].split() for a in page.all("article")]
    assert articles[0] == ["filtered", *(f"has-{verdict}" for verdict in choices[1:-1])]
    assert articles[1] == ["filtered", "has-crashed"]


def test_asks_nothing_from_elsewhere(record, failed, folder):
    record = record(
        citation={"text": "See https://arxiv.org/abs/1.", "bibtex": "https://arxiv.org"}
    )
    html = gallery([record, failed], folder)
    page = Page(html)
    loads = [
        a[name] for _, a in page.tags for name in ("src", "href", "srcset", "action") if name in a
    ]
    assert [load for load in loads if re.match(r"(?!data:)[a-z]+:|//", load)] == []
    style = html.partition("<style>")[2].partition("</style>")[0]
    assert not re.search(r"url\(|@import|http", style)
    policy = next(m["content"] for m in page.all("meta") if "http-equiv" in m)
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert "unsafe" not in policy


def test_is_readable_on_phones_and_by_screen_readers(record, folder):
    html = gallery([record()], folder)
    page = Page(html)
    assert page.all("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.all(
        "meta"
    )
    assert len(page.all("h1")) == 1
    for query in ("prefers-color-scheme: dark", "@media print", "min-width: 44rem"):
        assert query in html


def _hostile(value):
    if isinstance(value, dict):
        return {HOSTILE + str(name): _hostile(item) for name, item in value.items()}
    return HOSTILE


def test_escapes_every_field(record, folder):
    hostile = {}
    for name, value in record().items():
        nested = isinstance(value, dict) and name not in ("config", "versions")
        hostile[name] = dict.fromkeys(value, HOSTILE) if nested else _hostile(value)
    claim = dict.fromkeys(record()["claims"][0], HOSTILE)
    corrected = record()["claims"][1] | {"correction": {"printed": HOSTILE, "erratum": HOSTILE}}
    hostile |= {"claims": [claim, corrected], "status": "failed"}
    html = gallery([hostile, record(id=HOSTILE)], folder, title=HOSTILE)
    page = Page(html)
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert len(page.all("script")) == 1
    assert not [a for _, a in page.tags for name in a if name.startswith("on")]
    assert page.text.count("alert(1)") > 15


@pytest.mark.parametrize(
    "path",
    ["javascript:alert(1)", "https://example.org/x", "//example.org/x", "/etc/passwd", "../secret",
     "quick/../../secret", "..\\secret", "data:text/html,x", "", 7, "a\nb"],
)  # fmt: skip
def test_links_and_reads_nothing_outside_the_folder(record, folder, path):
    (folder.parent / "secret").write_text("secret")
    page = Page(gallery([record(files=dict.fromkeys(("figure", "data", "pdf"), path))], folder))
    assert page.links() == []
    assert page.all("img") == []
    assert "The figure is missing." in page.text


def test_follows_no_symbolic_link_out_of_the_folder(record, folder, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "figure.png"
    outside.write_bytes((folder / record()["files"]["figure"]).read_bytes())
    (folder / "escape.png").symlink_to(outside)
    assert Page(gallery([record(files={"figure": "escape.png"})], folder)).all("img") == []


def test_quotes_unusual_file_names(record, folder):
    (folder / 'a "b" #1?.png').write_bytes(b"")
    page = Page(gallery([record(files={"figure": 'a "b" #1?.png'})], folder))
    assert page.links() == ["a%20%22b%22%20%231%3F.png"]


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-9], lambda data: b"<svg>", lambda data: b""]
)
def test_says_when_a_figure_is_damaged(record, folder, damage):
    file = folder / record()["files"]["figure"]
    file.write_bytes(damage(file.read_bytes()))
    page = Page(gallery([record()], folder))
    assert page.all("img") == []
    assert "not a whole PNG picture" in page.text


def test_says_when_there_is_no_figure(record, failed, folder):
    assert "The figure is missing." in Page(gallery([failed], folder)).text
    files = {"figure": None, "data": None, "pdf": None}
    assert "No figure was drawn." in Page(gallery([record(files=files)], folder)).text


def test_shows_a_failed_experiment(failed, folder):
    text = Page(gallery([failed], folder)).text
    assert "1 experiment failed (saddles/fig2a: The data set is missing)" in text
    assert "This experiment did not finish." in text
    assert "! crashed" in text


def test_shows_values_that_are_not_finite(record, folder):
    claim = record()["claims"][4] | {"expected": "inf", "measured": "nan", "uncertainty": "inf"}
    text = Page(gallery([record(claims=[claim], seconds=float("nan"))], folder)).text
    assert "≤ ∞" in text
    assert "nan ± ∞" in text


def test_of_nothing(folder):
    text = Page(gallery([], folder)).text
    assert "There are no experiments yet." in text
    assert "nothing was run" in text


def test_survives_a_damaged_record(folder):
    assert "unknown" in Page(gallery([{}, {"claims": [{}]}], folder)).text


def test_anchors_are_unique_and_reached(record, folder):
    ids = ["a/fig1", "a/fig1", "a fig1", "a/fig1-2", "all_experiments", "λ"]
    page = Page(gallery([record(id=id) for id in ids], folder))
    anchors = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(anchors)) == len(anchors) == len(ids) + 1
    targets = {a["href"][1:] for a in page.all("a") if a["href"].startswith("#")}
    assert targets == set(anchors)


def test_groups_by_paper_and_tells_presets_apart(record, folder):
    records = [record("b/1"), record("a/1"), record("b/1", preset="paper")]
    page = Page(gallery(records, folder))
    assert len(page.all("section")) == 2
    assert [a["id"] for a in page.all("article")] == ["b-1", "b-1--2", "a-1"]
    assert "paper preset" in page.text


def test_is_the_same_each_time(record, failed, folder):
    assert gallery([record(), failed], folder) == gallery(iter([record(), failed]), str(folder))
