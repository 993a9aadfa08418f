"""Bounds of NPGPD-HF over M, N and T, and the first T at which they are not vacuous."""

from pgpd_hf.algorithms import Setting
from pgpd_hf.core import optima
from pgpd_hf.core.cmdp import CMDP
from replication.files import storage
from replication.theory import lengths

with storage.job(snakemake):
    cmdp, corrected = CMDP.load(snakemake.input.environment), snakemake.params.corrected
    given = dict(snakemake.params.setting)
    evaluators, seeds = given.pop("evaluators"), range(corrected["seeds"])
    setting = Setting(evaluators=None, iterations=1, **given)
    rounds = [part["rounds"] for part in corrected["seen"]]
    tables = lengths.lengths(
        cmdp,
        optima.solve(cmdp),
        setting,
        evaluators,
        rounds,
        corrected["iterations"],
        corrected["measured"],
        seeds,
    )
    for path, table in zip(snakemake.output, tables, strict=True):
        storage.write_table(path, table)
