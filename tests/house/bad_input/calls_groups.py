"""Valid calls of `lazyrich.groups`, and what odd values mean there."""

import numpy as np

from lazyrich import groups

from .engine import Call, spread
from .values import Also

GROUP = groups.cyclic(3)
FUNCTION = np.array([0.4, -0.7, 0.2])
TRANSFORMS = groups.fourier(GROUP, FUNCTION)
NO_GROUP = np.array([[0, 1, 2], [1, 0, 0], [2, 0, 1]])

RECORDS = {"Irrep": "made by `irreps`", "RealIrrep": "made by `real_irreps`"}

CALLS = {
    "Group": {"table": Also(GROUP.table, {"not_associative": NO_GROUP}), "name": "Z3"},
    "Group.multiply": {"a": 1, "b": np.array([0, 1, 2])},
    "alternating": {"letters": 3},
    "centre": {"group": GROUP},
    "character_table": {"group": GROUP},
    "commutator_subgroup": {"group": GROUP},
    "cyclic": {"order": 3},
    "dicyclic": {"half": 2},
    "dihedral": {"sides": 3},
    "fourier": {"group": GROUP, "function": FUNCTION},
    "from_permutations": {"generators": np.array([[1, 2, 0], [1, 0, 2]]), "name": "S3"},
    "inverse_fourier": {"group": GROUP, "transforms": TRANSFORMS},
    "irreps": {"group": GROUP},
    "pair_power": {"group": GROUP, "weights": np.array([0.4, -0.7, 0.2, 0.1, 0.5, -0.3])},
    "power": {"group": GROUP, "function": FUNCTION},
    "product": Call(spread(groups.product, "factors"), {"factors": (GROUP, GROUP)}),
    "projectors": {"group": GROUP},
    "quotient": {"group": GROUP, "normal": np.array([0, 1, 2])},
    "real_irreps": {"group": GROUP},
    "real_pair_power": {"group": GROUP, "weights": np.array([0.4, -0.7, 0.2, 0.1, 0.5, -0.3])},
    "real_power": {"group": GROUP, "function": FUNCTION},
    "regular": {"group": GROUP},
    "semidirect": {"normal": GROUP, "acting": groups.cyclic(2), "action": np.array([[0, 1, 2], [0, 2, 1]])},
    "small_group": {"order": 6, "index": 1},
    "small_groups": {"order": 6},
    "subgroup": {"group": GROUP, "generators": np.array([1])},
    "summary": {"group": GROUP},
    "symmetric": {"letters": 3},
}  # fmt: skip

MEANING = {
    ("Group from_permutations", "name", "text empty"): "any text",
    ("Group.multiply", "a b", "zero"): "the element 0",
    ("Group.multiply", "a b", "extra_axis"): "arrays that broadcast",
    ("Group.multiply", "b", "empty longer"): "arrays that broadcast",
    (
        "fourier power real_power *pair_power",
        "function weights",
        "zero negative complex",
    ): "any numbers",
    (
        "fourier power real_power *pair_power",
        "function weights",
        "huge",
    ): "any numbers; what overflows is infinite",
    ("fourier power real_power *pair_power", "function weights", "extra_axis"): "many functions",
    ("inverse_fourier", "transforms", "first_zero first_negative first_huge"): "any numbers",
    ("from_permutations", "generators", "longer"): "a generator twice",
    ("product", "factors", "longer"): "one more factor",
    ("quotient", "normal", "zero"): "the trivial subgroup",
    ("quotient subgroup", "normal generators", "longer extra_axis"): "a set: an element twice",
    ("subgroup", "generators", "zero empty"): "the trivial subgroup",
}
