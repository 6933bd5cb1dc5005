"""The same descent in PyTorch, as the paper ran it."""

import jax
import numpy as np
import pytest

from lazyrich import simulate, tasks
from lazyrich.experiments.saddles import fig1b
from lazyrich.simulate._linear_descent import draw

pytestmark = pytest.mark.torch


@pytest.mark.parametrize(("d_in", "num_samples", "d_out"), [(30, 40, 1), (40, 30, 1), (10, 25, 4)])
def test_same_numbers_as_stepping(d_in, num_samples, d_out):
    torch = pytest.importorskip("torch", reason="needs the `bench` extra")
    task = tasks.TeacherStudent(d_in, num_samples, d_out)
    X, _, _, teacher, start = draw(task, 10, seed=1)
    D0 = start - teacher
    inputs = torch.tensor(X)
    student = torch.nn.Linear(d_in, d_out, bias=False, dtype=torch.float64)
    student.weight.data = torch.tensor(D0.T.copy())  # the teacher is 0 in these coordinates
    optimiser = torch.optim.SGD(student.parameters(), lr=0.05)
    losses = []
    for _ in range(301):
        loss = torch.nn.functional.mse_loss(
            student(inputs), torch.zeros(num_samples, d_out).double()
        )
        losses.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    run = simulate.linear_descent(task, np.arange(301), learning_rate=0.05, seeds=[1], num_test=10)
    np.testing.assert_allclose(run.train_loss[0], losses, rtol=1e-10)


@pytest.mark.parametrize(
    "initial", [1e-6, 0.1]
)  # the paper's, and one from which the loss falls soon
def test_fig_1b_is_the_same_over_samples(initial):
    """The library descends on moments and on four units made of fifty; PyTorch on all there is."""
    torch = pytest.importorskip("torch", reason="needs the `bench` extra")
    training = fig1b.training(fig1b.Config(initial_std=initial))
    data = training.task.dataset(jax.random.split(jax.random.key(0))[0])
    x, y = torch.tensor(data.inputs), torch.tensor(data.targets)
    U, V = (torch.tensor(array, requires_grad=True) for array in training.start(0)[0])
    losses, last = [], []
    for _ in range(201):
        last = [U.detach().numpy().copy().T, V.detach().numpy().copy()]
        loss = torch.mean((x @ U @ V - y) ** 2)
        losses.append(loss.item())
        slopes = torch.autograd.grad(loss, (U, V))
        with torch.no_grad():
            U -= 0.01 * slopes[0]
            V -= 0.01 * slopes[1]
    run = simulate.gradient_descent(training, np.arange(201), learning_rate=0.01, seeds=[0])
    np.testing.assert_allclose(run.loss[0], losses, rtol=0, atol=1e-12)
    for found, exact in zip((run.incoming, run.outgoing), last, strict=True):
        np.testing.assert_allclose(found[0, -1], exact, rtol=0, atol=1e-11 * np.abs(exact).max())
    assert (losses[-1] < 0.6) == (initial == 0.1)
