"""The same descent in PyTorch, as the paper ran it."""

import numpy as np
import pytest

from lazyrich import simulate, tasks
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
