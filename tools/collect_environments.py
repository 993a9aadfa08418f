"""Put the verdicts of the studies of environments into one table, and draw them as a matrix.

The column of the default study is that of reference/verdicts.csv, with hundreds of seeds.
"""

from pathlib import Path

import pandas as pd

from pgpd_hf.claims import report
from pgpd_hf.figures import panels, style, verdicts
from pgpd_hf.runs import METRICS
from pgpd_hf.support import storage, validation

ROOT = Path(__file__).resolve().parents[1]
TARGETS = ["figure", "policies"]  # of the workflow, for each study
COLUMNS = ["study", "claim", "source", "statement", "kind", "verdict", "estimate", "low", "high"]
COLUMNS += ["moved", "why"]
NAMES = {  # of studies, where readers know their environments by another one
    "cliff-walking": "CliffWalking",
    "ding": "Ding et al.",
    "frozen-lake": "FrozenLake",
    "media-streaming": "media streaming",
}
NOTE = "Not confirmed: fewer seeds, and not repeated on fresh ones."


def collect(folder):
    """Write table and matrix of the studies of config/environments, which have been run.

    Parameters
    ----------
    folder : pathlib.Path
        Folder of the project. The files are in its results/environments.

    Returns
    -------
    pandas.DataFrame
        Columns :data:`COLUMNS`, a row per study and statement of the experiment. `moved` is false
        if a panel of Figure 1 that the statement is about hardly moves, as the page of the figure
        says then, and `why` is that of the verdict.
    """
    tables, results = [], folder / "results"
    for path in sorted(folder.glob("config/environments/*.yaml")):
        name = validation.read(path)["study"]
        curves = storage.read_table(results / name / "aggregate.parquet")
        found = of_experiment(storage.read_table(results / name / "claims.csv"), curves)
        tables.append(found.assign(study=name))
    table = pd.concat(tables, ignore_index=True)[COLUMNS]
    storage.write_table(results / "environments/environments.csv", table)
    style.plt.switch_backend("agg")  # no windows
    style.use_style()
    style.save(draw(table), results / "environments/figures", "environments")
    return table


def of_experiment(verdicts, curves):
    """Rows about the experiment, with `moved`: false if a panel that one is about hardly moves."""
    found, still = report.of_experiment(verdicts), set(panels.flat(curves))
    claims = validation.read_yaml(ROOT / "config/claims.yaml")["claims"]
    moved = [not still & about(claims[name]["criterion"]) for name in found["claim"]]
    return found.assign(moved=moved)


def about(criterion):
    """Panels of Figure 1, by algorithm and metric, that a criterion is about."""
    names = [criterion["algorithm"], *([criterion["than"]] if "than" in criterion else [])]
    metrics = [criterion["column"]] if "column" in criterion else METRICS
    return {(name, metric) for name in names for metric in metrics}


def draw(table):
    """Matrix of verdicts: the default study, and beside it the studies of a table."""
    own, curves = (
        storage.read_table(ROOT / f"reference/{name}.csv") for name in ("verdicts", "curves")
    )
    own = of_experiment(own[own["reading"] == "default"], curves).assign(reading="default")
    others = table.rename(columns={"study": "reading"}).replace({"reading": NAMES})
    both = pd.concat([own, others], ignore_index=True)[others.columns]
    brackets = {"not confirmed": list(others["reading"].drop_duplicates())}
    return verdicts.matrix(both, brackets=brackets, note=NOTE)


if __name__ == "__main__":
    with validation.one_line("error", (OSError, ValueError)):
        collected = collect(ROOT)
    print(pd.crosstab(collected["study"], collected["verdict"]).to_string())
