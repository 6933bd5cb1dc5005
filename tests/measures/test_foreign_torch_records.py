"""Measures of records and weights on modules that PyTorch trained, beside what PyTorch computes."""

import numpy as np
import pytest
from foreign_torch import classifier, copy_of, flat, torch_or_skip

from lazyrich import measures

pytestmark = pytest.mark.torch


def test_curves():
    """Two weights multiply to 3 and to 1. Each loss ½(s − a)² is half-way when a = s(1 − 1/√2)."""
    torch = torch_or_skip()
    targets, small, rate = torch.tensor([3.0, 1.0]), 1e-5, 0.01
    u, v = (torch.nn.Parameter(torch.full((2,), small)) for _ in range(2))
    optimiser, losses, shares = torch.optim.SGD([u, v], lr=rate), [], []
    for _ in range(1700):
        optimiser.zero_grad()
        loss = torch.sum((targets - u * v) ** 2) / 2
        loss.backward()
        losses.append(loss)  # not detached
        shares.append(u * v / targets)
        optimiser.step()
    times = rate * torch.arange(1700)

    def when(share):
        s = targets.double()
        return (torch.log((s / small**2 - 1) * share / (1 - share)) / (2 * s)).numpy()

    found = measures.plateaus(times, losses)
    np.testing.assert_allclose(found.levels, [5, 0.5, 0], atol=1e-3)
    np.testing.assert_allclose(found.drop_times, when(1 - 0.5**0.5), rtol=0.02)
    curves = torch.stack(shares).T  # carries gradients, and is not contiguous
    half = measures.crossing_time(times, curves, level=0.5)
    np.testing.assert_allclose(half.time, when(0.5), rtol=0.02)
    delay = measures.grokking_delay(times, curves[0], curves[1], level=0.5)
    assert delay.time == pytest.approx(half.time[1] - half.time[0], rel=1e-12)
    fallen = measures.crossing_time(times, torch.stack(losses), level=0.25, falling=True)
    assert fallen.time == pytest.approx(when(1 - 0.5**0.5)[1], rel=0.02)


def test_means_over_runs():
    torch = torch_or_skip()
    runs = torch.randn(5, 3, generator=torch.Generator().manual_seed(0), requires_grad=True)
    mean, error = measures.seed_mean(list(runs))
    np.testing.assert_allclose(mean, runs.detach().double().mean(dim=0), rtol=1e-12)
    expected = runs.detach().double().std(dim=0) / 5**0.5
    np.testing.assert_allclose(error, expected, rtol=1e-12)
    x = runs.detach().double()
    geometric = measures.seed_geometric_mean(x.exp()).mean
    np.testing.assert_allclose(geometric, x.mean(dim=0).exp(), rtol=1e-12)
    np.testing.assert_array_equal(measures.seed_median(runs).median, x.median(dim=0).values)
    ratio = measures.seed_ratio(runs, runs**2).ratio
    expected = x.mean(dim=0) / (runs.detach() ** 2).double().mean(dim=0)
    np.testing.assert_allclose(ratio, expected, rtol=1e-12)


def test_powers():
    torch = torch_or_skip()
    x = torch.tensor([1.0, 2.0, 3.0, 5.0])
    y = (torch.tensor([[2.0], [0.5]]) * x**1.5).requires_grad_()
    found = measures.power_law(x, y)
    np.testing.assert_allclose(found.exponent, [1.5, 1.5], rtol=1e-6)
    np.testing.assert_allclose(found.constant, [2.0, 0.5], rtol=1e-6)


def test_nodes_until_all_maxima_are_found():
    torch = torch_or_skip()
    found = torch.randint(0, 3, (20, 15), generator=torch.Generator().manual_seed(0))
    hot = torch.nn.functional.one_hot(found, 3).cumsum(dim=1) > 0
    missing = (~hot.all(dim=2)).sum(dim=1).double()
    expected = torch.where(missing == 15, torch.inf, missing + 1)
    np.testing.assert_array_equal(measures.collection_times(found, 3), expected)


def test_conserved_quantities():
    """Linear layers, plain descent: the drift is that of the recorded gradients, to float32."""
    torch = torch_or_skip()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = torch.nn.Sequential(
            torch.nn.Linear(3, 4, bias=False), torch.nn.Linear(4, 2, bias=False)
        )
        x, y = torch.randn(20, 3), torch.randn(20, 2)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.05)
    incoming, outgoing, steps = [], [], ([], [])
    for _ in range(60):
        incoming.append(net[0].weight.detach().clone())
        outgoing.append(net[1].weight.detach().clone().T)
        optimiser.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        steps[0].append(0.05 * net[0].weight.grad)
        steps[1].append(0.05 * net[1].weight.grad.T)
        optimiser.step()
    found = measures.balance(incoming, outgoing)
    last = outgoing[-1].double().pow(2).sum(dim=1) - incoming[-1].double().pow(2).sum(dim=1)
    np.testing.assert_allclose(found.values[-1], last, rtol=1e-12)
    drift = measures.predicted_drift(*steps)[:-1]
    np.testing.assert_allclose(found.drift, drift, atol=1e-6)
    assert np.abs(drift).max() > 1e-3
    pair = measures.layer_imbalance([torch.stack(incoming).mT, torch.stack(outgoing)])
    W1, W2 = incoming[-1].double(), outgoing[-1].double()
    expected = float(torch.trace(W2 @ W2.T - W1 @ W1.T)) / 4
    assert pair.coefficient[-1, 0] == pytest.approx(expected, rel=1e-10)


def test_movement():
    torch = torch_or_skip()
    run = classifier("float32")
    record = [flat(copy) for copy in run.copies]
    vector = torch.nn.utils.parameters_to_vector(run.net.parameters())  # carries gradients
    moved = measures.weight_movement(record[0], vector)
    start = record[0].double()
    expected = (vector.detach().double() - start).norm() / start.norm()
    assert moved == pytest.approx(float(expected), rel=1e-12)
    epochs = (1, 2, 10, 11, 100, 101)
    record = torch.stack([run.copies[i]["0.weight"] for i in epochs]).double()
    change = measures.weight_change(record[::2], record[1::2], node_axis=-2)
    cosine = torch.nn.functional.cosine_similarity
    whole = 1 - cosine(record[::2].flatten(1), record[1::2].flatten(1), dim=1)
    np.testing.assert_allclose(change.whole, whole, rtol=1e-6)
    nodes = 1 - cosine(record[::2], record[1::2], dim=2)
    np.testing.assert_allclose(change.nodes, nodes, rtol=1e-6)


def test_units():
    """Parameters as they are. The second layer's weight has units as columns."""
    torch = torch_or_skip()
    net = classifier("float32").net
    first, second = net[0].weight, net[2].weight.T
    copy = copy_of(net)
    theta = torch.cat([copy["2.weight"].T, copy["0.weight"]], dim=1).double()
    near = measures.manifold_distance(first, second, "dependent", width=4)
    expected = torch.linalg.svdvals(theta)[4:].norm()
    assert near.distance == pytest.approx(float(expected), rel=1e-12)
    near = measures.manifold_distance(first, second, "equal")
    nearest = torch.nn.functional.pdist(theta).min() / 2**0.5
    assert near.distance == pytest.approx(float(nearest), rel=1e-12)
    idle = torch.zeros(1, 4), torch.zeros(1, 3)
    wider = [torch.cat([w, more]) for w, more in zip((first, second), idle, strict=True)]
    found = measures.effective_width(*wider, tolerance=0.001)
    assert (found.by_units, found.prunable) == (6, (6,))
