"""Evidence from the files of a study."""

from pathlib import Path

from pgpd_hf import environments
from pgpd_hf.core.cmdp import CMDP
from replication.files import storage
from replication.statements.evidence import Evidence, Member


def load_evidence(traces, look, environment, optimum, tables, groups):
    """Evidence of a study, of a reading, or of groups of random instances.

    Parameters
    ----------
    traces : sequence of path-like
        Files of all runs.
    look : dict
        How a reading looks at its runs: :data:`replication.study.readings.LOOK`.
    environment, optimum : path-like
        Files of the environment and of its optimum, which groups do not need.
    tables : sequence of path-like
        Files of the tables of analyses.
    groups : dict
        Options of the environments by group; empty for runs on one environment.

    Returns
    -------
    Evidence
        Its units are instances if there are groups, else seeds.
    """
    runs = storage.read_traces(traces)
    if groups:
        return Evidence(list(_members(runs, groups)), unit="instance")
    cmdp, optimum = CMDP.load(environment), storage.read_json(optimum)
    shift = 0.0
    if look["optimum"] == "unconstrained":
        shift = optimum["unconstrained"]["reward_value"] - optimum["reward_value"]
    return Evidence(
        [Member.on(cmdp, optimum["multiplier"], runs, shift=shift)],
        curve=look["curve"],
        violation=look["violation"],
        tables={Path(path).stem: storage.read_table(path) for path in tables},
        discount=cmdp.discount,
    )


def _members(traces, groups):
    """Runs on each instance of all groups."""
    for group, options in groups.items():
        for instance, runs in traces[traces["group"] == group].groupby("instance"):
            cmdp = environments.make({**options, "instance": int(instance)})
            multiplier = runs["optimal_multiplier"].iloc[0]
            yield Member.on(cmdp, multiplier, runs, instance=instance, group=group)
