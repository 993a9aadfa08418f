"""Print what a study's jobs asked for beside what they used, from their benchmark files.

    python tools/compare_resources.py results/paper

Memory is that of the rule's own processes: under Slurm two Snakemakes come on top, about 600 MB.
"""

import ast
import sys
from pathlib import Path

import pandas as pd

HEAD = "| rule | jobs | minutes asked | longest | MB asked | largest |\n|---|--:|--:|--:|--:|--:|"


def compare(folder):
    """A row per rule: most that was asked for, and most that was used.

    Parameters
    ----------
    folder : path-like
        Of Snakemake's benchmark files, written with `benchmark-extended`.

    Returns
    -------
    pandas.DataFrame
        Columns rule, jobs, minutes_asked, minutes_used, mb_asked and mb_used.
    """
    rows = []
    for file in sorted(Path(folder).rglob("*.tsv")):
        used = pd.read_csv(file, sep="\t").iloc[-1]
        asked = ast.literal_eval(used["resources"])
        if "runtime" in asked:  # local rules ask for nothing but what a profile sets for all
            row = {"rule": used["rule_name"], "minutes_asked": asked["runtime"]}
            row |= {"minutes_used": used["s"] / 60, "mb_asked": asked["mem_mb"]}
            rows.append(row | {"mb_used": used["max_rss"]})
    table = pd.DataFrame(rows).groupby("rule", as_index=False)
    return pd.concat(
        [table.size().rename(columns={"size": "jobs"}), table.max().iloc[:, 1:]], axis=1
    )


def main():
    study = Path(sys.argv[1])
    try:
        table = compare(study / "benchmarks")
    except (KeyError, ValueError):
        sys.exit(f"{study}: no benchmark files that say what was asked for")
    print(HEAD)
    for row in table.itertuples():
        print(
            f"| `{row.rule}` | {row.jobs} | {row.minutes_asked:.0f} | {row.minutes_used:.2f} "
            f"| {row.mb_asked:.0f} | {row.mb_used:.0f} |"
        )


if __name__ == "__main__":
    main()
