"""In whatever form arrays come: lists, float32, int32, views, tensors that carry gradients; and refusals."""

import dataclasses

import numpy as np
import pytest
from foreign_runs import exported
from foreign_torch import torch_or_skip

from lazyrich import groups, measures
from lazyrich.core import ArgumentError, as_array

RNG = np.random.default_rng(0)
M = 7
PAIRS = np.argwhere(np.ones((M, M)))[:40]
SUMS = PAIRS.sum(axis=1) % M
GROUP = groups.cyclic(M)


def eighths(*shape):
    """Numbers that float32 has exactly."""
    return RNG.integers(-16, 17, shape) / 8


TIME, RISING = np.arange(12), np.cumsum(np.arange(12)) / 64
U, V, W = eighths(5, 3), eighths(5, 2), eighths(2 * M, 6)
F, LABELS, LAST = eighths(12, 4), np.arange(12) % 3, eighths(4, 3)
HIDDEN, TOP = (W[PAIRS[:, 0]] + W[M + PAIRS[:, 1]]) ** 2, eighths(6, M)
J, K = eighths(10, 2, 8), eighths(10, 10)
K = K @ K.T
D = np.arange(1.0, 5.0)


class Tensor:
    """As PyTorch's with gradients: NumPy gets it only by force."""

    def __init__(self, array):
        self._array, self.shape, self.ndim = array, array.shape, array.ndim

    def __len__(self):
        return len(self._array)

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

    def detach(self):
        return Tensor(self._array)

    def numpy(self, *, force=False):
        return self._array if force else self.__array__()


def short(array):
    return array.astype(np.float32 if array.dtype.kind == "f" else np.int32)


def view(array):
    return np.repeat(array, 2, axis=0)[::2].T.copy().T


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


FORMS = [np.ndarray.tolist, short, view, read_only, Tensor, lambda a: [Tensor(row) for row in a]]


def products(f):
    rows = J.reshape(20, 8)
    return measures.JacobianProducts(
        10, 2, 8, rows=lambda i: f(rows[i]), product=lambda d: f(rows @ np.round(d))
    )


def meter(f):
    found = measures.CollapseMeter(f(LAST), f(LAST[0]))
    found.add(f(F), f(LABELS))
    found.compare(f(F))
    return found.result()


def stage(f):
    return measures.training_stage(f(W), f(TOP), f(HIDDEN), f(SUMS), inputs=f(PAIRS), group=GROUP)


CASES = [
    lambda f: measures.crossing_time(f(TIME), f(RISING), 0.5),
    lambda f: measures.grokking_delay(f(TIME), f(RISING / 2), f(RISING / 4), 0.25),
    lambda f: measures.plateaus(f(TIME), f(RISING[::-1])),
    lambda f: measures.crossing_time(f(TIME), f(RISING[::-1]), 0.5, falling=True),
    lambda f: measures.seed_mean(f(U)),
    lambda f: measures.seed_geometric_mean(f(U**2)),
    lambda f: measures.seed_median(f(U)),
    lambda f: measures.seed_ratio(f(U), f(U * U + 1)),
    lambda f: measures.power_law(f(TIME[1:]), f(RISING[1:] + 1)),
    lambda f: measures.collection_times(f(SUMS[:, None]), int(SUMS.max()) + 1),
    lambda f: measures.balance(f(U), f(V)),
    lambda f: measures.predicted_drift(f(J), f(J[..., :2])),
    lambda f: measures.layer_imbalance([f(U.T), f(V)]),
    lambda f: measures.weight_movement(f(U[0]), f(U)),
    lambda f: measures.weight_change(f(U), f(U[::-1])),
    lambda f: measures.effective_width(f(U), f(V)),
    lambda f: measures.manifold_distance(f(U), f(V), "dependent", width=2),
    lambda f: measures.feature_rank(f(F)),
    lambda f: measures.gram_diagonality(f(F)),
    lambda f: measures.backpropagated_gradient(f(F), f(LABELS), f(LAST)),
    lambda f: measures.ridge_distance(f(F), f(LABELS), f(LAST), 0.5),
    lambda f: measures.class_share(f(HIDDEN), f(SUMS), f(PAIRS)),
    lambda f: measures.neural_collapse(f(F), f(LABELS), f(LAST)),
    meter,
    lambda f: measures.skill_strength(f(F[:, 0]), f(F[:, 1:])),
    lambda f: measures.node_features(f(W), GROUP, pairs=f(PAIRS), activation=np.square),
    lambda f: measures.memorisation_kind(f(W), GROUP, f(PAIRS), activation=np.square),
    stage,
    lambda f: measures.grokking_case(f(TIME[[0, 9]]), f(D[:2] / 4), f(D[:2] / 8), two(stage(f))),
    lambda f: measures.tangent_kernel(f(J)),
    lambda f: measures.tangent_kernel(products(f), max_bytes=400),
    lambda f: sketch(f),
    lambda f: measures.layered_tangent_kernel([(f(F), f(F))]),
    lambda f: measures.centred_alignment(f(K), f(K * K)),
    lambda f: measures.target_kernel(f(F)),
    lambda f: measures.lazy_or_rich(f(K), f(K * K), targets=f(K[0])),
    lambda f: measures.linearisation_gap(f(U), f(2 * U), f(U / 2)),
    lambda f: measures.weight_to_target_ratio(f(U), f(K), f(K[0])),
    lambda f: sharp(f),
    lambda f: saddle(f),
]  # fmt: skip


