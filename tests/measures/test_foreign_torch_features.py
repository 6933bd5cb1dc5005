"""Measures of features, labels and groups on modules that PyTorch trained, beside its linear algebra."""

import itertools

import numpy as np
import pytest
from foreign_torch import classifier, sums, torch_or_skip

from lazyrich import groups, measures

pytestmark = pytest.mark.torch


def hidden(run, first):
    """Squares of what the first layer gives, in float64; `first` as `Linear.weight` has it."""
    return (run.inputs.double() @ first.double().T) ** 2


def test_rank():
    torch = torch_or_skip()
    h = classifier().net[:2](classifier().x)
    found = measures.feature_rank(h, tolerance=0.05)
    assert found.numerical == int(torch.linalg.matrix_rank(h, rtol=0.05))
    s = torch.linalg.svdvals(h.detach())
    entropy = torch.special.entr(s**2 / torch.sum(s**2)).sum()
    assert found.effective == pytest.approx(float(torch.exp(entropy)), rel=1e-12)


def test_collapse():
    """At the start and at the end of training, which collapses the features."""
    before, after = (collapse(classifier().copies[when]) for when in (0, -1))
    assert after.within_class < before.within_class / 10
    assert after.simplex < 0.1
    assert after.disagreement == 0


def collapse(weights):
    torch = torch_or_skip()
    x, labels = classifier().x, classifier().labels
    h = torch.tanh(torch.nn.functional.linear(x, weights["0.weight"], weights["0.bias"]))
    W, b = weights["2.weight"], weights["2.bias"]
    found = measures.neural_collapse(h, labels, W.T, b)
    means = torch.stack([h[labels == k].mean(dim=0) for k in range(3)])
    centred = means - means.mean(dim=0)
    within = torch.cov((h - means[labels]).T, correction=0)
    pinv = torch.linalg.pinv(centred.T @ centred / 3, rtol=1e-10)
    assert found.within_class_pinv == pytest.approx(float(torch.trace(within @ pinv)) / 3, rel=1e-8)
    w, m = (torch.nn.functional.normalize(rows, dim=1) for rows in (W, centred))
    assert found.duality == pytest.approx(float((w - m).norm(dim=1).max()), rel=1e-9)
    off = (m @ m.T + 0.5)[~torch.eye(3, dtype=bool)].abs()
    assert found.simplex == pytest.approx(float(off.max()), rel=1e-9)
    decided = torch.nn.functional.linear(h, W, b).argmax(dim=1)
    differ = decided != torch.cdist(h, means).argmin(dim=1)
    assert found.disagreement == float(differ.double().mean())
    meter = measures.CollapseMeter(W.T, b)
    for part in torch.arange(30).split(8):
        meter.add(h[part], labels[part])
    for part in torch.arange(30).split(8):
        meter.compare(h[part])
    assert meter.result().simplex == pytest.approx(found.simplex, rel=1e-10)
    return found


def test_gradient_ridge_and_gram():
    """G_F is minus what `backward` leaves in the features' gradient."""
    torch = torch_or_skip()
    run = sums()
    F, V = hidden(run, run.first[-1]).requires_grad_(), run.second[-1].double().T
    Y = torch.nn.functional.one_hot(run.labels, 11).double()
    rest = Y - F @ V
    (torch.sum((rest - rest.mean(dim=0)) ** 2) / 2).backward()
    found = measures.backpropagated_gradient(F, run.labels, V)
    assert found.norm == pytest.approx(float(F.grad.norm()), rel=1e-10)
    np.testing.assert_allclose(found.node_norms, F.grad.norm(dim=0), rtol=1e-9)
    Fc, Yc = (a - a.mean(dim=0) for a in (F.detach(), Y))
    cosine = torch.nn.functional.cosine_similarity
    key = cosine(-F.grad.ravel(), (Yc @ Yc.T @ Fc).ravel(), dim=0)
    assert found.alignment == pytest.approx(float(key), rel=1e-9)
    best = torch.linalg.solve(Fc.T @ Fc + 0.04 * torch.eye(24), Fc.T @ Yc)
    ridge = measures.ridge_distance(F, run.labels, V, ridge=0.04)
    assert ridge.weights == pytest.approx(float((V - best).norm() / best.norm()), rel=1e-8)
    assert ridge.outputs == pytest.approx(
        float((Fc @ (V - best)).norm() / (Fc @ best).norm()), rel=1e-8
    )
    gram = measures.gram_diagonality(F)
    C = torch.cov(F.detach().T)
    off = C[~torch.eye(24, dtype=bool)].square().mean() / C.diagonal().square().mean()
    assert gram.nodes.typical == pytest.approx(float(off.sqrt()), rel=1e-9)


