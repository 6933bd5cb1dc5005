"""Large arrays in blocks: the same numbers as in one piece, wherever the blocks end."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich.core import _elementwise, compute, compute_elementwise
from lazyrich.theory import LinearGrokking


def _sum_and_order(pair, c):
    a, b = pair
    return a + 10 * b + 100 * c, a > b + c


@pytest.mark.parametrize("block", [1, 7, 24, 1000])
@pytest.mark.parametrize(
    "shapes",
    [((5,), (), ()), ((5, 1), (7,), ()), ((1, 5, 1), (2, 1, 3), (3,)), ((1, 1), (1,), (11, 1))],
)
def test_blocks_are_the_whole(monkeypatch, shapes, block):
    a, b, c = (np.arange(np.prod(shape)).reshape(shape) * 1.0 for shape in shapes)
    expected = compute(_sum_and_order, (a, b), c)
    monkeypatch.setattr(_elementwise, "BLOCK", block)
    found = compute_elementwise(_sum_and_order, (a, b), c)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


def test_no_block_is_larger_than_allowed_and_all_have_one_shape(monkeypatch):
    monkeypatch.setattr(_elementwise, "BLOCK", 30)
    shapes = []

    def note(a, b):
        shapes.append(jnp.broadcast_shapes(a.shape, b.shape))  # once for each shape that is traced
        return a * b

    compute_elementwise(note, np.ones((9, 1)), np.ones(100))
    whole, block = shapes
    assert whole == (9, 100)
    assert block == (1, 25)


def test_an_argument_that_does_not_matter_leaves_no_axis(monkeypatch):
    model = LinearGrokking(0.5, threshold=np.full((5, 1), 1e-3))
    monkeypatch.setattr(_elementwise, "BLOCK", 3)
    assert model.train_loss(np.arange(7.0)).shape == (7,)
    assert model.train_accuracy(np.arange(7.0)).shape == (5, 7)


def test_a_trace_is_not_cut(monkeypatch):
    monkeypatch.setattr(_elementwise, "BLOCK", 3)
    slope = jax.grad(lambda x: jnp.sum(compute_elementwise(jnp.multiply, x, x)))(jnp.arange(8.0))
    np.testing.assert_allclose(slope, 2 * np.arange(8))


@pytest.mark.parametrize("values", [{}, {"weight_decay": 1e-3, "label_noise": 0.02}])
@pytest.mark.parametrize("quantity", ["train_loss", "test_loss", "test_accuracy", "grokking_delay"])
def test_curves_do_not_depend_on_the_blocks(monkeypatch, quantity, values):
    model = LinearGrokking(np.geomspace(0.1, 3, 13)[:, None], 0.01, **values)
    argument = np.linspace(0.1, 0.9, 11) * (1 if quantity == "grokking_delay" else 1e4)
    whole = getattr(model, quantity)(argument)
    monkeypatch.setattr(_elementwise, "BLOCK", 10)  # ends within a row of eleven
    blocks = getattr(model, quantity)(argument)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-13), blocks, whole)
