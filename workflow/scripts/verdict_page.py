"""Show a table of verdicts to people."""

from pgpd_hf.support import pages, storage

SHOWN = ["statement", "source", "verdict", "estimate", "low", "high", "part"]

with storage.job(snakemake):
    table = storage.read_table(snakemake.input.verdicts)
    table = table[SHOWN].rename(columns={"part": "decided by"})
    counts = table["verdict"].value_counts().rename_axis("verdict").reset_index(name="statements")
    pages.write_page(
        snakemake.output[0],
        f"The paper's statements, judged on study {snakemake.params.study}",
        {"In short": counts, "One by one": table},
    )
