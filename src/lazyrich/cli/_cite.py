"""`lazyrich cite`."""

from collections.abc import Sequence

from lazyrich import checks, experiments
from lazyrich.cli._output import answers, print_json
from lazyrich.core import ArgumentError, bibtex, papers, select


def show_citations(ids: Sequence[str], json: bool) -> int:
    """Print the references of experiments, checks and papers."""
    if not ids:
        raise ArgumentError(
            "`cite` must be given at least one id, got none. Try `lazyrich cite linear-grokking/fig1`."
        )
    rests_on: dict[str, Sequence[str]] = {key: [key] for key in papers()}
    rests_on |= {id: experiments.get(id).references for id in experiments.ids()}
    rests_on |= {id: [checks.get(id).paper] for id in checks.ids()}
    chosen = select(ids, rests_on, "experiment, check or paper")
    keys = list(dict.fromkeys(key for id in chosen for key in rests_on[id]))
    if json:
        print_json({"ids": chosen, "references": [{"key": k, "bibtex": bibtex(k)} for k in keys]})
    else:
        with answers():
            print(bibtex(*keys))
    return 0
