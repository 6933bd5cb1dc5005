"""Modules that PyTorch trained, as its users keep them. Import of PyTorch waits until a test asks for it."""

import functools
from typing import Any, NamedTuple

import pytest


def torch_or_skip():
    torch = pytest.importorskip("torch", reason="needs the `bench` extra")
    torch.set_num_threads(1)  # arrays are small; on a busy machine threads wait for each other
    return torch


class Run(NamedTuple):
    """A trained module, its data, copies of it over time, and losses that still carry gradients."""

    net: Any
    x: Any
    labels: Any
    copies: list
    losses: list


@functools.cache
def classifier(dtype="float64"):
    """Four inputs, six tanh units, three classes: 200 steps of Adam on the cross-entropy."""
    torch = torch_or_skip()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        dtype = getattr(torch, dtype)
        net = torch.nn.Sequential(
            torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 3)
        ).to(dtype)  # fmt: skip
        labels = torch.arange(30) % 3
        x = 0.3 * torch.randn(30, 4, dtype=dtype) + 2 * torch.eye(3, 4, dtype=dtype)[labels]
    run = Run(net, x, labels, [copy_of(net)], [])
    optimiser = torch.optim.Adam(net.parameters(), lr=0.03, weight_decay=1e-3)
    for _ in range(200):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), labels)
        loss.backward()
        optimiser.step()
        run.losses.append(loss)
        run.copies.append(copy_of(net))
    return run


def copy_of(net):
    return {name: w.detach().clone() for name, w in net.named_parameters()}


def flat(weights):
    """Flat weights of a copy, in the order of `named_parameters`."""
    return torch_or_skip().cat([w.ravel() for w in weights.values()])


def unflat(vector, like):
    """The inverse of `flat`."""
    parts = vector.split([w.numel() for w in like.values()])
    return {n: p.reshape(w.shape) for (n, w), p in zip(like.items(), parts, strict=True)}


class SumRun(NamedTuple):
    """Modular addition: two linear layers without bias, with the square between them."""

    modulus: int
    pairs: Any
    labels: Any
    inputs: Any
    first: list
    second: list


@functools.cache
def sums(modulus=11, width=24, steps=40):
    torch = torch_or_skip()
    with torch.random.fork_rng():
        torch.manual_seed(1)
        layers = [
            torch.nn.Linear(2 * modulus, width, bias=False),
            torch.nn.Linear(width, modulus, bias=False),
        ]
        pairs = torch.argwhere(torch.rand(modulus, modulus) < 0.8)
    labels = pairs.sum(dim=1) % modulus
    X = torch.nn.functional.one_hot(pairs, modulus).flatten(1).float()
    Y = torch.nn.functional.one_hot(labels, modulus).float()
    weights = [layer.weight for layer in layers]
    optimiser = torch.optim.Adam(weights, lr=0.01, weight_decay=1e-3)
    run = SumRun(modulus, pairs, labels, X, [], [])
    for _ in range(steps + 1):
        for record, w in zip((run.first, run.second), weights, strict=True):
            record.append(w.detach().clone())
        optimiser.zero_grad()
        rest = layers[1](layers[0](X) ** 2) - Y
        torch.mean(torch.sum((rest - rest.mean(dim=0)) ** 2, dim=1)).backward()
        optimiser.step()
    return run
