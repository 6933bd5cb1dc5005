"""The house style leaves no trace and tells its colours apart."""

import itertools

import matplotlib
import numpy as np
from matplotlib.colors import to_rgb

from lazyrich import plotting


def test_style_leaves_settings_alone():
    before = dict(matplotlib.rcParams)
    with plotting.style():
        plotting.new_figure(2)
        assert dict(matplotlib.rcParams) != before
    assert dict(matplotlib.rcParams) == before


def test_shape_of_axes():
    figure, axes = plotting.new_figure(3, 2)
    assert axes.shape == (2, 3)
    assert len(figure.axes) == 6


def test_colours_differ_to_colour_blind_eyes():
    # Machado, Oliveira and Fernandes (2009), severity 1: protanopia, deuteranopia
    simulated = {
        "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
        "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    }
    for matrix in simulated.values():
        seen = [np.array(matrix) @ np.array(to_rgb(colour)) ** 2.2 for colour in plotting.COLOURS]
        for one, other in itertools.combinations(seen, 2):
            assert np.linalg.norm(one - other) > 0.05


def test_legend_entries():
    _, axes = plotting.new_figure()
    plotting.curves_legend(axes[0, 0], {"a": {"color": "k"}, "b": {"linestyle": "--"}})
    assert [text.get_text() for text in axes[0, 0].get_legend().get_texts()] == ["a", "b"]
