"""Verdicts on the experiment in other environments, beside those of the hard case."""

import pandas as pd

from pgpd_hf.statistics import METRICS
from replication.figures import verdicts
from replication.statements import report

HARD = "hard case"  # in place of the name of that study
NOTE = "Exploratory: fewer seeds, and not repeated on fresh ones."
_COLUMNS = "study claim source statement kind verdict estimate low high moved why".split()
_NAMES = {  # names by which readers know the environments of studies
    "cliff-walking": "CliffWalking",
    "ding": "Ding et al.",
    "frozen-lake": "FrozenLake",
    "media-streaming": "media streaming",
}


def collect(studies, statements):
    """Put the verdicts of studies, each with its aggregate, into one table."""
    # A statement has not `moved` if a panel of Figure 1 that it is about hardly moves.
    tables = []
    for study, (judged, aggregate) in studies.items():
        found, still = report.of_experiment(judged), set(report.flat(aggregate))
        moved = [not still & _about(statements[name]["criterion"]) for name in found["claim"]]
        tables.append(found.assign(study=study, moved=moved))
    return pd.concat(tables, ignore_index=True)[_COLUMNS]


def matrix(table):
    """Draw a table of :func:`collect` whose first study is the hard case."""
    named = table.rename(columns={"study": "reading"}).replace({"reading": _NAMES})
    first, *others = named["reading"].drop_duplicates()
    hold = named["verdict"].eq("reproduced").groupby(named["reading"]).sum()
    others.sort(key=hold.get, reverse=True)
    few = [f"{hold[it]} in {it}" for it in others if 2 * hold[it] < named["claim"].nunique()]
    title = f"Of {named['claim'].nunique()} statements {hold[first]} hold in the {first}"
    title += f", but only {' and '.join(few)}" if few else ", and at least half in each other one"
    named = pd.concat([named[named["reading"] == it] for it in (first, *others)])
    return verdicts.matrix(named, brackets={"exploratory": others}, note=NOTE, title=title)


def _about(criterion):
    """Panels of Figure 1, by algorithm and metric, that a criterion is about."""
    names = [criterion[key] for key in ("algorithm", "than") if key in criterion]
    metrics = [criterion["column"]] if "column" in criterion else METRICS
    return {(name, metric) for name in names for metric in metrics}
