"""Table 1 of saddles: its parts on solvable cases, and claims that can fail."""

import dataclasses
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich import experiments, theory
from lazyrich.core import Context, DataError, Verdict
from lazyrich.experiments.saddles import _linear_plateaus as plateaus
from lazyrich.experiments.saddles import table1

SMALL = dataclasses.replace(table1.PRESETS["quick"], width=5, learning_rate=0.04)


@pytest.fixture(scope="module")
def small():
    return table1.run(SMALL, Context())


@pytest.fixture(scope="module")
def mnist(small):
    """The numbers that MNIST gives, so that the claims about it are judged where it is not at hand."""
    found = {
        "first_rate": [4.19633, 5.20577, 4.12693, 4.61744],
        "second_rate": [3.83424, 2.11696, 2.40434, 1.37679],
        "mirrored_rate": [3.90226, 5.20556, 3.25986, 4.09404],
        "saddle_rate": [3.83416, 2.11692, 2.40430, 1.37668],
    }
    trained = np.outer([2.3458, 1.9460, 1.5911, 1.0604], np.ones(8))
    drops = np.array([[2.75, 5.03], [2.2, 5.95], [2.78, 7.42], [2.49, 11.5]])
    changed = {name: ("pair", np.array(values)) for name, values in found.items()}
    changed |= {"trained_rate": (("pair", "seed"), trained)}
    changed |= {"drop": (("pair", "seed", "mode"), np.repeat(drops[:, None], 8, axis=1))}
    second = [[4.19633, 2.3521], [5.20577, 1.95178], [4.12693, 1.56018], [4.61744, 1.02917]]
    changed |= {"singular_value": (("pair", "mode"), np.array(second))}
    return small.assign(changed).assign_attrs(digits="mnist")


def verdicts(result):
    return [claim.verdict for claim in table1.claims(result, SMALL)]


def test_verdicts_with_mnist(mnist):
    counts = {verdict: verdicts(mnist).count(verdict) for verdict in Verdict}
    found = {verdict: number for verdict, number in counts.items() if number}
    assert found == {Verdict.HOLDS: 10, Verdict.CORRECTED: 3, Verdict.DEPARTS: 2}


def test_without_mnist_the_printed_numbers_are_not_judged(small):
    claims = table1.claims(small, SMALL)
    lacking = [c for c in claims if c.verdict == Verdict.NOT_APPLICABLE]
    assert len(lacking) == 11
    assert all(c.reason.startswith("needs MNIST; point LAZYRICH_DATA to") for c in lacking)
    assert {c.verdict for c in claims} == {Verdict.NOT_APPLICABLE, Verdict.HOLDS}


@pytest.mark.parametrize(
    ("name", "factor"),
    [("first_rate", 1.002), ("saddle_rate", 1.01), ("mirrored_rate", 1.01), ("trained_rate", 1.1),
     ("second_rate", 1.02), ("singular_value", 1.1)],
)  # fmt: skip
def test_wrong_numbers_are_noticed(mnist, name, factor):
    assert Verdict.FAILS in verdicts(mnist.assign({name: mnist[name] * factor}))


def test_a_run_without_a_second_plateau_is_noticed(mnist):
    broken = mnist.trained_rate.copy()
    broken[2, 3] = np.nan
    assert verdicts(mnist.assign(trained_rate=broken)).count(Verdict.FAILS) == 2
    order = mnist["drop"].isel(pair=[0, 2, 1, 3]).values
    swapped = mnist.assign({"drop": (mnist["drop"].dims, order)})
    assert Verdict.FAILS in verdicts(swapped)
    # pairs of digits whose runs never drop are in no order
    broken = mnist["drop"].copy()
    broken[1:3] = np.nan
    order = [
        c for c in table1.claims(mnist.assign({"drop": broken}), SMALL) if "order" in c.statement
    ]
    assert [c.verdict for c in order] == [Verdict.FAILS] * 2


def test_few_seeds_are_too_few(mnist):
    claims = table1.claims(mnist.isel(seed=slice(2)), SMALL)
    assert [c.reason for c in claims].count("needs at least 8 seeds") == 5


def test_damaged_data_stop_the_run_and_nothing_before_it(tmp_path):
    experiment = experiments.get("saddles/table1")
    fingerprint = experiment.data_fingerprint
    assert fingerprint(tmp_path).startswith("unreadable: ")
    assert len(fingerprint(None)) == 64
    with pytest.raises(DataError, match="must hold train-images-idx3-ubyte"):
        experiment.run(SMALL, Context(data_folder=tmp_path))


