"""Late-time forms against the exact curves, against each other, and at the edges of what they assume."""

import jax
import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.core import AssumptionError, Status
from lazyrich.theory import LateGrokking, LinearGrokking


def test_late_forms_approach_the_losses():
    exact, late = LinearGrokking(0.5), LateGrokking(0.5)
    errors = [late.train_loss(t) / exact.train_loss(t) - 1 for t in (50, 100, 200)]
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.05)
    assert errors[1] / errors[2] == pytest.approx(2, rel=0.05)
    assert late.test_loss(400.0) == pytest.approx(exact.test_loss(400.0), rel=0.02)


def test_delay_approaches_the_small_threshold_form_slowly():
    limit = LateGrokking(0.9, 0.01).small_threshold_delay()
    thresholds = (1e-3, 1e-6, 1e-30, 1e-300)
    shares = [LinearGrokking(0.9, 0.01, e).grokking_delay().time / limit for e in thresholds]
    assert shares == sorted(shares)
    assert shares[0] == pytest.approx(0.363, abs=0.002)
    assert shares[-1] == pytest.approx(1, abs=0.005)


@given(st.floats(0.01, 0.95), st.floats(1e-200, 1e-4))
def test_times_lie_on_the_losses(ratio, threshold):
    late = LateGrokking(ratio, 0.01, threshold)
    for crossing, loss in (
        (late.train_time(), late.train_loss),
        (late.test_time(), late.test_loss),
    ):
        assert crossing.status == Status.REACHED
        assert loss(crossing.time) == pytest.approx(threshold / 4, rel=1e-8)


@given(st.floats(0.05, 0.8))
def test_delays_tend_to_the_limit(ratio):
    errors = []
    for threshold in (1e-50, 1e-100, 1e-200):
        late = LateGrokking(ratio, 0.01, threshold)
        exact = late.test_time().time - late.train_time().time
        errors.append(abs(late.small_threshold_delay() / exact - 1))
        assert late.two_term_delay() == pytest.approx(exact, rel=0.02)
    assert errors[0] > 1.5 * errors[1] > 2.2 * errors[2]


@pytest.mark.parametrize("ratio", [1e-12, 1e-6, 0.2499, 0.25, 0.9, 1 - 1e-12])
def test_the_limit_of_the_delay_keeps_its_digits_for_small_ratios(ratio):
    with mp.workdps(40):
        gap = 1 - mp.sqrt(mp.mpf(ratio))
        exact = -mp.log(gap) / (2 * gap**2)
        assert abs(LateGrokking(ratio).small_threshold_delay() / exact - 1) < 1e-13


FORMS = {
    "test_loss": (1.0,), "intermediate_test_loss": (1.0,), "train_time": (), "test_time": (),
    "two_term_delay": (), "small_threshold_delay": (), "decay_limit_delay": (),
}  # fmt: skip


@pytest.mark.parametrize(("form", "arguments"), FORMS.items())
def test_all_but_the_training_loss_need_more_samples_than_inputs(form, arguments):
    with pytest.raises(AssumptionError, match=r"assumes `aspect_ratio` < 1, got .*1\.5"):
        getattr(LateGrokking(np.array([0.5, 1.5])), form)(*arguments)
    found = jax.jit(lambda r: getattr(LateGrokking(r), form)(*arguments))(1.5)
    assert np.isnan(found.time if "time" in form else found)
    if "time" in form:
        assert found.status == Status.INVALID
    assert LateGrokking(1.5).train_loss(50.0) > 0
