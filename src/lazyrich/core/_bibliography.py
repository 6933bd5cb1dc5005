"""The papers a result rests on."""

import dataclasses

from lazyrich.core._errors import UnknownIdError


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
]
_BY_KEY = {reference.key: reference for reference in _REFERENCES}


def reference(key: str) -> Reference:
    """The paper with this key."""
    if key not in _BY_KEY:
        raise UnknownIdError(f"No reference has the key {key!r}. Known are: {', '.join(_BY_KEY)}.")
    return _BY_KEY[key]


def bibtex(*keys: str) -> str:
    """BibTeX entries of these papers, each once, in this order."""
    return "\n\n".join(reference(key).bibtex for key in dict.fromkeys(keys))


def papers() -> list[str]:
    """The keys of all references."""
    return list(_BY_KEY)
