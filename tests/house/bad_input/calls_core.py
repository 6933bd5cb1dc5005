"""Valid calls of `lazyrich.core`, and what odd values mean there."""

import dataclasses
import types

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich import core

from .engine import Call, spread


@dataclasses.dataclass(frozen=True)
class Config:
    width: int = 3
    num_seeds: int = 8


def _total(*arguments):
    return sum((jnp.sum(leaf) for leaf in jax.tree.leaves(arguments)), jnp.zeros(()))


def _experiment():
    named = {
        "paper": "saddles",
        "item": "fig0",
        "title": "",
        "caption": "",
        "seconds": {},
        "references": (),
    }
    plain = {
        "run": dict,
        "claims": dict,
        "figure": dict,
        "module": "",
        "presets": {"quick": Config()},
    }
    return core.Experiment(convention=core.LIBRARY_CONVENTION, **named, **plain)


def _module():
    module = types.ModuleType("fig0")
    module.PAPER, module.ID, module.TITLE, module.CAPTION = "saddles", "fig0", "", ""
    module.SECONDS, module.CONVENTION, module.REFERENCES = {}, core.LIBRARY_CONVENTION, ()
    module.PRESETS, module.run, module.claims, module.figure = {}, dict, dict, dict
    return module


CLAIM = core.Claim("rises", "Fig. 1", 1.0, 1.0)
RESULT = core.CheckResult(0.0, 1e-9, 3)
KEY = jax.random.key(0)

RECORDS = {
    "Accuracy": "made by `accuracy`", "AccuracyResult": "made by `Accuracy.run`",
    "Check": "made by `check`", "Comparison": "written in `checks.accuracy`",
    "Context": "made by `runner`", "Convention": "words, written in each experiment",
    "Experiment": "made by `Experiment.of`", "Reference": "written in the bibliography",
}  # fmt: skip

EXEMPT = {
    ("accuracy check", "*"): "constants of the modules in `checks`",
    ("Accuracy.*", "*"): "called by `lazyrich verify` only",
    ("argument_error choice count flag items known moderate number real shape whole",
     "name requirement advice allowed at_least at_most finite size bounds"): "constants at each call",
    ("centred", "rows"): "inside formulas, on numbers that were checked",
    ("falling_time representable", "*"): "inside formulas, on numbers that were checked",
    ("compute", "jit"): "a constant at each call",
    ("select known_id", "known kind"): "constants at each call",
    ("Context.*", "label name arguments"): "passed on to whoever gave the context its functions",
}  # fmt: skip

INSTANCES = {
    "Check": lambda: core.Check("saddles/eq1", "", "", lambda: RESULT),
    "Context": core.Context,
    "Experiment": _experiment,
}

CALLS = {
    "Check.record": {"result": RESULT},
    "CheckResult": {
        "error": 1e-12, "tolerance": 1e-9, "num_cases": 3, "printed_error": 0.5, "correction": "a factor 2",
        "departure": "",
    },
    "Claim": {
        "statement": "rises", "source": "Fig. 1", "expected": 1.0, "measured": 1.1, "comparison": "relative",
        "tolerance": 0.2, "uncertainty": 0.05, "num_seeds": 8, "departure": None, "correction": None,
        "needs": None,
    },
    "Claim.agrees": {"value": 1.0},
    "Context.keep": Call(
        lambda compute: core.Context().keep("piece", compute), {"compute": lambda: 3.0}
    ),
    "Context.track": {"items": [1, 2], "label": "squares"},
    "Correction": {"printed": 2.0, "reason": "a factor 2", "erratum": "eq1"},
    "Departure": {"reason": "the sample is small", "pinned": 0.5, "tolerance": 0.1},
    "Experiment.config": {"preset": "quick", "num_seeds": 8},
    "Experiment.of": {"module": _module()},
    "argument_error": {"name": "value", "requirement": "be > 0", "value": -1.0, "advice": ""},
    "as_array": {"value": np.array([1.0, 2.0])},
    "bibtex": Call(spread(core.bibtex, "keys"), {"keys": ("saddles", "li2")}),
    "centred": {"rows": np.array([[1.0, 2.0], [3.0, 5.0]]), "centring": "samples"},
    "choice": {"name": "value", "value": "tall", "allowed": ("tall", "small")},
    "compute": Call(spread(core.compute, "arguments"), {"function": _total, "arguments": (2.0,)}),
    "compute_elementwise": Call(
        spread(core.compute_elementwise, "arguments"), {"function": _total, "arguments": (2.0,)}
    ),
    "config_from_json": {"kind": Config, "record": {"width": 3, "num_seeds": 8}},
    "config_to_json": {"config": Config()},
    "count": {"name": "value", "value": 3},
    "covariance_spectrum": {"covariance": np.array([[1.0, 0.2], [0.2, 0.5]])},
    "flag": {"name": "value", "value": True},
    "is_traced": Call(spread(core.is_traced, "values"), {"values": (2.0,)}),
    "items": {"name": "value", "value": [1, 2]},
    "jsonable": {"value": {"rate": 0.1}},
    "known": {"name": "value", "value": 2.0},
    "moderate": {"name": "value", "value": np.array([1.0, 2.0])},
    "known_id": {"id": "saddles/eq1", "known": ["saddles/eq1", "li2/eq2"], "kind": "check"},
    "natural_order": {"id": "eq10"},
    "number": {"name": "value", "value": 2.0},
    "permutation": {"key": KEY, "size": 3},
    "real": {"name": "value", "value": np.array([1.0, 2.0])},
    "reference": {"key": "saddles"},
    "require_seeds": {"claims": [CLAIM], "minimum": 8},
    "seed_chunks": {"num_seeds": 5, "chunk": 2},
    "select": {"patterns": ["saddles/*"], "known": ["saddles/eq1", "li2/eq2"], "kind": "check"},
    "shape": {"name": "value", "value": (2, 3)},
    "shortened": {"value": 2.0},
    "untraced": {"function": _total},
    "standard_normal": {"key": KEY, "shape": (2, 3)},
    "standard_uniform": {"key": KEY, "shape": (2, 3)},
    "whole": {"name": "value", "value": np.array([1, 2])},
}  # fmt: skip

