"""An experiment of trained networks that is stopped within a piece goes on there, and ends the same."""

import dataclasses

import pytest

from lazyrich import store
from lazyrich.core import Cancelled, Context
from lazyrich.experiments.li2 import _training, fig2, fig6, when
from lazyrich.simulate import _checkpoint

SMALL = {
    fig2: fig2.Config(
        order=7, width=16, train_fraction=0.8, last_epoch=40, num_records=5, num_seeds=2,
        seeds_per_chunk=2,
    ),
    fig6: fig6.Config(
        orders=(7,), multiples=(2.5, 3.0), learning_rates=(0.01, 0.05), width=16, last_epoch=40,
        num_seeds=2, seeds_per_chunk=2,
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(_checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(_training, "LONG", 0.0)


def kept_in(folder, **more):
    pieces = store.Store(folder)
    return Context(load=pieces.get, save=pieces.write, **more)


@pytest.mark.parametrize("figure", SMALL, ids=lambda figure: figure.ID)
def test_stopped_within_a_piece_it_goes_on_there(figure, tmp_path):
    config, shares = SMALL[figure], []
    whole = figure.run(config, Context(report=lambda *where: shares.append(where[1] / where[2])))
    assert shares == sorted(shares)
    assert any(0 < share < 1 for share in shares)  # there is one piece: progress within it

    stopping = kept_in(
        tmp_path, report=lambda label, done, total: shares.append(done / total),
        should_stop=lambda: shares[-1] > 0.6,
    )  # fmt: skip
    shares[:] = [0.0]
    with pytest.raises(Cancelled):
        figure.run(config, stopping)
    begun = store.Store(tmp_path).keys()
    assert begun
    assert all("descent" in name for name in begun)  # no piece was finished

    trained = []
    again = kept_in(tmp_path, report=lambda label, done, total: trained.append(done / total))
    assert figure.run(config, again).identical(whole)
    assert trained[2] > 0.2  # a finished run counts at once


def test_short_runs_have_no_checkpoints(monkeypatch, tmp_path):
    monkeypatch.setattr(_training, "LONG", 1e30)
    fig6.run(SMALL[fig6], kept_in(tmp_path))
    assert store.Store(tmp_path).keys() == ["case-0-0"]


@pytest.mark.parametrize("study", when.STUDIES, ids=lambda study: study.name)
def test_every_study_passes_its_context_on(study, monkeypatch):
    config = dataclasses.replace(
        when.PRESETS["quick"], speed_stretch=0.01, fate_stretch=0.01, speed_records=2, fate_records=2,
        fate_early_order=7,
    )  # fmt: skip
    seen = []
    context = Context(
        report=lambda label, done, total: seen.append(done),
        should_stop=lambda: len(seen) > 0,
    )
    with pytest.raises(Cancelled):
        study.compute(config, range(1000, 1001), context)
