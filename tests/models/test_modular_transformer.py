"""The transformer for modular addition: against one that runs over all tokens, and its symmetries."""

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.groups import cyclic
from lazyrich.models import ModularTransformer
from lazyrich.tasks import GroupArithmetic

NETWORK = ModularTransformer(num_symbols=5, dimension=8, heads=2, width=12, output_scale=1.7)
WEIGHTS = NETWORK.init(jax.random.key(1), 0.8)
PAIRS = np.indices((5, 5)).reshape(2, -1).T


def applied(network=NETWORK, weights=WEIGHTS, pairs=PAIRS):
    with jax.enable_x64(True):
        return np.asarray(network.apply(weights, pairs))


def softmax(scores):
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def token_by_token(weights, pair, heads, scale):
    """A plain transformer in NumPy: queries, keys and values for every token, read at the last."""
    w = weights
    x = w.tokens[[*pair, len(w.tokens) - 1]] + w.positions  # (3, D)
    r = x[-1].copy()
    for h in range(heads):
        queries, keys, values = x @ w.queries[h], x @ w.keys[h], x @ w.values[h]
        scores = queries @ keys.T / np.sqrt(keys.shape[1])
        r += softmax(scores[-1]) @ values @ w.written[h]
    r = r + np.maximum(r @ w.hidden + w.hidden_bias, 0) @ w.returned + w.returned_bias
    return scale * r @ w.unembedding


def test_as_token_by_token():
    expected = [token_by_token(WEIGHTS, pair, 2, 1.7) for pair in PAIRS]
    np.testing.assert_allclose(applied(), expected, rtol=1e-12, atol=1e-13)


def test_without_positions_addition_commutes():
    weights = WEIGHTS._replace(positions=np.zeros_like(WEIGHTS.positions))
    np.testing.assert_allclose(
        applied(weights=weights), applied(weights=weights, pairs=PAIRS[:, ::-1]), rtol=1e-12
    )
    assert not np.allclose(applied(), applied(pairs=PAIRS[:, ::-1]))


def test_renamed_residues():
    """Another order of the embeddings is another order of the inputs."""
    order = np.array([3, 1, 4, 0, 2])
    tokens = np.concatenate([WEIGHTS.tokens[:5][order], WEIGHTS.tokens[5:]])
    found = applied(weights=WEIGHTS._replace(tokens=tokens))
    np.testing.assert_allclose(found, applied(pairs=order[PAIRS]), rtol=1e-12)


def test_output_scale_and_float32():
    double = ModularTransformer(5, 8, 2, 12, output_scale=3.4)
    np.testing.assert_allclose(applied(double), 2 * applied(), rtol=1e-13)
    with jax.enable_x64(False):
        low = np.asarray(NETWORK.apply(WEIGHTS, PAIRS))
    assert low.dtype == np.float32
    np.testing.assert_allclose(low, applied(), rtol=1e-3, atol=1e-4)


def test_start():
    network = ModularTransformer(97, 128, 4, 512)
    std = network.lecun(scale=2.0, embedding_scale=0.25)
    weights = network.init(jax.random.key(0), std)
    assert np.std(weights.tokens) * np.sqrt(128) == pytest.approx(0.5, rel=0.05)
    assert np.std(weights.queries) * np.sqrt(128) == pytest.approx(2, rel=0.05)
    assert np.std(weights.returned) * np.sqrt(512) == pytest.approx(2, rel=0.05)
    assert not weights.hidden_bias.any()
    sizes = [array.size for array in weights]
    assert weights.tokens.size / sum(sizes) < 0.06  # App. F.3


def test_split_of_the_task_fits():
    train, test = GroupArithmetic(cyclic(5), 0.6).split(jax.random.key(0))
    assert train.inputs.shape == (15, 2)
    assert test.inputs.shape == (10, 2)
    both = np.concatenate([train.inputs, test.inputs])
    assert len({tuple(pair) for pair in both.tolist()}) == 25
    labels = np.concatenate([train.targets, test.targets])
    np.testing.assert_array_equal(labels.argmax(1), both.sum(1) % 5)
    assert train.weights.sum() == pytest.approx(1)
    assert applied(pairs=train.inputs).shape == train.targets.shape


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_symbols": 1}, "`num_symbols` must"),
        ({"heads": 3}, "`heads` must divide `dimension`, 8, got 3"),
        ({"width": 0}, "`width` must"),
        ({"output_scale": 0.0}, "`output_scale` must"),
    ],
)
def test_bad_network(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        ModularTransformer(
            **{"num_symbols": 5, "dimension": 8, "heads": 2, "width": 12, **arguments}
        )


@pytest.mark.parametrize("pairs", [PAIRS[:, :1], PAIRS.astype(float)])
def test_bad_inputs(pairs):
    with pytest.raises(ArgumentError, match="`inputs` must be pairs of whole numbers"):
        NETWORK.apply(WEIGHTS, pairs)
