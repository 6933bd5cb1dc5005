"""Measures of derivatives on modules that PyTorch trained, with `torch.func` and `autograd` beside them."""

import numpy as np
import pytest
from foreign_runs import missing
from foreign_torch import classifier, flat, torch_or_skip, unflat

from lazyrich import measures


def network(run):
    """Outputs as a function of flat weights."""
    torch = torch_or_skip()
    like = run.copies[0]
    return lambda w: torch.func.functional_call(run.net, unflat(w, like), (run.x,))


def products(run, w):
    """What the Jacobian at flat weights does, by `torch.func`; results carry gradients."""
    torch = torch_or_skip()
    call = network(run)
    w = w.clone().requires_grad_()

    def rows(numbers):
        outputs = call(w).ravel()
        return torch.stack(
            [torch.autograd.grad(outputs[i], w, create_graph=True)[0] for i in numbers]
        )

    return measures.JacobianProducts(
        len(run.x), 3, w.numel(), rows=rows,
        product=lambda direction: torch.func.jvp(call, (w,), (torch.from_numpy(direction),))[1],
        transposed=lambda cotangent: torch.func.vjp(call, w)[1](torch.from_numpy(cotangent))[0],
    )  # fmt: skip


@pytest.mark.torch
def test_kernels():
    torch = torch_or_skip()
    run = classifier()
    w = flat(run.copies[-1])
    J = torch.func.jacrev(network(run))(w)  # (points, outputs, weights)
    expected = torch.einsum("iop,jop->ij", J, J)
    np.testing.assert_allclose(measures.tangent_kernel(J).kernel, expected, rtol=1e-11)
    given = products(run, w)
    found = measures.tangent_kernel(given, max_bytes=20 * 8 * w.numel())
    assert found.method == "exact"
    np.testing.assert_allclose(found.kernel, expected, rtol=1e-11)
    only = measures.JacobianProducts(30, 3, w.numel(), transposed=given.transposed)
    np.testing.assert_allclose(measures.tangent_kernel(only).kernel, expected, rtol=1e-11)
    h = run.net[:2](run.x)
    slopes = torch.einsum("nh,ch->nch", 1 - h**2, run.net[2].weight)
    one = torch.ones(30, 1)  # biases
    layers = [
        (torch.cat([run.x, one], dim=1), slopes),
        (torch.cat([h, one], dim=1), torch.eye(3).expand(30, 3, 3)),
    ]
    np.testing.assert_allclose(measures.layered_tangent_kernel(layers).kernel, expected, rtol=1e-11)
    Y = torch.nn.functional.one_hot(run.labels, 3)
    H = torch.eye(30, dtype=torch.float64) - 1 / 30
    np.testing.assert_array_equal(measures.target_kernel(Y), Y @ Y.T)
    alignment = measures.centred_alignment(expected, measures.target_kernel(Y))
    centred = [(H @ one @ H).ravel() for one in (expected, (Y @ Y.T).double())]
    cosine = torch.nn.functional.cosine_similarity(*centred, dim=0)
    assert alignment == pytest.approx(float(cosine), rel=1e-9)


@pytest.mark.torch
def test_lazy_or_rich():
    torch = torch_or_skip()
    run = classifier()
    call = network(run)
    w0, w = flat(run.copies[0]), flat(run.copies[-1])
    first, last = products(run, w0), products(run, w)
    K0, K = (measures.tangent_kernel(one) for one in (first, last))
    f0, f, linear = call(w0), call(w), first.product((w - w0).numpy())
    Y = torch.nn.functional.one_hot(run.labels, 3)
    found = measures.lazy_or_rich(
        K0, K, start_outputs=f0, end_outputs=f, linear_change=linear, start_weights=w0, end_weights=w,
        targets=Y,
    )  # fmt: skip
    A, B = (torch.from_numpy(one.kernel) for one in (K0, K))
    cosine = torch.nn.functional.cosine_similarity(A.ravel(), B.ravel(), dim=0)
    assert found.kernel_distance == pytest.approx(1 - float(cosine), rel=1e-9)
    gap = ((f - f0 - linear).norm() / (f - f0).norm()).item()
    assert found.linearisation_gap == pytest.approx(gap, rel=1e-9)
    assert measures.linearisation_gap(f0, f, linear) == found.linearisation_gap
    assert found.regime == "rich"
    H, L = torch.eye(30, dtype=torch.float64) - 1 / 30, (Y @ Y.T).double()
    for said, M in zip(found.target_alignment, (A, B), strict=True):
        pair = [(H @ one @ H).ravel() for one in (M, L)]
        cosine_with_targets = torch.nn.functional.cosine_similarity(*pair, dim=0)
        assert said == pytest.approx(float(cosine_with_targets), rel=1e-9)
    sketches = [
        measures.tangent_kernel(one, method="sketch", num_directions=300) for one in (first, last)
    ]
    near, error = measures.sketched_kernel_distance(*sketches)
    assert abs(near - (1 - float(cosine))) < 4 * error < 0.2
    J0 = torch.func.jacrev(call)(w0).flatten(0, 1)
    ratio = measures.weight_to_target_ratio(w0, J0 @ J0.T, Y)
    y = Y.double().ravel()
    assert ratio == pytest.approx(float(w0.norm() * (y @ J0).norm() / (2 * y @ y)), rel=1e-10)


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_saddles(dtype):
    """A linear network that has learned one mode of two. The rest of the Hessian is PyTorch's."""
    torch = torch_or_skip()
    dtype = getattr(torch, dtype)
    S = torch.diag(torch.tensor([2.0, 1.0], dtype=dtype))

    def loss(w):
        U, V = w.reshape(2, 2, 2)
        return torch.sum((V @ U - S) ** 2) / 2

    def gradient(w):
        return torch.func.grad(loss)(torch.tensor(w, dtype=dtype, requires_grad=True))

    def product(w, direction):
        w, direction = (torch.tensor(one, dtype=dtype) for one in (w, direction))
        return torch.func.jvp(torch.func.grad(loss), (w,), (direction,))[1]

    root = 2**0.5
    point = torch.tensor([root, 0, 0, 0, root, 0, 0, 0], dtype=dtype)
    start = point + 1e-3 * torch.randn(8, dtype=dtype, generator=torch.Generator().manual_seed(0))
    found = measures.saddle_certificate(gradient, product, torch.nn.Parameter(start))
    values = torch.linalg.eigvalsh(
        torch.func.hessian(loss)(torch.tensor(found.fixed_point, dtype=dtype))
    )
    assert found.verdict == "saddle"
    assert found.index == int((values < -1e-3).sum()) == 1
    assert float(values[0]) == pytest.approx(-1, abs=1e-4)  # the mode that is left
    digits = 1e-12 if dtype == torch.float64 else 1e-5
    assert found.lowest == pytest.approx(float(values[0]), abs=digits)
    assert found.highest == pytest.approx(float(values[-1]), abs=digits)
    sharp = measures.sharpness(product, torch.nn.Parameter(start))
    H = torch.func.hessian(loss)(start)
    assert sharp.largest == pytest.approx(float(torch.linalg.eigvalsh(H)[-1]), abs=10 * digits)
    assert sharp.trace == pytest.approx(float(torch.trace(H)), abs=10 * digits)


def test_no_measure_is_missing():
    """Every measure is called on a run from PyTorch: put a new one into one of these files."""
    assert missing("test_foreign_torch_*.py") == set(), "call each in one of these files"
