"""Make the environment of a study, and solve it in every way."""

from pgpd_hf import environments
from pgpd_hf.core import optima
from replication.files import storage


def describe(optimum):
    """An optimum's numbers, without its policy."""
    names = ("method", "reward_value", "utility_value", "multiplier")
    return {name: getattr(optimum, name) for name in names}


with storage.job(snakemake):
    cmdp = environments.make(snakemake.params.options)
    optimum, check = (optima.solve(cmdp, method) for method in optima.METHODS)
    content = {
        **describe(optimum),
        "slack": optimum.slack,
        "binding": optimum.multiplier > 0,
        "check": describe(check),
        "unconstrained": describe(optima.solve_unconstrained(cmdp)),
        "policy": optimum.policy.tolist(),
    }
    with storage.recording(snakemake.output.environment) as partial:
        cmdp.save(partial)
    storage.write(snakemake.output.optimum, content)
