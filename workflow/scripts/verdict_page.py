"""Show a table of verdicts to people."""

import pandas as pd

from pgpd_hf.claims import report
from pgpd_hf.support import pages, storage

SHOWN = ["statement", "source", "kind", "verdict", "estimate", "low", "high", "part", "why"]

with storage.job(snakemake):
    table = storage.read_table(snakemake.input.verdicts)
    errors = pd.DataFrame({"how many may be wrong": [report.expected_errors(table)]})
    table = table[SHOWN].rename(columns={"part": "decided by"})
    counts = table["verdict"].value_counts().rename_axis("verdict").reset_index(name="statements")
    pages.write_page(
        snakemake.output[0],
        f"The paper's statements, judged on study {snakemake.params.study}",
        {"In short": counts, "As a whole": errors, "One by one": table},
    )
