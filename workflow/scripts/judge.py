"""Judge the paper's statements by the runs of one reading, or of many random instances."""

from pgpd_hf import claims, statistics
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.support import storage, validation


def evidence_of_reading(traces, look, environment, optimum, rates):
    """Runs on one environment, whose unit is the seed."""
    cmdp, optimum = CMDP.load(environment), storage.read_json(optimum)
    shift = 0.0
    if look["optimum"] == "unconstrained":
        shift = optimum["unconstrained"]["reward_value"] - optimum["reward_value"]
    member = claims.Member(traces, cmdp.value_bound, cmdp.states * cmdp.actions, shift)
    return claims.Evidence([member], curve=look["curve"], violation=look["violation"], rates=rates)


def evidence_of_instances(traces, groups):
    """Runs on many environments, each of which is a unit."""
    members = []
    for group in groups:
        for instance, runs in traces[traces["group"] == group].groupby("instance"):
            size = runs.iloc[0]
            pairs = size["states"] * size["actions"]
            members.append(
                claims.Member(runs, size["value_bound"], pairs, instance=instance, group=group)
            )
    return claims.Evidence(members, unit="instance")


with storage.job(snakemake):
    source, params = snakemake.input, snakemake.params
    statements = claims.load_claims(source.claims, validation.read_yaml(source.schema))
    traces = statistics.read_traces(source.traces)
    if params.groups:
        evidence = evidence_of_instances(traces, params.groups)
    else:
        types = {"evaluators": "Int64"}
        rates = storage.read_table(source.rates, types) if source.rates else None
        evidence = evidence_of_reading(
            traces, params.look, source.environment, source.optimum, rates
        )
    storage.write_table(snakemake.output[0], claims.judge(statements, evidence))