ITEM = (
    "first_text first_object first_none first_flag first_complex first_infinite first_zero first_negative "
    "first_huge first_empty first_extra_axis"
)

MEANING = {
    # verdicts judge numbers that are none: such a claim or check fails
    (
        "CheckResult Claim Correction Departure",
        "error tolerance printed_error expected measured printed pinned uncertainty",
        "flag",
    ): "True counts as 1",
    (
        "CheckResult Claim Correction Departure",
        "error printed_error expected measured printed pinned",
        "nan",
    ): "NaN is judged: it fails",
    ("CheckResult Departure", "tolerance", "nan"): "NaN is judged: it fails",
    (
        "CheckResult Claim Correction Departure",
        "error printed_error expected measured printed pinned",
        "infinite zero negative huge",
    ): "judged as it is",
    ("CheckResult Departure", "tolerance", "infinite negative"): "judged: it fails",
    ("CheckResult Claim Departure", "tolerance", "zero huge"): "any tolerance ≥ 0",
    ("Claim", "uncertainty", "nan infinite zero negative huge"): "shown; a single run has none",
    ("Claim.agrees", "value", "flag nan infinite zero negative huge"): "compared as it is",
    ("CheckResult", "num_cases", "zero"): "judged: it fails",
    ("CheckResult Claim", "num_cases num_seeds", "huge enormous"): "any count",
    ("Claim require_seeds", "num_seeds minimum", "zero"): "none needed",
    ("require_seeds", "minimum", "huge enormous"): "more than there are: not applicable",
    ("require_seeds", "claims", "empty longer"): "any number of claims",
    ("CheckResult", "correction departure", "text empty"): "words",
    ("Claim", "needs", "text"): "words",
    (
        "Claim Correction Departure",
        "statement source reason erratum",
        "*",
    ): "words, shown as they are",
    # what takes anything
    ("argument_error is_traced jsonable known shortened", "value values", "* !nan"): "anything",
    ("argument_error shortened", "value", "nan"): "anything",
    ("as_array", "value", "* !nan"): "anything; `real` refuses",
    ("as_array known", "value", "nan"): "NaN stays: `real` refuses",
    ("items Context.track", "value items", ITEM): "anything may be listed",
    (
        "items Context.track",
        "value items",
        "empty longer first_enormous first_fraction",
    ): "any list",
    ("items Context.track", "value items", "first_nan"): "NaN may be listed",
    ("Context.track", "items", "text"): "a text lists its letters",
    # arguments of functions
    (
        "compute*",
        "arguments",
        "number empty longer first_flag first_infinite first_zero first_negative "
        "first_huge first_none first_empty first_extra_axis none",
    ): "passed to the function, None too",
    ("compute*", "arguments", "first_nan"): "NaN as the function has it",
    ("count whole number real", "value", "huge"): "a bound is the caller's",
    ("count", "value", "enormous"): "a bound is the caller's",
    ("number real moderate", "value", "zero negative"): "a bound is the caller's",
    ("real moderate whole", "value", "number empty extra_axis longer"): "any shape",
    (
        "shape standard_normal standard_uniform",
        "value shape",
        "empty longer first_zero",
    ): "any shape",
    ("covariance_spectrum", "covariance", "zero huge"): "a covariance of any size",
    ("permutation seed_chunks", "size num_seeds", "zero"): "nothing to order",
    # ids
    ("bibtex select", "keys patterns", "empty longer"): "each once; no pattern: all",
    ("natural_order", "id", "text empty"): "any text",
    ("Experiment.config", "num_seeds", "*"): "refused as `seeds`: what the command line calls it",
}
