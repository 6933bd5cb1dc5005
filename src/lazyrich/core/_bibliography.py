"""The papers a result rests on."""

import dataclasses

from lazyrich.core._errors import UnknownIdError, shortened


@dataclasses.dataclass(frozen=True)
class Reference:
    """One paper."""

    key: str
    kind: str
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str
    url: str = ""

    @property
    def bibtex(self) -> str:
        """The BibTeX entry."""
        place = {"article": "journal", "inproceedings": "booktitle", "misc": "howpublished"}[
            self.kind
        ]
        lines = [
            f"  title = {{{{{self.title}}}}}",
            f"  author = {{{' and '.join(self.authors)}}}",
            f"  year = {{{self.year}}}",
            f"  {place} = {{{self.venue}}}",
        ]
        if self.url:
            lines.append(f"  url = {{{self.url}}}")
        return f"@{self.kind}{{{self.key},\n" + ",\n".join(lines) + "\n}"

    @property
    def text(self) -> str:
        """One line for people."""
        names = [name.partition(",")[0] for name in self.authors]
        who = names[0] + " et al." if len(names) > 2 else " & ".join(names)
        return f"{who} ({self.year}). {self.title}. {self.venue}."


_REFERENCES = [
    Reference(
        key="linear-grokking",
        kind="inproceedings",
        title="Grokking in Linear Estimators – A Solvable Model that Groks without Understanding",
        authors=("Levi, Noam", "Beck, Alon", "Bar-Sinai, Yohai"),
        year=2024,
        venue="International Conference on Learning Representations",
        url="https://arxiv.org/abs/2310.16441",
    ),
    Reference(
        key="saddles",
        kind="inproceedings",
        title="Saddle-to-Saddle Dynamics Explains A Simplicity Bias Across Neural Network Architectures",
        authors=("Zhang, Yedi", "Saxe, Andrew", "Latham, Peter E."),
        year=2026,
        venue="International Conference on Learning Representations",
        url="https://arxiv.org/abs/2512.20607",
    ),
    Reference(
        key="layerwise",
        kind="inproceedings",
        title="Position: Solve Layerwise Linear Models First to Understand Neural Dynamical Phenomena",
        authors=(
            "Nam, Yoonsoo",
            "Lee, Seok Hyeong",
            "Dominé, Clémentine C. J.",
            "Park, Yeachan",
            "London, Charles",
            "Choi, Wonyl",
            "Göring, Niclas",
            "Lee, Seungjai",
        ),
        year=2025,
        venue="International Conference on Machine Learning",
        url="https://arxiv.org/abs/2502.21009",
    ),
    Reference(
        key="marchenko-pastur",
        kind="article",
        title="Distribution of eigenvalues for some sets of random matrices",
        authors=("Marčenko, V. A.", "Pastur, L. A."),
        year=1967,
        venue="Mathematics of the USSR-Sbornik 1(4)",
        url="https://dx.doi.org/10.1070/SM1967v001n04ABEH001994",
    ),
    Reference(
        key="omnigrok",
        kind="inproceedings",
        title="Omnigrok: Grokking Beyond Algorithmic Data",
        authors=("Liu, Ziming", "Michaud, Eric J.", "Tegmark, Max"),
        year=2023,
        venue="International Conference on Learning Representations",
        url="https://arxiv.org/abs/2210.01117",
    ),
    Reference(
        key="gromov",
        kind="misc",
        title="Grokking modular arithmetic",
        authors=("Gromov, Andrey",),
        year=2023,
        venue="arXiv preprint arXiv:2301.02679",
        url="https://arxiv.org/abs/2301.02679",
    ),
    Reference(
        key="saxe",
        kind="inproceedings",
        title="Exact solutions to the nonlinear dynamics of learning in deep linear neural networks",
        authors=("Saxe, Andrew M.", "McClelland, James L.", "Ganguli, Surya"),
        year=2014,
        venue="International Conference on Learning Representations",
        url="https://arxiv.org/abs/1312.6120",
    ),
    Reference(
        key="braun",
        kind="inproceedings",
        title="Exact learning dynamics of deep linear networks with prior knowledge",
        authors=(
            "Braun, Lukas",
            "Dominé, Clémentine C. J.",
            "Fitzgerald, James E.",
            "Saxe, Andrew M.",
        ),
        year=2022,
        venue="Advances in Neural Information Processing Systems",
        url="https://openreview.net/forum?id=lJx2vng-KiC",
    ),
    Reference(
        key="lazy-to-rich",
        kind="inproceedings",
        title="From Lazy to Rich: Exact Learning Dynamics in Deep Linear Networks",
        authors=(
            "Dominé, Clémentine C. J.",
            "Anguita, Nicolas",
            "Proca, Alexandra M.",
            "Braun, Lukas",
            "Kunin, Daniel",
            "Mediano, Pedro A. M.",
            "Saxe, Andrew M.",
        ),
        year=2025,
        venue="International Conference on Learning Representations",
        url="https://arxiv.org/abs/2409.14623",
    ),
    Reference(
        key="get-rich-quick",
        kind="inproceedings",
        title="Get rich quick: exact solutions reveal how unbalanced initializations promote "
        "rapid feature learning",
        authors=(
            "Kunin, Daniel",
            "Raventós, Allan",
            "Dominé, Clémentine",
            "Chen, Feng",
            "Klindt, David",
            "Saxe, Andrew",
            "Ganguli, Surya",
        ),
        year=2024,
        venue="Advances in Neural Information Processing Systems",
        url="https://arxiv.org/abs/2406.06158",
    ),
    Reference(
        key="emergence",
        kind="inproceedings",
        title="An exactly solvable model for emergence and scaling laws in the multitask sparse "
        "parity problem",
        authors=(
            "Nam, Yoonsoo",
            "Fonseca, Nayara",
            "Lee, Seok Hyeong",
            "Mingard, Chris",
            "Louis, Ard A.",
        ),
        year=2024,
        venue="Advances in Neural Information Processing Systems",
        url="https://arxiv.org/abs/2404.17563",
    ),
    Reference(
        key="quanta",
        kind="inproceedings",
        title="The Quantization Model of Neural Scaling",
        authors=("Michaud, Eric J.", "Liu, Ziming", "Girit, Uzay", "Tegmark, Max"),
        year=2023,
        venue="Advances in Neural Information Processing Systems",
        url="https://arxiv.org/abs/2303.13506",
    ),
    Reference(
        key="neural-collapse",
        kind="article",
        title="Prevalence of neural collapse during the terminal phase of deep learning training",
        authors=("Papyan, Vardan", "Han, X. Y.", "Donoho, David L."),
        year=2020,
        venue="Proceedings of the National Academy of Sciences 117(40)",
        url="https://arxiv.org/abs/2008.08186",
    ),
    Reference(
        key="unconstrained-features",
        kind="misc",
        title="Neural collapse with unconstrained features",
        authors=("Mixon, Dustin G.", "Parshall, Hans", "Pi, Jianzong"),
        year=2020,
        venue="arXiv preprint arXiv:2011.11619",
        url="https://arxiv.org/abs/2011.11619",
    ),
    Reference(
        key="kernel-distance",
        kind="inproceedings",
        title="Deep learning versus kernel learning: an empirical study of loss landscape "
        "geometry and the time evolution of the Neural Tangent Kernel",
        authors=(
            "Fort, Stanislav",
            "Dziugaite, Gintare Karolina",
            "Paul, Mansheej",
            "Kharaghani, Sepideh",
            "Roy, Daniel M.",
            "Ganguli, Surya",
        ),
        year=2020,
        venue="Advances in Neural Information Processing Systems",
        url="https://arxiv.org/abs/2010.15110",
    ),
    Reference(
        key="grokking-lazy-rich",
        kind="inproceedings",
        title="Grokking as the Transition from Lazy to Rich Training Dynamics",
        authors=("Kumar, Tanishq", "Bordelon, Blake", "Gershman, Samuel J.", "Pehlevan, Cengiz"),
        year=2024,
        venue="International Conference on Learning Representations",
        url="https://arxiv.org/abs/2310.06110",
    ),
    Reference(
        key="li2",
        kind="misc",
        title="Provable Scaling Laws of Feature Emergence from Learning Dynamics of Grokking",
        authors=("Tian, Yuandong",),
        year=2025,
        venue="arXiv:2509.21519",
        url="https://arxiv.org/abs/2509.21519",
    ),
]
_BY_KEY = {reference.key: reference for reference in _REFERENCES}


def reference(key: str) -> Reference:
    """The paper with this key."""
    if not isinstance(key, str) or key not in _BY_KEY:
        raise UnknownIdError(
            f"No reference has the key {shortened(key)}. Known are: {', '.join(_BY_KEY)}."
        )
    return _BY_KEY[key]


def bibtex(*keys: str) -> str:
    """BibTeX entries of these papers, each once, in this order."""
    return "\n\n".join(reference(key).bibtex for key in dict.fromkeys(map(_key, keys)))


def _key(key: str) -> str:
    return reference(key).key


def papers() -> list[str]:
    """The keys of all references."""
    return list(_BY_KEY)
