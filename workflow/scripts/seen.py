"""Bounds of NPGPD-HF that are computed from its runs, over T."""

from pgpd_hf.algorithms import Setting
from pgpd_hf.core import optima
from pgpd_hf.core.cmdp import CMDP
from replication.files import storage
from replication.theory import seen

with storage.job(snakemake):
    cmdp, corrected = CMDP.load(snakemake.input.environment), snakemake.params.corrected
    given = dict(snakemake.params.setting)
    evaluators, seeds = given.pop("evaluators"), range(corrected["seeds"])
    setting = Setting(evaluators=None, iterations=1, **given)
    optimum, plan = optima.solve(cmdp), corrected["seen"]
    table = seen.over_lengths(cmdp, optimum, setting, evaluators, plan, seeds)
    storage.write_table(snakemake.output[0], table)
