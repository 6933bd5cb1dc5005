"""References."""

import re

import pytest

from lazyrich import checks, experiments
from lazyrich.core import UnknownIdError, bibtex, papers, reference

ENTRY = re.compile(r"@(article|inproceedings|misc)\{([a-z0-9-]+),\n(  \w+ = \{.+\},?\n)+\}")


@pytest.mark.parametrize("key", papers())
def test_every_reference_is_whole(key):
    known = reference(key)
    assert known.key == key
    assert ENTRY.fullmatch(known.bibtex), known.bibtex
    assert known.bibtex.count("{") == known.bibtex.count("}")
    for part in (known.title, str(known.year), known.url, *known.authors):
        assert part in known.bibtex
    assert (
        known.text
        == f"{known.text.partition(' (')[0]} ({known.year}). {known.title}. {known.venue}."
    )
    assert known.url.startswith("https://")
    assert all("," in author for author in known.authors)  # BibTeX's "family, given"


def test_keys_are_unique():
    assert len(set(papers())) == len(papers())


def test_names_of_few_and_many_authors():
    assert reference("marchenko-pastur").text.startswith("Marčenko & Pastur (1967)")
    assert reference("linear-grokking").text.startswith("Levi et al. (2024)")


def test_each_once_in_the_order_asked_for():
    text = bibtex("omnigrok", "linear-grokking", "omnigrok")
    assert re.findall(r"@\w+\{(.+),", text) == ["omnigrok", "linear-grokking"]
    assert bibtex() == ""


def test_unknown_keys():
    with pytest.raises(
        UnknownIdError, match=r"No reference has the key 'nobody'. Known are: linear-"
    ):
        reference("nobody")


def test_everything_registered_rests_on_known_references():
    for id in experiments.ids():
        assert experiments.get(id).references[0] == experiments.get(id).paper
        assert bibtex(*experiments.get(id).references)
    for id in checks.ids():
        assert reference(checks.get(id).paper)
