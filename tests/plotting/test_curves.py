"""Bands and runs are drawn as given, and nothing is computed."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from lazyrich import plotting
from lazyrich.core import ArgumentError

TIME, CURVE = np.array([0.8, 1.0, 10.0]), np.array([1.0, np.nan, 0.2])


def axes():
    return plotting.new_figure()[1][0, 0]


def test_a_band_surrounds_its_curve():
    panel = axes()
    plotting.plot_band(panel, TIME, CURVE - 0.1, CURVE, CURVE + 0.3, colour="red", label="a", lw=3)
    (line,), (band,) = panel.lines, panel.collections
    np.testing.assert_array_equal(line.get_xydata(), np.column_stack([TIME, CURVE]))
    assert (line.get_label(), line.get_linewidth()) == ("a", 3)
    edges = np.concatenate([path.vertices[:, 1] for path in band.get_paths()])
    assert (edges.min(), edges.max()) == pytest.approx((0.1, 1.3))


def test_all_runs_are_thin_and_one_is_bold():
    panel = axes()
    plotting.plot_runs(panel, TIME, [CURVE, 2 * CURVE], 1.5 * CURVE, colour="red", label="mean")
    *thin, bold = panel.lines
    assert [line.get_ydata()[0] for line in (*thin, bold)] == [1, 2, 1.5]
    assert all(line.get_linewidth() < bold.get_linewidth() for line in thin)
    assert panel.get_legend_handles_labels()[1] == ["mean"]
    plotting.plot_runs(panel, TIME, np.zeros((0, 3)), CURVE, colour="red")  # no run: the curve only
    assert len(panel.lines) == 4


def test_time_zero_has_a_place_before_step_one():
    np.testing.assert_array_equal(plotting.log_time([0, 1, 5]), [0.8, 1, 5])


def test_shades_become_lighter():
    light = [np.dot(to_rgb(colour), [0.299, 0.587, 0.114]) for colour in plotting.shades(5)]
    assert np.all(np.diff(light) > 0.05)


def test_bad_input_is_named():
    with pytest.raises(ArgumentError, match=r"`high` must have the shape \(3\) of `time`"):
        plotting.plot_band(axes(), TIME, CURVE, CURVE, CURVE[:2], colour="red")
    with pytest.raises(ArgumentError, match=r"`runs` must have the shape \(runs, 3\) of `time`"):
        plotting.plot_runs(axes(), TIME, np.ones((3, 2)), CURVE, colour="red")
    with pytest.raises(ArgumentError, match="`axes` must be axes of matplotlib"):
        plotting.plot_runs(None, TIME, [CURVE], CURVE, colour="red")
