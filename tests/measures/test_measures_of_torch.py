"""The same measures on PyTorch modules, beside what PyTorch itself computes."""

import numpy as np
import pytest

from lazyrich import measures
from lazyrich.quantities import kernel_distance

pytestmark = pytest.mark.torch


def module(torch, seed=0):
    torch.manual_seed(seed)
    layers = (
        torch.nn.Linear(4, 9),
        torch.nn.GELU(),
        torch.nn.Linear(9, 6),
        torch.nn.Tanh(),
        torch.nn.Linear(6, 3),
    )
    return torch.nn.Sequential(*layers).double()


def products(torch, net, x):
    """Rows and products of a module's Jacobian by `autograd`."""
    weights = list(net.parameters())
    names = [name for name, _ in net.named_parameters()]
    sizes = [w.numel() for w in weights]

    def rows(numbers):
        found = []
        for number in numbers:
            output = net(x[number // 3 : number // 3 + 1])[0, number % 3]
            slopes = torch.autograd.grad(output, weights)
            found.append(torch.cat([slope.ravel() for slope in slopes]).numpy())
        return np.array(found)

    def product(direction):
        parts = torch.split(torch.tensor(direction), sizes)
        tangents = {n: p.reshape(w.shape) for n, p, w in zip(names, parts, weights, strict=True)}
        values = {n: w.detach() for n, w in net.named_parameters()}
        call = lambda w: torch.func.functional_call(net, w, (x,))  # noqa: E731
        return torch.func.jvp(call, (values,), (tangents,))[1].numpy()

    return measures.JacobianProducts(len(x), 3, sum(sizes), rows=rows, product=product)


def flat(torch, net):
    return torch.cat([w.detach().ravel() for w in net.parameters()]).numpy()


def test_kernel_and_meter():
    torch = pytest.importorskip("torch", reason="needs the `bench` extra")
    net = module(torch)
    x = torch.randn(12, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    y = torch.stack([torch.sin(3 * x[:, 0]), x[:, 1] * x[:, 2], x[:, 3] ** 2], dim=1)
    first = products(torch, net, x)
    w0, f0 = flat(torch, net), net(x).detach().numpy()
    K0 = measures.tangent_kernel(first)
    values = {n: w.detach() for n, w in net.named_parameters()}
    jacobians = torch.func.jacrev(lambda w: torch.func.functional_call(net, w, (x,)))(values)
    J = torch.cat([j.reshape(12, 3, -1) for j in jacobians.values()], dim=2)
    exact = torch.einsum("iop,jop->ij", J, J).numpy()
    np.testing.assert_allclose(K0.kernel, exact, rtol=1e-11)
    np.testing.assert_allclose(measures.tangent_kernel(J.numpy()).kernel, exact, rtol=1e-11)
    start = [w.detach().clone() for w in net.parameters()]
    optimiser = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(200):
        optimiser.zero_grad()
        torch.mean((net(x) - y) ** 2).backward()
        optimiser.step()
    w, f = flat(torch, net), net(x).detach().numpy()
    last = measures.tangent_kernel(products(torch, net, x))
    with torch.no_grad():
        for now, then in zip(net.parameters(), start, strict=True):
            now.copy_(then)
    linear = first.product(w - w0)
    found = measures.lazy_or_rich(
        K0, last, first_outputs=f0, last_outputs=f, linear_change=linear, first_weights=w0, last_weights=w,
        targets=y.numpy(),
    )  # fmt: skip
    A, B = (torch.tensor(one.kernel) for one in (K0, last))
    cosine = torch.nn.functional.cosine_similarity(A.ravel(), B.ravel(), dim=0)
    assert found.kernel_distance == pytest.approx(1 - float(cosine), rel=1e-9)
    assert found.kernel_distance == kernel_distance(K0.kernel, last.kernel)
    np.testing.assert_allclose(linear.ravel(), J.reshape(36, -1).numpy() @ (w - w0), rtol=1e-9)
    assert found.regime == "rich"
    H = torch.eye(12, dtype=torch.float64) - 1 / 12
    for said, K in zip(found.target_alignment, (A, B), strict=True):
        centred = [(H @ one @ H).ravel() for one in (K, y @ y.T)]
        assert said == pytest.approx(
            float(torch.nn.functional.cosine_similarity(*centred, dim=0)), rel=1e-9
        )


def test_collapse_of_a_trained_classifier():
    torch = pytest.importorskip("torch", reason="needs the `bench` extra")
    net = module(torch, seed=2)
    generator = torch.Generator().manual_seed(3)
    labels = torch.arange(60) % 3
    x = (
        torch.randn(60, 4, dtype=torch.float64, generator=generator) * 0.3
        + 2 * torch.eye(4, dtype=torch.float64)[labels]
    )

    def collapse():
        h, last = net[:-1](x).detach(), net[-1]
        found = measures.neural_collapse(
            h.numpy(), labels.numpy(), last.weight.detach().numpy().T, last.bias.detach().numpy()
        )
        means = torch.stack([h[labels == k].mean(dim=0) for k in range(3)])
        centred = means - means.mean(dim=0)
        within = torch.cov((h - means[labels]).T, correction=0)
        between = centred.T @ centred / 3
        pinv = torch.linalg.pinv(between, rtol=1e-10)
        assert found.within_class_pinv == pytest.approx(
            float(torch.trace(within @ pinv)) / 3, rel=1e-8
        )
        w = torch.nn.functional.normalize(last.weight.detach(), dim=1)
        m = torch.nn.functional.normalize(centred, dim=1)
        assert found.duality == pytest.approx(float((w - m).norm(dim=1).max()), rel=1e-9)
        assert found.simplex == pytest.approx(
            float((m @ m.T + 0.5)[~torch.eye(3, dtype=bool)].abs().max()), rel=1e-9
        )
        nearest = torch.cdist(h, means).argmin(dim=1)
        assert found.disagreement == float((net(x).argmax(dim=1) != nearest).double().mean())
        return found

    before = collapse()
    optimiser = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=1e-3)
    for _ in range(600):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(net(x), labels).backward()
        optimiser.step()
    after = collapse()
    assert after.within_class < before.within_class / 10
    assert after.simplex < 0.1
    assert after.disagreement == 0
