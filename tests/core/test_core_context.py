"""What a run may ask of whoever started it."""

import pytest
import xarray

from lazyrich.core import Cancelled, Context, seed_chunks


def piece(value):
    return xarray.Dataset({"value": value})


def test_does_nothing_by_default():
    context = Context()
    assert list(context.track("abc", "letters")) == ["a", "b", "c"]
    assert context.keep("a", piece, 3).value == 3
    assert context.data_folder is None
    context.stop_if_asked()


def test_track_reports_before_each_item_and_at_the_end():
    seen = []
    context = Context(report=lambda *what: seen.append(what))
    for item in context.track([10, 20], "squares"):
        seen.append(item)
    assert seen == [
        ("squares", 0, 2), 10, ("squares", 1, 2), 20, ("squares", 2, 2),
    ]  # fmt: skip
    assert list(context.track([], "nothing")) == []
    assert seen[-1] == ("nothing", 0, 0)


def test_track_stops_between_items():
    done = []
    context = Context(should_stop=lambda: len(done) == 2)
    with pytest.raises(Cancelled, match="asked to stop; finished pieces are kept"):
        done.extend(context.track(range(5), "items"))
    assert done == [0, 1]


def test_keep_computes_once_and_takes_the_checkpoint_afterwards():
    kept, computed = {}, []
    context = Context(load=kept.get, save=kept.__setitem__)

    def compute(value):
        computed.append(value)
        return piece(value)

    for _ in range(2):
        for value in (1, 2):
            assert context.keep(f"piece-{value}", compute, value).value == value
    assert computed == [1, 2]
    assert list(kept) == ["piece-1", "piece-2"]


def test_keep_saves_nothing_when_computing_fails():
    kept = {}
    context = Context(load=kept.get, save=kept.__setitem__)
    with pytest.raises(ZeroDivisionError):
        context.keep("piece", lambda: 1 / 0)
    assert kept == {}


@pytest.mark.parametrize("num_seeds", range(8))
@pytest.mark.parametrize("chunk", [1, 2, 3, 10])
def test_chunks_cover_every_seed_once(num_seeds, chunk):
    chunks = seed_chunks(num_seeds, chunk)
    assert [seed for seeds in chunks for seed in seeds] == list(range(num_seeds))
    assert all(len(seeds) == chunk for seeds in chunks[:-1])
    assert all(seeds[0] % chunk == 0 for seeds in chunks)  # more seeds leave the first chunks alone
