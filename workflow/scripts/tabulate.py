"""Make the tables of an analysis that has no notebook."""

import importlib
from pathlib import Path

import pandas as pd

from pgpd_hf.support import storage

with storage.job(snakemake):
    # Without runs if the study's environment rules them all out.
    tables = [storage.read_table(path) for path in snakemake.input.runs]
    runs = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    analysis = importlib.import_module(f"pgpd_hf.analyses.{snakemake.params.analysis}")
    made = analysis.tabulate(runs)
    for path in snakemake.output:
        storage.write_table(path, made[Path(path).stem])
