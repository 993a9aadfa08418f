"""Run a notebook with parameters, and write it and its page.

It is run into its log and copied from there when it has succeeded: of a failed one the log shows
how far it came, and no output pretends to be a result.
"""

from pathlib import Path

import papermill
from nbconvert import HTMLExporter

from pgpd_hf.support import storage

with storage.job(snakemake):
    source, executed = snakemake.input.code[0], snakemake.log.notebook
    try:
        papermill.execute_notebook(
            source, executed, snakemake.params.parameters, progress_bar=False
        )
    except papermill.PapermillExecutionError as error:
        if error.ename != "OSError":
            raise
        # Of a file that it can neither read nor write, one line is said.
        raise OSError(error.evalue) from None
    exporter = HTMLExporter(template_name="page", extra_template_basedirs=["workflow/templates"])
    page, _ = exporter.from_filename(executed)
    storage.write_text(snakemake.output.page, page)
    storage.write_text(snakemake.output.notebook, Path(executed).read_text(encoding="utf-8"))
