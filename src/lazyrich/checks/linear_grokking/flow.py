"""Eq. 3–5: descent, its flow, and the losses of a given training set."""

import numpy as np

from lazyrich import theory
from lazyrich.checks._oracles import relative_gap
from lazyrich.checks.linear_grokking import _oracles
from lazyrich.core import CheckResult, check

SHAPES = ((6, 4), (6, 6), (6, 15), (20, 30))
"""Dimension and samples: more parameters than samples, as many, fewer."""
RATE = 0.05


@check(
    "linear-grokking/eq3",
    "Gradient of the training loss, and a step of descent with weight decay",
    against="automatic differentiation of the loss summed over samples",
)
def eq3() -> CheckResult:
    """Eq. 3, for several outputs; the decay is that of the regulariser γ‖S‖²/2d_out."""
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng(3)
    errors = []
    eta, gamma = 0.1, 0.3
    for d_in, num_samples in SHAPES:
        for d_out in (1, 3):
            X = rng.standard_normal((num_samples, d_in))
            S, T = rng.standard_normal((2, d_in, d_out))

            def objective(S, X=X, T=T, d_out=d_out, decay=0.0):
                errors = jax.vmap(lambda x: jnp.sum(((S - T).T @ x) ** 2))(X)
                return jnp.sum(errors) / (len(X) * d_out) + decay / (2 * d_out) * jnp.sum(S**2)

            with jax.enable_x64(True):
                slope = np.asarray(jax.grad(objective)(S))
                step = np.asarray(S - eta * jax.grad(lambda S: objective(S, decay=gamma))(S)) - T
            D, sigma = S - T, X.T @ X / num_samples
            printed = D - 2 * eta / d_out * sigma @ D - eta * gamma / d_out * (D + T)
            errors += [relative_gap(2 / d_out * sigma @ D, slope), relative_gap(printed, step)]
    return CheckResult(max(errors), 1e-13, len(errors))


@check(
    "linear-grokking/eq4",
    "Gradient flow of the difference between student and teacher",
    against="Runge–Kutta integration of the sample loss's gradient",
)
def eq4() -> CheckResult:
    """Eq. 4."""
    times = np.linspace(0, 40, 9)
    errors = []
    for seed, (d, num_samples) in enumerate(SHAPES):
        X, D0 = _oracles.training_set(seed, d, num_samples)
        flow = theory.LinearFlow(X.T @ X / num_samples, D0, RATE)
        errors.append(
            relative_gap(flow.difference(times), _oracles.integrated_flow(X, D0, RATE, times))
        )
    return CheckResult(max(errors), 1e-10, len(errors) * len(times))


@check(
    "linear-grokking/eq5",
    "Training and test loss of a given training set under gradient flow",
    against="losses of the Runge–Kutta solution: mean over samples, and squared length",
)
def eq5() -> CheckResult:
    """Eq. 5; a fresh standard normal input x has E[(Dᵀx)²] = ‖D‖²."""
    times = np.linspace(0, 40, 9)
    errors = []
    for seed, (d, num_samples) in enumerate(SHAPES):
        X, D0 = _oracles.training_set(seed, d, num_samples)
        flow = theory.LinearFlow(X.T @ X / num_samples, D0, RATE)
        D = _oracles.integrated_flow(X, D0, RATE, times)
        train, test = np.mean((D @ X.T) ** 2, axis=1), np.sum(D**2, axis=1)
        errors.append(np.max(np.abs(flow.train_loss(times) - train)) / train[0])
        errors.append(np.max(np.abs(flow.test_loss(times) - test)) / test[0])
    return CheckResult(max(errors), 1e-10, len(errors) * len(times))
