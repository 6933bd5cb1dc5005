"""Scaling laws of infinitely many skills, and the quanta model."""

from typing import Any

import jax
import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich.core import ArgumentError, compute
from lazyrich.theory import Emergence, Quanta, SkillScaling
from lazyrich.theory._skill_sum import zeta

EXPONENTS = st.floats(1.1, 4)


@given(st.floats(1.05, 12), st.floats(1, 1e6))
def test_zeta(s, q):
    assert compute(zeta, s, q) == pytest.approx(float(mp.zeta(s, q)), rel=1e-13)


def exact_sum(beta, share, pieces):
    """Σ p h(p) by Euler–Maclaurin from k = 3000, at 25 digits; its integral is cut at `pieces`, in ln k."""
    with mp.workdps(25):
        A, a = 1 / mp.zeta(beta), mp.mpf(3000) - mp.mpf(1) / 2

        def term(k):
            p = A * k**-beta
            return p * share(p)

        cuts = [mp.log(a), *(y for y in pieces if y > mp.log(a)), mp.inf]
        integral: Any = mp.quad(lambda y: term(mp.exp(y)) * mp.exp(y), cuts)
        first = mp.fsum(term(mp.mpf(k)) for k in range(1, 3000))
        return float(first + integral + mp.diff(term, a) / 24 - 7 * mp.diff(term, a, 3) / 5760)


def cuts(k):
    return [mp.log(k) + y for y in (-1, -0.5, -0.2, -0.1, 0, 0.1, 0.2, 0.5, 1, 3, 6)]


@pytest.mark.parametrize(
    ("beta", "start", "time"),
    [(1.6, 1e-5, 50.0), (1.6, 1e-5, 1e6), (2.0, 0.3, 1e8), (1.3, 1e-12, 1e5), (2.5, 0.9, 1e10)],
)
def test_loss_over_time_to_many_digits(beta, start, time):
    def share(p):
        return 1 / (1 + mp.exp(2 * time * p) / (1 / mp.mpf(start) - 1)) ** 2

    middle = (2 * time / max(np.log(1 / start), 1)) ** (1 / beta)
    exact = exact_sum(mp.mpf(beta), share, cuts(middle)) / 2
    assert SkillScaling(beta, 1.0, start).loss(time) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(("beta", "D"), [(1.6, 10), (1.6, 1e6), (1.2, 1e4), (2.5, 1e9)])
def test_loss_over_data_to_many_digits(beta, D):
    exact = exact_sum(mp.mpf(beta), lambda p: (1 - p) ** D, cuts(D ** (1 / beta))) / 2
    assert SkillScaling(beta, 1.0, 1e-15).loss_from_data(D) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(("beta", "start"), [(6.0, 1e-30), (3.0, 1e-300), (8.0, 1e-5)])
def test_loss_of_skills_that_are_learned_abruptly(beta, start):
    """Against a sum over 300 000 skills, where those around the 1000th to the 20 000th are learned."""
    p = np.arange(1.0, 3e5) ** -beta / float(mp.zeta(beta))
    odds = np.log(1 / start - 1)
    time = odds / 2 / p[[1000, 1023, 1500, 20_000]]
    with np.errstate(over="ignore"):
        share = (1 + np.exp(2 * time[:, None] * p - odds)) ** -2.0
    rest = float(mp.zeta(beta, len(p) + 1) / mp.zeta(beta))
    exact = ((p * share)[:, ::-1].sum(axis=1) + rest) / 2
    np.testing.assert_allclose(SkillScaling(beta, 1.0, start).loss(time), exact, rtol=1e-12)


@pytest.mark.parametrize(("beta", "D"), [(40.0, 3), (54.0, 0), (60.0, 1), (100.0, 1)])
def test_loss_over_data_where_one_skill_is_all_but_everything(beta, D):
    with mp.workdps(60):
        p = [mp.mpf(k) ** -beta / mp.zeta(beta) for k in range(1, 60)]
        exact = float(mp.fsum(q * (1 - q) ** D for q in p) / 2)
    assert SkillScaling(beta, 1.0, 1e-30).loss_from_data(D) == pytest.approx(exact, rel=1e-12)


@settings(max_examples=15, deadline=None)
@given(EXPONENTS, st.floats(1e-4, 0.5), st.floats(0.3, 5))
def test_at_the_start_nothing_is_learned(beta, share, S):
    model = SkillScaling(beta, S, share * S)
    assert model.loss(0.0) == pytest.approx(S**2 / 2 * (1 - share) ** 2, rel=1e-12)
    assert model.loss_from_data(0) == pytest.approx(S**2 / 2 * (1 - share) ** 2, rel=1e-12)
    assert model.loss_from_units(0) == pytest.approx(S**2 / 2, rel=1e-12)


@settings(max_examples=10, deadline=None)
@given(EXPONENTS, st.floats(1e-4, 0.5))
def test_losses_fall(beta, start):
    model = SkillScaling(beta, 1.0, start)
    x = np.geomspace(1, 1e8, 9)
    for loss in (model.loss(x), model.loss_from_data(x), model.loss_from_units(x)):
        assert np.all(np.diff(loss) < 0)
        assert np.all(loss > 0)