def test_a_run_through_the_command_line_with_a_folder_without_digits(tmp_path, monkeypatch, capsys):
    from lazyrich.cli import main

    monkeypatch.setenv("LAZYRICH_DATA", str(tmp_path))
    code = main(["reproduce", "saddles/table1", "--out", str(tmp_path / "out"), "--json"])
    record = json.loads(capsys.readouterr().out)
    assert code == record["exit_code"] == 2
    assert "must hold train-images-idx3-ubyte" in record["experiments"][0]["error"]


def test_sorting_rows_mirrors_the_eigenvector():
    """The slip behind the printed second row, on matrices whose eigenvalues come in ascending order."""
    rng, seen = np.random.default_rng(0), 0
    for _ in range(40):
        correlation = rng.random((2, 6))
        gain = correlation @ correlation.T
        eigenvalues, vectors = np.linalg.eig(gain)
        order = np.argsort(eigenvalues)[::-1]
        if order[0] == 0:
            continue  # in order already: nothing is sorted, and nothing goes wrong
        seen += 1
        wrong = vectors[order][:, 0]  # instead of vectors[:, order][:, 0]
        residual = correlation - np.outer(wrong, wrong) @ correlation
        points = theory.LinearFixedPoints(correlation, np.eye(6))
        assert table1._mirrored_rate(points) == pytest.approx(np.linalg.norm(residual, 2))
    assert seen > 5


# descent


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 6)) * np.array([2, 1.5, 1, 1, 0.5, 0])
    Y = X @ rng.standard_normal((6, 2)) + 0.1 * rng.standard_normal((40, 2))
    return theory.LinearFixedPoints(Y.T @ X / 40, X.T @ X / 40, np.sum(Y**2) / 40), X, Y


def test_descent_follows_the_gradient_over_samples(points):
    points, X, Y = points
    moments = plateaus.Moments.of(points)
    first, second = plateaus.small_start(moments, 3, 0.3, range(2))
    record = plateaus.descend(moments, first, second, 0.05, 12)

    def loss(weights):
        U, V = weights
        return jnp.mean(jnp.sum((X @ moments.basis @ U @ V - Y) ** 2, axis=1)) / 2

    with jax.enable_x64(True):
        gradient = jax.jit(jax.grad(loss))
        for run in range(2):
            weights = (jnp.asarray(first[run]), jnp.asarray(second[run]))
            for step in range(12):
                assert record.loss[run, step] == pytest.approx(float(loss(weights)), rel=1e-10)
                singular = np.linalg.svd(np.asarray(weights[0] @ weights[1]), compute_uv=False)
                assert record.largest[run, step] == pytest.approx(singular[0], rel=1e-10)
                assert record.second[run, step] == pytest.approx(singular[1], rel=1e-8)
                weights = jax.tree.map(lambda w, g: w - 0.05 * g, weights, gradient(weights))


@pytest.mark.parametrize("slow", [1.0, 0.6])
def test_growth_where_saddle_and_singular_value_agree(slow):
    """White inputs: the eigenvectors of Lemma 6 are the singular vectors, and the rate is s₂."""
    points = theory.LinearFixedPoints(np.diag([2.0, slow]), np.eye(2))
    moments = plateaus.Moments.of(points)
    for start in (
        plateaus.small_start(moments, 4, 1e-6, range(3)),
        plateaus.saddle_start(moments, points, 1e-9),
    ):
        record = plateaus.descend(moments, *start, 0.03, 1500)
        rates = plateaus.growth_rate(record, 0.03, (1e-5, 1e-3))
        np.testing.assert_allclose(rates, slow, rtol=1e-3)
    drops = plateaus.drops(record, points, 0.03)
    assert drops[0, 0] == 0  # it starts on the second plateau


def test_growth_that_does_not_happen_is_nan():
    points = theory.LinearFixedPoints(np.diag([2.0, 0.01]), np.eye(2))
    moments = plateaus.Moments.of(points)
    start = plateaus.small_start(moments, 4, 1e-6, range(2))
    record = plateaus.descend(moments, *start, 0.01, 1500)
    assert np.isnan(plateaus.growth_rate(record, 0.01, (1e-4, 1e-2))).all()
    assert np.isinf(plateaus.drops(record, points, 0.01)[:, 1]).all()
