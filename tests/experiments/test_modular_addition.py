"""Gromov's network of Fig. 8 against its definition (Eq. 43 and 44 of linear-grokking)."""

import jax
import numpy as np
import pytest

from lazyrich.experiments.linear_grokking import fig8

P, WIDTH, RATE = 5, 9, 40.0
CONFIG = fig8.Config(
    order=P,
    width=WIDTH,
    train_fractions=(0.6,),
    network_learning_rate=RATE,
    network_last_steps=(120,),
)


def outputs(first, second):
    """Of all pairs, one after the other."""
    rows = []
    for n in range(P):
        for m in range(P):
            x = np.zeros(2 * P)
            x[n] = x[P + m] = 1
            z = (first.T @ x / np.sqrt(2 * P)) ** 2
            rows.append(second.T @ z / WIDTH)
    return np.array(rows)


def losses(first, second, mask):
    """Training and test loss: mean over pairs and outputs."""
    errors = np.mean((outputs(first, second) - np.eye(P)[SUMS]) ** 2, axis=1)
    return errors[mask].mean(), errors[~mask].mean()


SUMS = np.add.outer(np.arange(P), np.arange(P)).ravel() % P


@pytest.fixture(scope="module")
def start():
    weights, data = fig8.training(CONFIG, 0).start(3)
    return weights, np.asarray(data.is_train) > 0


def test_start_is_standard_normal(start):
    weights, mask = start
    assert mask.sum() == 15
    assert weights.first.shape == (2 * P, WIDTH)
    many = np.concatenate([
        np.ravel(part) for seed in range(30)
        for part in jax.tree.leaves(fig8.training(CONFIG, 0).start(seed)[0])
    ])  # fmt: skip
    assert many.std() == pytest.approx(1, abs=0.05)


def test_descends_the_loss_at_the_rate_of_the_paper(start):
    """Records of the figure against steps along differences of the loss of Eq. 44."""
    (first, _, second), mask = start
    run = fig8._descend(CONFIG, 0, range(3, 4)).isel(seed=0, record=0)
    steps = round(float(run.recorded_time) * fig8.PAPER_RATE / RATE)
    assert steps == 20
    w, h = (np.array(first, dtype=float), np.array(second, dtype=float)), 1e-6
    for _ in range(steps):
        slopes = (np.empty_like(w[0]), np.empty_like(w[1]))
        for part, slope in zip(w, slopes, strict=True):
            for place in np.ndindex(part.shape):
                kept = part[place]
                sides = []
                for sign in (1, -1):
                    part[place] = kept + sign * h
                    sides.append(losses(*w, mask)[0])
                part[place], slope[place] = kept, (sides[0] - sides[1]) / (2 * h)
        w = w[0] - RATE * slopes[0], w[1] - RATE * slopes[1]
    train, test = losses(*w, mask)
    assert run.train_loss.item() == pytest.approx(train, rel=1e-6)
    assert run.test_loss.item() == pytest.approx(test, rel=1e-6)
    right = outputs(*w).argmax(axis=1) == SUMS
    assert run.test_accuracy.item() == pytest.approx(right[~mask].mean())
