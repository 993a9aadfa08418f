"""Evidence from the files of a study."""

from pathlib import Path

from pgpd_hf import environments
from pgpd_hf.core.cmdp import CMDP
from replication.files import storage
from replication.statements.evidence import COLUMNS, Evidence, Member


def load_evidence(traces, look, environment, optimum, tables, groups):
    """Evidence of a study or of a reading (units: seeds), or of groups of instances (the units)."""
    runs = storage.read_traces(traces)
    if groups:
        return Evidence(list(_members(runs, groups)), unit="instance")
    cmdp, optimum = CMDP.load(environment), storage.read_json(optimum)
    return Evidence(
        [Member.on(cmdp, optimum["multiplier"], as_read(runs, look, optimum))],
        tables={Path(path).stem: storage.read_table(path) for path in tables},
        discount=cmdp.discount,
    )


def as_read(traces, look, optimum):
    """Traces as a reading looks at them (:data:`replication.study.readings.LOOK`)."""
    traces, averages = traces.copy(), [f"mean_{column}" for column in COLUMNS]
    if look["optimum"] == "unconstrained":
        shift = optimum["unconstrained"]["reward_value"] - optimum["reward_value"]
        traces[["optimality_gap", "mean_optimality_gap"]] += shift
    if look["curve"] == "average":
        traces[[*COLUMNS]] = traces[averages]
    if look["violation"] == "positive":
        columns = ["constraint_violation", "mean_constraint_violation"]
        traces[columns] = traces[columns].clip(lower=0)
    return traces


def _members(traces, groups):
    """Runs on each instance of all groups, whose environments' options are given by group."""
    for group, options in groups.items():
        for instance, runs in traces[traces["group"] == group].groupby("instance"):
            cmdp = environments.make({**options, "instance": int(instance)})
            multiplier = runs["optimal_multiplier"].iloc[0]
            yield Member.on(cmdp, multiplier, runs, instance=instance, group=group)
