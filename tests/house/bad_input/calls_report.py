"""Valid calls of `lazyrich.report`, and what odd values mean there."""

CLAIM = {
    "verdict": "holds",
    "statement": "It is so.",
    "source": "here",
    "expected": 1,
    "measured": 1,
}
RECORD = {"id": "a/1", "title": "One", "preset": "quick", "seconds": 1.0, "claims": [CLAIM]}
CHECK = {"id": "a/1", "title": "One", "verdict": "holds", "against": "numbers", "error": 0.0}

CALLS = {
    "accuracy_markdown": {"records": [CHECK]},
    "accuracy_summary": {"records": [CHECK]},
    "accuracy_table": {"records": [CHECK]},
    "checks_table": {"records": [CHECK]},
    "claims_table": {"records": [RECORD]},
    "duration": {"seconds": 12.3},
    "gallery": {"records": [RECORD], "folder": "no-such-folder", "title": "Figures"},
    "summary": {"records": [RECORD]},
}

MEANING = {
    ("*", "records", "empty"): "nothing was run",
    ("*", "records", "first_empty longer"): "what a record lacks is shown as missing",
    ("duration", "seconds", "*"): "what is no number is an unknown duration",
    ("gallery", "folder", "text empty"): "any path; files that are missing are not shown",
    ("gallery", "title", "text empty"): "any text",
}
