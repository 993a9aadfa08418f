"""Try the library where it has just been installed, as on a system that tests do not run on."""

import tempfile
from pathlib import Path

import pgpd_hf

options = {"evaluators": 16, "iterations": 50}
with tempfile.TemporaryDirectory() as folder:
    pgpd_hf.random_cmdp().save(Path(folder, "cmdp.npz"))
    cmdp = pgpd_hf.CMDP.load(Path(folder, "cmdp.npz"))
    for name in ("npgpd_hf", "zpgpd_hf"):
        steps = pgpd_hf.choose_steps(cmdp, name, seeds=2, threads=2, **options)
        trace, policies = pgpd_hf.run(
            cmdp, name, seeds=range(2), threads=2, return_policies=True, **options, **steps
        )
        print(trace[["reward_value", "utility_value", "multiplier"]].iloc[-1])
    print(pgpd_hf.certify(cmdp, policies[0], answers=1000, seed=0))
    pgpd_hf.plot_policy(cmdp, policies[0]).savefig(Path(folder, "policy.pdf"))
