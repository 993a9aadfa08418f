"""Make the tables of an analysis that has no notebook."""

import importlib
from pathlib import Path

import pandas as pd

from pgpd_hf.support import storage

with storage.job(snakemake):
    runs = pd.concat(map(storage.read_table, snakemake.input.runs), ignore_index=True)
    analysis = importlib.import_module(f"pgpd_hf.analyses.{snakemake.params.analysis}")
    made = analysis.tabulate(runs)
    for path in snakemake.output:
        storage.write_table(path, made[Path(path).stem])
