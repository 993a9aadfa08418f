"""Controls: wrong data on which statements are judged as well, to see whether they fail there.

A control replaces the runs of the algorithm that a statement is about. A statement fails on it if
the verdict is "contradicted"; config/claims.yaml says on which controls it has to. A statement is
informative if it fails on at least one of these.
"""

from dataclasses import replace

import pandas as pd

from replication.statements.evidence import Evidence
from replication.statements.verdicts import judge

COLUMNS = (
    *("claim", "source", "statement", "kind", "criterion", "control", "title"),
    *("verdict", "had_to_fail", "failed", "part", "estimate", "low", "high", "units", "reason"),
)


def with_next_labels(traces):
    """Give each M the runs of the next larger M, and the largest those of the smallest."""
    traces = traces[traces["evaluators"].notna()]
    numbers = sorted(traces["evaluators"].unique())
    labels = dict(zip(numbers, [numbers[-1], *numbers[:-1]], strict=True))
    return traces.assign(evaluators=traces["evaluators"].map(labels).astype("Int64"))


def for_all_labels(run, traces):
    """One run in the place of all runs of an algorithm, with their M and seeds."""
    labels = traces[["algorithm", "evaluators", "seed"]].drop_duplicates()
    return labels.merge(run.drop(columns=labels.columns), how="cross")


def judge_controls(claims, member, wrong, titles):
    """Judge each statement on the controls, from runs by control and algorithm that are wrong."""
    found, right = [], member.traces
    for (control, algorithm), traces in wrong.items():
        about = {
            name: claim
            for name, claim in claims["claims"].items()
            if claim["criterion"].get("algorithm") == algorithm
        }
        reasons = {name: claim.get("has_to_fail", {}) for name, claim in about.items()}
        reasons = {name: it[control] for name, it in reasons.items() if control in it}
        others = right[right["algorithm"] != algorithm]
        together = pd.concat([traces[right.columns], others], ignore_index=True)
        evidence = Evidence([replace(member, traces=together)])
        table = judge({**claims, "claims": about}, evidence)
        table = table.assign(
            control=control,
            title=titles[control],
            had_to_fail=table["claim"].isin(reasons),
            failed=table["verdict"] == "contradicted",
            reason=table["claim"].map(reasons),
        )
        found.append(table[list(COLUMNS)])
    found = [table for table in found if len(table)] or [pd.DataFrame(columns=list(COLUMNS))]
    rows = pd.concat(found)
    order = list(claims["claims"])
    return rows.sort_values("claim", key=lambda it: it.map(order.index), kind="stable")


def about_the_same(controls, table):
    """Rows of controls that are about the statements of a table as they are."""
    return controls.merge(table[["claim", "criterion"]].drop_duplicates())


def informative(controls):
    """Claims that fail on at least one of the controls on which they have to."""
    return list(controls.loc[controls["had_to_fail"] & controls["failed"], "claim"].unique())


def not_informative(table, controls):
    """Claims of a table that were judged on controls, and are not informative."""
    controls = about_the_same(controls, table)
    return [it for it in controls["claim"].unique() if it not in informative(controls)]


def counted(table, controls):
    """Say how many statements are informative, and how many of these are reproduced."""
    telling = table[table["claim"].isin(informative(about_the_same(controls, table)))]
    reproduced = (telling["verdict"] == "reproduced").sum()
    return f"Of the {len(telling)} that are informative, {reproduced} are reproduced"


def scores(controls):
    """How many statements each control reproduces, and how many it was judged on, by title."""
    grouped = controls.groupby("title", sort=False)["verdict"]
    return {title: ((it == "reproduced").sum(), len(it)) for title, it in grouped}