def test_finitely_many_skills_of_a_steep_law():
    """With frequencies that fall fast, forty skills are nearly all."""
    many = SkillScaling(8.0, 1.0, 1e-3)
    p = many.frequencies(40)
    few = Emergence(p, 1.0, 1e-3)
    t = np.geomspace(0.1, 1e4, 9)
    np.testing.assert_allclose(many.loss(t), few.loss(t), rtol=1e-6, atol=1e-11)
    D = np.array([0, 1, 3, 10, 30, 100, 300, 1000, 4000])
    np.testing.assert_allclose(many.loss_from_data(D), few.loss_from_data(D), rtol=1e-6, atol=1e-11)
    np.testing.assert_allclose(
        many.loss_from_units(5), few.loss_from_units(5), rtol=1e-5, atol=1e-11
    )


@settings(max_examples=8, deadline=None)
@given(st.floats(1.2, 3), st.floats(1e-6, 0.3), st.floats(0.3, 3))
def test_laws_are_what_losses_tend_to(beta, share, S):
    model = SkillScaling(beta, S, share * S)
    x = 1e10
    for law, loss in (
        (model.law_of_time(), model.loss(x)),
        (model.law_of_data(), model.loss_from_data(x)),
        (model.law_of_units(), model.loss_from_units(x)),
    ):
        assert law.constant * x**law.exponent == pytest.approx(float(loss), rel=1e-6)
    alpha = beta - 1
    assert model.law_of_time().exponent == pytest.approx(-alpha / (alpha + 1))
    assert model.law_of_data().exponent == pytest.approx(-alpha / (alpha + 1))
    assert model.law_of_units().exponent == pytest.approx(-alpha)


def test_time_and_rate_are_one():
    one = SkillScaling(1.6, 2.0, 0.01, 0.1).loss(1e4)
    assert one == pytest.approx(float(SkillScaling(1.6, 2.0, 0.01).loss(1e3)), rel=1e-12)


def test_frequencies_sum_to_one():
    model = SkillScaling(np.array([1.6, 3.0]))
    p = model.frequencies(1000)
    assert p.shape == (2, 1000)
    np.testing.assert_allclose(p.sum(axis=1) + 2 * model.loss_from_units(1000), 1, rtol=1e-12)


@given(st.floats(1.1, 4), st.integers(0, 10**5))
def test_quanta_are_counted(beta, n):
    tail = float(mp.zeta(beta, n + 1) / mp.zeta(beta))
    assert Quanta(beta, 2.0, 0.5).loss_from_learned(n) == pytest.approx(0.5 + 1.5 * tail, rel=1e-12)
    assert Quanta(beta, 2.0, 0.5).loss_from_learned(n + 0.9) == Quanta(
        beta, 2.0, 0.5
    ).loss_from_learned(n)


@settings(max_examples=30, deadline=None)
@given(st.floats(1.2, 3), st.floats(0, 1e6), st.floats(0.5, 100))
def test_quanta_are_learned_when_they_have_enough(beta, resource, needed):
    model = Quanta(beta, units_needed=needed, samples_needed=needed, time_needed=needed)
    p = np.arange(1, 10**5) ** -beta / float(mp.zeta(beta))
    enough = np.sum(resource * p >= needed)
    if enough < 10**4:
        near = np.any(np.abs(resource * p / needed - 1) < 1e-9)
        assert model.learned_from_data(resource) == enough or near
        assert model.learned_from_time(resource) == model.learned_from_data(resource)
    assert model.learned_from_units(resource) == np.floor(resource / needed * (1 + 1e-15))
    learned = model.learned_from_data(resource)
    assert model.loss_from_data(resource) == model.loss_from_learned(learned)


def test_quanta_and_dynamics_have_the_same_exponents():
    x = np.geomspace(1e6, 1e9, 9)
    for beta in (1.3, 1.9):
        quanta, skills = Quanta(beta), SkillScaling(beta)
        for one, other in (
            (quanta.loss(x), skills.loss(x)),
            (quanta.loss_from_data(x), skills.loss_from_data(x)),
            (quanta.loss_from_units(x), skills.loss_from_units(x)),
        ):
            assert np.log(one[-1] / one[0]) == pytest.approx(np.log(other[-1] / other[0]), rel=1e-3)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"exponent": 1.0},
            "`exponent` must be a finite real number > 1 and ≤ 100, got 1.0. Pass α",
        ),
        ({"start": 1.0}, "`start` must be below `target_scale`"),
        ({"target_scale": 0}, "`target_scale` must be a finite real number > 0"),
        (
            {"exponent": [1.5, 2.0], "learning_rate": [1.0, 2.0, 3.0]},
            "must have shapes that broadcast",
        ),
    ],
)
def test_bad_parameters(wrong, message):
    with pytest.raises(ArgumentError, match=message):
        SkillScaling(**{"exponent": 1.6} | wrong)


def test_bad_resources():
    with pytest.raises(
        ArgumentError, match="`num_samples` must be a finite real number ≥ 0, got -1"
    ):
        SkillScaling(1.6).loss_from_data(-1)
    with pytest.raises(ArgumentError, match="`num_learned` must be a finite real number ≥ 0"):
        Quanta(1.6).loss_from_learned(-1)
    with pytest.raises(ArgumentError, match="`exponent` must be a finite real number > 1"):
        Quanta(0.9)
    assert np.isnan(jax.jit(SkillScaling(1.6).loss)(-1.0))


def test_laws_of_many_exponents_at_once():
    exponents = np.array([1.2, 1.6, 3.0])
    together = SkillScaling(exponents, start=1e-3).law_of_time()
    alone = [SkillScaling(each, start=1e-3).law_of_time() for each in exponents]
    np.testing.assert_allclose(together.constant, [law.constant for law in alone], rtol=1e-14)
    np.testing.assert_allclose(together.exponent, [law.exponent for law in alone], rtol=1e-14)
