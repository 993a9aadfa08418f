"""Judge the paper's statements by the runs of one reading, or of many random instances."""

from pathlib import Path

from pgpd_hf import claims, environments, statistics
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.support import storage, validation


def evidence_of_reading(traces, look, environment, optimum, tables):
    """Runs on one environment, whose unit is the seed, and tables of analyses about it."""
    cmdp, optimum = CMDP.load(environment), storage.read_json(optimum)
    shift = 0.0
    if look["optimum"] == "unconstrained":
        shift = optimum["unconstrained"]["reward_value"] - optimum["reward_value"]
    return claims.Evidence(
        [claims.Member.on(cmdp, optimum["multiplier"], traces, shift=shift)],
        curve=look["curve"],
        violation=look["violation"],
        tables={Path(path).stem: storage.read_table(path) for path in tables},
        discount=cmdp.discount,
    )


def evidence_of_instances(traces, groups):
    """Runs on many environments, each of which is a unit."""
    members = []
    for group, options in groups.items():
        for instance, runs in traces[traces["group"] == group].groupby("instance"):
            cmdp = environments.make({**options, "instance": int(instance)})
            multiplier = runs["optimal_multiplier"].iloc[0]
            members.append(claims.Member.on(cmdp, multiplier, runs, instance=instance, group=group))
    return claims.Evidence(members, unit="instance")


with storage.job(snakemake):
    source, params = snakemake.input, snakemake.params
    schema = validation.read_yaml(source.schema)
    statements = claims.load_claims(source.claims, schema, source.own)
    traces = statistics.read_traces(source.traces)
    if params.groups:
        evidence = evidence_of_instances(traces, params.groups)
    else:
        evidence = evidence_of_reading(
            traces, params.look, source.environment, source.optimum, source.tables
        )
    storage.write_table(snakemake.output[0], claims.judge(statements, evidence))
