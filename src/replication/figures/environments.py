"""Verdicts on the experiment in other environments, beside those of the default study."""

import pandas as pd

from pgpd_hf.runs import METRICS
from replication.figures import panels, verdicts
from replication.statements import report

DEFAULT = "default"  # in place of the default study's name
NOTE = "Not confirmed: fewer seeds, and not repeated on fresh ones."
_COLUMNS = "study claim source statement kind verdict estimate low high moved why".split()
_NAMES = {  # of studies, where readers know their environments by another one
    "cliff-walking": "CliffWalking",
    "ding": "Ding et al.",
    "frozen-lake": "FrozenLake",
    "media-streaming": "media streaming",
}


def collect(studies, statements):
    """Put the verdicts of several studies into one table.

    Parameters
    ----------
    studies : dict of pair of pandas.DataFrame
        By name, verdicts and aggregate of each study.
    statements : dict
        The `claims` of config/claims.yaml.

    Returns
    -------
    pandas.DataFrame
        A row per study and statement of the experiment. `moved` is false if a panel of Figure 1
        that the statement is about hardly moves, as the page of the figure says then.
    """
    tables = []
    for study, (judged, aggregate) in studies.items():
        found, still = report.of_experiment(judged), set(panels.flat(aggregate))
        moved = [not still & _about(statements[name]["criterion"]) for name in found["claim"]]
        tables.append(found.assign(study=study, moved=moved))
    return pd.concat(tables, ignore_index=True)[_COLUMNS]


def matrix(table):
    """Draw a table of :func:`collect` whose first study is the default one.

    Parameters
    ----------
    table : pandas.DataFrame
        The table.

    Returns
    -------
    matplotlib.figure.Figure
        As of :func:`replication.figures.verdicts.matrix`, with a column for each study.
    """
    named = table.rename(columns={"study": "reading"}).replace({"reading": _NAMES})
    _, *others = named["reading"].drop_duplicates()
    return verdicts.matrix(named, brackets={"not confirmed": others}, note=NOTE)


def _about(criterion):
    """Panels of Figure 1, by algorithm and metric, that a criterion is about."""
    names = [criterion[key] for key in ("algorithm", "than") if key in criterion]
    metrics = [criterion["column"]] if "column" in criterion else METRICS
    return {(name, metric) for name in names for metric in metrics}
