"""Put the verdicts of several studies on the experiment's statements into one table."""

import sys
from pathlib import Path

import pandas as pd

from pgpd_hf.claims import report
from pgpd_hf.support import storage, validation

TABLE = Path("results/environments/environments.csv")
COLUMNS = ["study", "claim", "statement", "verdict", "estimate", "low", "high"]


def collect(names):
    """Verdicts of studies, one below the other.

    Parameters
    ----------
    names : list of str
        Of the studies, which have been run.

    Returns
    -------
    pandas.DataFrame
        Columns :data:`COLUMNS`, a row per study and statement of the experiment.
    """
    tables = [
        report.of_experiment(storage.read_table(Path("results", name, "claims.csv"))).assign(
            study=name
        )
        for name in names
    ]
    return pd.concat(tables, ignore_index=True)[COLUMNS]


if __name__ == "__main__":
    with validation.one_line("config", ValueError):
        studies = [validation.read(path)["study"] for path in sys.argv[1:]]
    table = collect(studies)
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    storage.write_table(TABLE, table)
    print(pd.crosstab(table["study"], table["verdict"]).to_string())
    print(f"All verdicts: {TABLE}")