def saddle(f):
    """Of float32 the errors are larger, and so is what counts as zero; the rest is the same."""
    found = measures.saddle_certificate(
        lambda w: f(D * w), lambda w, v: f(D * v), f(U[0, [0, 1, 2, 0]]), tolerance=1e-5
    )
    return found.verdict, found.index, round(found.lowest, 5), round(found.highest, 5)


def sharp(f):
    found = measures.sharpness(lambda w, v: f(D * v), f(U[0, [0, 1, 2, 0]]))
    return [round(one, 4) for one in found]


def two(found):
    """The same stage at two times."""
    evidence = found.evidence._make(np.array([one, one]) for one in found.evidence)
    return measures.TrainingStage(np.array([found.stage] * 2), evidence)


def sketch(f):
    found = measures.tangent_kernel(products(f), method="sketch", num_directions=8)
    return measures.sketched_kernel_distance(found, found)


def numbers(result):
    """All numbers and words of a result, one after the other."""
    if isinstance(result, tuple | list):
        return [one for part in result for one in numbers(part)]
    if dataclasses.is_dataclass(result):
        fields = (getattr(result, field.name) for field in dataclasses.fields(result))
        return [one for part in fields for one in numbers(part)]
    return [np.asarray(result)] if np.asarray(result).dtype.kind in "biufcU" else []


def measure_of(case):
    return next((name for name in case.__code__.co_names if name in exported()), case.__name__)


def names_in(function):
    """Names that a function uses, and those that functions of this file use which it calls."""
    names = set(function.__code__.co_names)
    helpers = [globals()[name] for name in names if hasattr(globals().get(name), "__code__")]
    return names.union(*map(names_in, helpers))


def test_no_measure_is_missing():
    """A new measure needs a line in CASES."""
    cased = set().union(*map(names_in, CASES))
    assert exported() - cased == set(), "call each with `f(array)` in a line of CASES"


@pytest.mark.parametrize("case", CASES, ids=measure_of)
def test_every_form_gives_the_same(case):
    expected = numbers(case(lambda array: array))
    assert expected
    for form in FORMS:
        found = numbers(case(form))
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            if other.dtype.kind == "U":
                assert np.array_equal(one, other)
            else:
                np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: measures.neural_collapse(F, LABELS[:, None], LAST),
            r"`labels` must have the shape \(12,\).*got \(12, 1\). Pass the column as `labels\[..., 0\]`",
        ),
        (
            lambda: measures.backpropagated_gradient(F, LABELS[:, None], LAST),
            r"`targets` must have the shape \(..., 12\).*Pass the column as `targets\[..., 0\]`",
        ),
        (
            lambda: measures.backpropagated_gradient(F, np.eye(3, dtype=int)[LABELS], LAST),
            r"`targets`.*Turn one-hot rows into classes with `.argmax\(axis=-1\)`",
        ),
        (
            lambda: measures.training_stage(W, TOP, HIDDEN, SUMS[:, None], inputs=PAIRS),
            r"`labels` must have the shape \(samples,\).*got \(40, 1\). Pass the column",
        ),
        (
            lambda: measures.neural_collapse(F, LABELS, LAST.T),
            r"`second` must have the shape \(4, classes\).*Transpose torch's `Linear.weight`",
        ),
        (
            lambda: measures.effective_width(U, V.T),
            r"`outgoing` must have the shape \(5, N_v\).*transpose the second `Linear.weight`",
        ),
        (
            lambda: measures.skill_strength(F[:, :1], F),
            r"`outputs`.*Pass one output: `outputs\[..., 0\]`",
        ),
        (
            lambda: measures.weight_movement([U, V], [U, V]),
            r"`start` must.*Flatten them: `np.concatenate",
        ),
        (
            lambda: measures.node_features(W, GROUP.table),
            r"`group` must be a Group.*groups.Group\(table\)",
        ),
        (lambda: measures.seed_mean(["a"]), "`values` must be an array of numbers"),
        (lambda: measures.seed_mean(U, "run"), "`dimension` must be an axis of the 2"),
        (lambda: measures.seed_mean(U, 2), "`dimension` must be an axis of the 2"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


def test_a_dimension_that_is_not_there():
    import xarray

    with pytest.raises(ArgumentError, match="`dimension` must be one of run, got 'seed'"):
        measures.seed_mean(xarray.DataArray([1.0, 2.0], dims="run"))


@pytest.mark.torch
def test_tensors_that_numpy_cannot_read():
    torch = torch_or_skip()
    for tensor, advice in (
        (torch.ones(3, 3).bfloat16(), r"Pass `.float\(\)` of it"),
        (torch.eye(3).to_sparse(), r"Use Tensor.to_dense\(\) first"),
    ):
        with pytest.raises(
            ArgumentError, match=f"`features` must .*NumPy cannot read it.*{advice}"
        ):
            measures.feature_rank(tensor)
        with pytest.raises(
            ArgumentError, match=f"`features` must .*NumPy cannot read it.*{advice}"
        ):
            measures.gram_diagonality(tensor)


@pytest.mark.torch
def test_activations_of_torch():
    torch = torch_or_skip()
    with pytest.raises(
        ArgumentError, match=r"`activation` must be a function of NumPy arrays.*Wrap"
    ):
        measures.memorisation_kind(W, GROUP, PAIRS, activation=torch.relu)


@pytest.mark.torch
def test_arrays_of_tensors():
    torch = torch_or_skip()
    weight = torch.nn.Linear(3, 2).weight
    np.testing.assert_array_equal(as_array(weight), weight.detach())
    np.testing.assert_array_equal(
        as_array([weight, (weight[0], weight[1])]), torch.stack([weight] * 2).detach()
    )
