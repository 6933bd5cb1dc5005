"""The one line that says what came of a run."""

from lazyrich.report import summary


def test_counts_claims_and_names_failures(record, failed):
    assert summary([record(), record("li2/fig3"), failed]) == (
        "10 claims: 2 hold, 2 corrected, 2 depart, 2 not applicable, 2 fail"
        " · 1 experiment failed (saddles/fig2a: The data set is missing)"
    )


def test_counts_one_in_the_singular(record):
    claims = record()["claims"]
    assert summary([record(claims=claims[:1])]) == "1 claim: 1 holds"


def test_counts_checks(checks):
    assert summary(checks) == (
        "5 checks: 1 holds, 1 corrected, 1 departs, 1 fails, 1 crashed"
        " (layerwise/thm2: ValueError: no such rank)"
    )


def test_stays_one_line(failed):
    failed["error"] = "First line.\nSecond \x1b[31mline. " + "More. " * 50
    line = summary([failed] * 20)
    assert line.startswith("20 experiments failed (saddles/fig2a: First line. Second [31mline.")
    assert line.endswith("and 17 more)")
    assert line.isprintable()
    assert len(line) < 400


def test_of_nothing(record):
    assert summary([]) == "nothing was run"
    assert summary([record(claims=[])]) == "no claims"


def test_unknown_verdicts_are_counted(record):
    assert summary([record(claims=[{"verdict": "perhaps"}])]) == "1 claim: 1 unknown"
