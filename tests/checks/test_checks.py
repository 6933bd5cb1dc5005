"""Every check runs and says what the paper's item is worth."""

import pytest

from lazyrich import checks
from lazyrich.core import Verdict

FIRST = {id.split("/")[0]: id for id in reversed(checks.ids())}.values()
"""One of each paper. `lazyrich verify` runs all of them, and so does CI."""


@pytest.mark.parametrize(
    "id", [pytest.param(id, marks=[pytest.mark.slow] * (id not in FIRST)) for id in checks.ids()]
)
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
    "saddles": [
        *("thm4", "lemma6", "prop5", "sec5-2"),
        *(f"eq{number}" for number in (9, *range(34, 40), 41, 42)),
        *("thm1", "cor2", "thm3", "app-c", "app-c-reduction", "app-e", "app-f3", "app-f4"),
        *(f"eq{number}" for number in (4, 5, 6, 7, 21, 22, *range(25, 32))),
        *(f"eq{number}" for number in (14, 15, 16, 43, 44, *range(48, 53), *range(54, 64))),
    ],
    "layerwise": [
        *(f"eq{number}" for number in (*range(6, 11), 12, *range(21, 60))),
        *("eq13", "sec5-2", "app-f2", *(f"eq{number}" for number in range(61, 69))),
        *("eq14", "eq69", "eq70", "def-f1", "thm-f2", "app-f3"),
        *("eq11", "eq60", "app-d1", "app-d3", "app-d4"),
        *("thm-h1", "remark-h2", "remark-h3", "sec7-1", "app-i3", "sec6-2"),
        *(f"eq{number}" for number in (*range(15, 21), *range(71, 99))),
    ],
    "li2": [
        *(
            "prop1",
            "prop2",
            "prop3",
            "prop4",
            "lemma1",
            "lemma3",
            "lemma3-proof",
            "lemma4",
            "lemma11",
        ),
        "sec6",
        *(f"eq{number}" for number in (3, 4, 5, 11, 12, *range(55, 61), 68, 69)),
        *("thm6", "thm7", "thm8", "lemma2", "lemma7", "lemma8", "lemma9", "lemma10"),
        *(f"eq{number}" for number in (9, 10, *range(34, 40), *range(41, 47))),
        *(
            "thm1",
            "thm2",
            "thm3",
            "thm4",
            "thm5",
            "cor1",
            "cor2",
            "lemma5",
            "lemma6",
            "sec4-3",
            "sec4-4",
        ),
        *(f"eq{number}" for number in (6, 7, 13, 19, 20, 21, *range(24, 32))),
    ],
}


@pytest.mark.parametrize("paper", EXPECTED)
def test_no_item_is_missing(paper):
    assert {f"{paper}/{item}" for item in EXPECTED[paper]} <= set(checks.ids())
