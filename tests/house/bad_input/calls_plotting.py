"""Valid calls of `lazyrich.plotting`, and what odd values mean there."""

import numpy as np

from lazyrich import plotting

AXES = plotting.new_figure()[1][0, 0]

TIME, CURVE = np.array([0.0, 1.0, 4.0]), np.array([1.0, 0.5, 0.2])

EXEMPT = {
    ("curves_legend", "options"): "those of matplotlib",
    ("plot_band", "line"): "properties of matplotlib's lines",
    ("plot_runs", "line"): "properties of matplotlib's lines",
    ("plot_band", "colour"): "matplotlib names bad colours",
    ("plot_runs", "colour"): "matplotlib names bad colours",
    ("plot_band", "label"): "matplotlib prints anything",
    ("plot_runs", "label"): "matplotlib prints anything",
}

CALLS = {
    "curves_legend": {"axes": AXES, "entries": {"theory": {"color": "black"}}},
    "log_time": {"time": TIME},
    "new_figure": {"num_columns": 1, "num_rows": 1, "panel": (3.6, 3.0)},
    "new_mosaic": {"pattern": [["a", "b"]], "size": (3.6, 3.0), "heights": (1.0,)},
    "plot_band": {
        "axes": AXES, "time": TIME, "low": CURVE - 0.1, "middle": CURVE, "high": CURVE + 0.1,
        "colour": "black", "label": "",
    },
    "plot_runs": {
        "axes": AXES, "time": TIME, "runs": np.stack([CURVE, CURVE]), "bold": CURVE, "colour": "black",
        "label": "",
    },
    "shades": {"number": 3},
}  # fmt: skip

MEANING = {
    ("log_time", "time", "number zero huge longer extra_axis empty"): "any times",
    ("plot_band plot_runs", "time", "zero negative huge"): "any places",
    ("plot_band plot_runs", "low middle high runs bold", "nan infinite"): "gaps",
    ("plot_band plot_runs", "low middle high runs bold", "zero negative huge"): "any curves",
    ("plot_runs", "runs", "longer empty"): "one more run; none",
    ("curves_legend", "entries", "empty"): "an empty legend",
    ("new_mosaic", "pattern", "first_first_text first_first_empty"): "any name",
    ("new_mosaic", "pattern", "first_longer"): "a panel of two columns",
}
