"""Run a notebook with parameters, and write it and its page.

It is run into its log and copied from there when it has succeeded: of a failed one the log shows
how far it came, and no output pretends to be a result.
"""

import shutil

import papermill
from nbconvert import HTMLExporter

from pgpd_hf.support import storage


def execute(source, log, parameters):
    """Run a notebook; of a file that it can neither read nor write, say no more than a line."""
    try:
        papermill.execute_notebook(source, log, parameters, progress_bar=False)
    except papermill.PapermillExecutionError as error:
        if error.ename not in ("DamagedFile", "OSError"):
            raise
        raise OSError(error.evalue) from None


with storage.job(snakemake):
    executed = snakemake.log.notebook
    execute(snakemake.input.code[0], executed, snakemake.params.parameters)
    exporter = HTMLExporter(template_name="page", extra_template_basedirs=["workflow/templates"])
    page, _ = exporter.from_filename(executed)
    with storage.recording(snakemake.output.page) as partial:
        partial.write_text(page, encoding="utf-8")
    with storage.recording(snakemake.output.notebook) as partial:
        shutil.copy(executed, partial)
