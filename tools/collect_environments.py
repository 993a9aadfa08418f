"""Put the verdicts of the studies of environments into one table, and draw them as a matrix.

The column of the paper's own experiment is that of reference/verdicts.csv, with hundreds of seeds.
"""

import shutil
import sys
from pathlib import Path

import pandas as pd

from pgpd_hf.claims import report
from pgpd_hf.figures import panels, style, verdicts
from pgpd_hf.runs import METRICS
from pgpd_hf.support import storage, validation
from pgpd_hf.verification import checks
from pgpd_hf.verification.tables import TABLES

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "reference"
CLAIMS = ROOT / "config/claims.yaml"
TARGETS = ["figure", "policies"]  # of the workflow, for each study
COLUMNS = ["study", "claim", "source", "statement", "kind", "verdict", "estimate", "low", "high"]
COLUMNS += ["moved", "why"]


def collect(folder, names):
    """Write table and matrix of studies that have been run.

    Parameters
    ----------
    folder : path-like
        Of the project. The files are in its results/environments.
    names : list of str
        Of the studies.

    Returns
    -------
    pandas.DataFrame
        Columns :data:`COLUMNS`, a row per study and statement of the experiment. `moved` is false
        if a panel of Figure 1 that the statement is about hardly moves, as the page of the figure
        says then, and `why` is that of the verdict.
    """
    results = Path(folder, "results")
    tables = [read(results / name).assign(study=name) for name in names]
    table = pd.concat(tables, ignore_index=True)[COLUMNS]
    storage.write_table(results / "environments/environments.csv", table)
    style.plt.switch_backend("agg")  # no windows
    style.use_style()
    style.save(draw(table), results / "environments/figures", "environments")
    return table


def read(results):
    """Verdicts of a study on the statements of the experiment."""
    curves = storage.read_table(results / "aggregate.parquet")
    return of_experiment(storage.read_table(results / "claims.csv"), curves)


def of_experiment(verdicts, curves):
    """Rows about the experiment, with `moved`: false if a panel that one is about hardly moves."""
    found, still = report.of_experiment(verdicts), set(panels.flat(curves))
    claims = validation.read_yaml(CLAIMS)["claims"]
    moved = [not still & about(claims[name]["criterion"]) for name in found["claim"]]
    return found.assign(moved=moved)


def about(criterion):
    """Panels of Figure 1, by algorithm and metric, that a criterion is about."""
    names = [criterion["algorithm"], *([criterion["than"]] if "than" in criterion else [])]
    metrics = [criterion["column"]] if "column" in criterion else METRICS
    return {(name, metric) for name in names for metric in metrics}


def draw(table):
    """Matrix of verdicts: the paper's experiment, and beside it the studies of a table."""
    own, curves = (storage.read_table(REFERENCE / f"{name}.csv") for name in ("verdicts", "curves"))
    own = of_experiment(own[own["reading"] == "default"], curves).assign(reading="the paper's")
    others = table.rename(columns={"study": "reading"})
    both = pd.concat([own, others], ignore_index=True)[others.columns]
    return verdicts.matrix(both, unconfirmed=list(others["reading"].drop_duplicates()))


def record(folder):
    """Take the files into reference/ and figures/."""
    results = Path(folder, "results/environments")
    made = [table for table in TABLES if table.target == "environments"]
    checks.write_reference(REFERENCE, results, made)
    shutil.copytree(results / "figures", ROOT / "figures", dirs_exist_ok=True)


if __name__ == "__main__":
    with validation.one_line("error", (OSError, ValueError)):
        studies = [validation.read(path)["study"] for path in sys.argv[1:]]
        collected = collect(ROOT, studies)
        record(ROOT)
    print(pd.crosstab(collected["study"], collected["verdict"]).to_string())
