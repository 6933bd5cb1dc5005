"""Every check runs and says what the paper's item is worth."""

import pytest

from lazyrich import checks
from lazyrich.core import Verdict


@pytest.mark.parametrize("id", checks.ids())
def test_check(id):
    result = checks.get(id).run()
    assert result.verdict in (Verdict.HOLDS, Verdict.CORRECTED, Verdict.DEPARTS), result


def test_ids_name_items_of_papers():
    from lazyrich.core import papers

    for id in checks.ids():
        paper, item = id.split("/")
        assert paper in papers()
        assert item


EXPECTED = {
    "linear-grokking": [
        f"eq{number}"
        for number in (*range(3, 16), *range(17, 29), 30, 32, 33, 35, 36, 37, 38, 40, 41, 42)
    ],
    "saddles": ["thm4", "lemma6", *(f"eq{number}" for number in (9, 34, 37, 39, 42))],
}


@pytest.mark.parametrize("paper", EXPECTED)
def test_no_item_is_missing(paper):
    assert {f"{paper}/{item}" for item in EXPECTED[paper]} <= set(checks.ids())
