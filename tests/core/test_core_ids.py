"""Ids, globs and misspellings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.core import LazyrichError, UnknownIdError, known_id, natural_order, select

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
        (["SADDLES/fig1A"], r"called 'SADDLES/fig1A'\. Did you mean saddles/fig1a or"),
        (["saddles"], r"called 'saddles'\. Did you mean 'saddles/\*'\?"),
        (["saddles/fig1"], r"called 'saddles/fig1'\. Did you mean 'saddles/fig1\*'\?"),
        (["table1"], r"called 'table1'\. Did you mean saddles/table1\?"),
        (
            ["grokking/*"],
            r"called 'grokking/\*'\. Known are: saddles/\*, li2/\*\. `lazyrich list` shows",
        ),
        ([""], r"called ''"),
        (["saddles/"], r"called 'saddles/'\. Did you mean 'saddles/\*'\?"),
    ],
)
def test_unknown_ids_name_the_nearest(patterns, message):
    with pytest.raises(UnknownIdError, match=message):
        select(patterns, KNOWN, "experiment")


def test_public_names_keep_their_capitals():
    with pytest.raises(UnknownIdError, match=r"Did you mean 'theory\.Flow\.\*'\?"):
        select(["theory.flow"], ["theory.Flow.loss", "theory.Flow.modes"], "closed form")


@pytest.mark.parametrize("id", ["all", "saddles/*", "saddles", "", None, 3, ["li2/fig3"]])
def test_one_id_is_no_pattern(id):
    assert known_id("li2/fig3", iter(KNOWN), "experiment") == "li2/fig3"
    with pytest.raises(UnknownIdError, match="No experiment is called"):
        known_id(id, KNOWN, "experiment")


def test_where_one_is_wanted_no_glob_is_suggested():
    with pytest.raises(UnknownIdError, match=r"Did you mean saddles/fig1a or saddles/fig1b\?"):
        known_id("saddles/fig1", KNOWN, "experiment")
    with pytest.raises(UnknownIdError, match=r"Known are: saddles/fig1a, .*, li2/fig3\."):
        known_id("zz", KNOWN, "experiment")


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
