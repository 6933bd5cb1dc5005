"""Figures and tables of the papers, one module each, with claims that pass or fail.

A module below a paper's folder is an experiment: it has `PAPER`, `ID`, `TITLE`, `CAPTION`, `SECONDS`,
`CONVENTION`, `REFERENCES`, `Config`, `PRESETS`, `run`, `claims` and `figure`. Being there registers it.
"""

import functools
import importlib
import pkgutil

from lazyrich.core import Experiment, known_id, natural_order

__all__ = ["get", "ids"]


@functools.cache
def _registry() -> dict[str, Experiment]:
    papers = (paper for paper in pkgutil.iter_modules(__path__, f"{__name__}.") if paper.ispkg)
    found = {}
    for paper in papers:
        folder = importlib.import_module(paper.name).__path__
        for item in pkgutil.iter_modules(folder, f"{paper.name}."):
            if not item.name.rpartition(".")[2].startswith("_"):
                experiment = Experiment.of(importlib.import_module(item.name))
                found[experiment.id] = experiment
    return {id: found[id] for id in sorted(found, key=natural_order)}


def ids() -> list[str]:
    """The ids of all experiments, by paper and number."""
    return list(_registry())


def get(id: str) -> Experiment:
    """The experiment with this id.

    Example:
        >>> from lazyrich import experiments
        >>> experiments.get("linear-grokking/fig1").title
        'Grokking as a function of λ'
    """
    return _registry()[known_id(id, _registry(), "experiment")]