def test_what_labels_explain():
    """Projections by pseudo-inverses; 2M − 1 effects are additive, M − 1 classes are beyond them."""
    torch = torch_or_skip()
    run = sums()
    F, X = hidden(run, run.first[-1]), run.inputs.double()
    Y = torch.nn.functional.one_hot(run.labels, 11).double()
    Q = torch.eye(len(X)) - X @ torch.linalg.pinv(X)  # the rows of X sum to 2: it has the constant
    QY, QF = Q @ Y, Q @ F
    R2 = (QY @ torch.linalg.pinv(QY, rtol=1e-9) @ QF).square().sum(dim=0) / QF.square().sum(dim=0)
    share = 10 / (len(X) - 21)
    for inputs in (run.pairs, run.inputs):
        found = measures.class_share(F, run.labels.int(), inputs)
        np.testing.assert_allclose(found.share, (R2 - share) / (1 - share), rtol=1e-8, atol=1e-10)


def test_skills():
    torch = torch_or_skip()
    net, x = classifier().net, classifier().x
    g = torch.sign(x[:, :2]) * torch.nn.functional.one_hot(torch.arange(30) % 2, 2)
    found = measures.skill_strength(net(x).T, g)
    f = net(x).detach()
    for o, k in itertools.product(range(3), range(2)):
        ratio = (f[:, o] * g[:, k])[k::2]
        assert found.strength[o, k] == pytest.approx(float(ratio.mean()), rel=1e-12)
        assert found.uncertainty[o, k] == pytest.approx(float(ratio.std()) / 15**0.5, rel=1e-9)


def test_nodes_of_a_plain_table():
    """Permutations of three things: projections onto irreps by their characters."""
    torch = torch_or_skip()
    permutations = list(itertools.permutations(range(3)))
    number = {p: i for i, p in enumerate(permutations)}
    table = [[number[tuple(a[i] for i in b)] for b in permutations] for a in permutations]
    fixed = torch.tensor([sum(i == j for i, j in enumerate(p)) for p in permutations])
    sign = torch.where(fixed == 1, -1, 1)
    inverse = torch.tensor([row.index(0) for row in table])
    quotients = torch.tensor(table)[:, inverse]  # a b⁻¹
    projectors = {1: sign[quotients] / 6.0, 2: 2 * (fixed - 1)[quotients] / 6.0}
    layer = torch.nn.Linear(12, 5, bias=False)
    found = measures.node_features(layer.weight.T, groups.Group(table))
    halves = layer.weight.detach().double().reshape(5, 2, 6)
    power = [(halves @ P.double()).square().sum(dim=(1, 2)) for P in projectors.values()]
    purity = torch.stack(power).max(dim=0).values / sum(power)
    np.testing.assert_allclose(found.purity, purity, rtol=1e-6)


def test_kinds_of_memorising():
    torch = torch_or_skip()
    generator = torch.Generator().manual_seed(0)
    pairs = torch.argwhere(torch.rand(23, 23, generator=generator) < 0.6)
    k = torch.randint(1, 12, (32, 1), generator=generator)
    angle = 2 * torch.pi * k * torch.arange(23) / 23
    waves = [torch.cos(angle + 7 * torch.rand(32, 1, generator=generator)) for _ in range(2)]
    record = [torch.randn(32, 46, generator=generator), torch.cat(waves, dim=1)]
    found = measures.memorisation_kind(
        [weight.T for weight in record], groups.Group(np.add.outer(np.arange(23), np.arange(23)) % 23),
        pairs, activation=lambda z: torch.nn.functional.silu(torch.from_numpy(z)),
    )  # fmt: skip
    assert found.kind.tolist() == ["random features", "generalising features"]


def test_stages():
    torch = torch_or_skip()
    run = sums()
    first, second = (torch.stack(record[::20]).mT for record in (run.first, run.second))
    found = measures.training_stage(
        first, second, lambda W: hidden(run, torch.from_numpy(W).T), run.labels, inputs=run.pairs,
        start=first[0],
    )  # fmt: skip
    cosine = torch.nn.functional.cosine_similarity(first[0].double(), first[2].double(), dim=0)
    lengths = first[2].norm(dim=0)
    new = np.median((1 - cosine**2)[lengths > 0.1 * lengths.max()])
    assert found.evidence.turned[2] == pytest.approx(new, rel=1e-6)
    pull = measures.backpropagated_gradient(hidden(run, first[2].T), run.labels, second[2])
    assert found.evidence.alignment[2] == pytest.approx(pull.alignment, rel=1e-9)
    assert found.stage[0] == "lazy"
    accuracies = torch.tensor([[0.1, 0.95, 1.0], [0.1, 0.1, 0.97]])
    case = measures.grokking_case(torch.tensor([1, 10, 100]), *accuracies, found)
    assert case.case == "grokked"
    assert case.gap == pytest.approx(0.85, rel=1e-6)
