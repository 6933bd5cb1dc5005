"""Ids, globs and misspellings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.core import LazyrichError, UnknownIdError, natural_order, select

KNOWN = ["saddles/fig1a", "saddles/fig1b", "saddles/table1", "li2/fig3"]


@pytest.mark.parametrize(
    ("patterns", "chosen"),
    [
        ([], KNOWN),
        (["all"], KNOWN),
        (["*"], KNOWN),
        (["li2/fig3"], ["li2/fig3"]),
        (["li2/fig3", "saddles/fig1a"], ["saddles/fig1a", "li2/fig3"]),  # the known order
        (["saddles/fig1a", "saddles/*", "saddles/fig1a"], KNOWN[:3]),  # each once
        (["saddles/fig1?"], KNOWN[:2]),
        (["*/fig1[ab]", "all"], KNOWN),
    ],
)
def test_selects(patterns, chosen):
    assert select(patterns, iter(KNOWN), "experiment") == chosen


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        (
            ["sadles/fig1a"],
            r"No experiment is called 'sadles/fig1a'. Did you mean saddles/fig1a or",
        ),
        (["li2/fig3", "li2/fig4"], r"called 'li2/fig4'. Did you mean li2/fig3"),
        (["all", "li2/fig4"], r"called 'li2/fig4'"),
        (["SADDLES/fig1a"], r"called 'SADDLES/fig1a'"),
        (
            ["grokking/*"],
            r"called 'grokking/\*'\. Known are: saddles/fig1a, .* `lazyrich list` shows",
        ),
        ([""], r"called ''"),
        (["zz"], r"Known are: saddles/fig1a, saddles/fig1b, saddles/table1, li2/fig3\."),
    ],
)
def test_unknown_ids_name_the_nearest(patterns, message):
    with pytest.raises(UnknownIdError, match=message):
        select(patterns, KNOWN, "experiment")


def test_the_message_stays_short_and_printable():
    with pytest.raises(UnknownIdError) as caught:
        select(["\x1b[31m\n" * 100], KNOWN, "experiment")
    assert len(str(caught.value)) < 300
    assert str(caught.value).isprintable()


@given(st.lists(st.text(max_size=5)))
def test_any_words_give_known_ids_or_the_one_error(patterns):
    try:
        chosen = select(patterns, KNOWN, "experiment")
    except LazyrichError:
        return
    assert chosen == [id for id in KNOWN if id in chosen]


def test_numbers_sort_as_numbers():
    ids = ["layerwise/fig10a", "layerwise/fig3", "li2/eq9", "li2/eq10", "layerwise/fig4b"]
    assert sorted(ids, key=natural_order) == [
        "layerwise/fig3", "layerwise/fig4b", "layerwise/fig10a", "li2/eq9", "li2/eq10",
    ]  # fmt: skip
