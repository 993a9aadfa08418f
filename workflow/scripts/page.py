"""Run a notebook with parameters, and write it and its page.

It is run into its log and copied from there when it has succeeded: of a failed one the log shows
how far it came, and no output pretends to be a result.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import papermill

from replication.files import notebooks, storage

# What a kernel runs first, so that it tells after each cell what it has loaded.
TELL_CODE = """
from pathlib import Path
from replication.files import storage
get_ipython().events.register(
    "post_run_cell", lambda result: Path({!r}).write_text("\\n".join(storage.loaded_code()))
)
"""


def tell_code(folder):
    """Let kernels with these settings say which code they have loaded."""
    start = Path(folder, "profile_default/startup/code.py")
    start.parent.mkdir(parents=True)
    start.write_text(TELL_CODE.format(str(Path(folder, "code"))), encoding="utf-8")


def name_study(path, study):
    """Put the name of a study into title and heading of its notebook, unless it is the paper's."""
    if study == "paper":
        return
    notebook = nbformat.read(path, nbformat.NO_CONVERT)
    heading, line_end, rest = notebook.cells[0].source.partition("\n")
    notebook.cells[0].source = f"{heading} – study {study}{line_end}{rest}"
    notebook.metadata["title"] = notebook.cells[0].source.partition("\n")[0].removeprefix("# ")
    nbformat.write(notebook, path)


with storage.job(snakemake), TemporaryDirectory(ignore_cleanup_errors=True) as settings:
    notebooks.use_own_settings(settings)
    tell_code(settings)
    source, executed = snakemake.input.notebook, snakemake.log.notebook
    try:
        # Papermill writes lists as lists, but tuples as text.
        parameters = json.loads(json.dumps(snakemake.params.parameters))
        options = {"kernel_name": "python3", "progress_bar": False}
        papermill.execute_notebook(source, executed, parameters, **options)
    except papermill.PapermillExecutionError as error:
        if error.ename != "OSError":
            raise
        # A file that cannot be read or written is one line in the log, not a traceback.
        raise OSError(error.evalue) from None
    storage.note_code(Path(settings, "code").read_text(encoding="utf-8").splitlines())
    name_study(executed, snakemake.config["study"])
    page = notebooks.as_page(executed, Path(__file__).parents[1] / "templates")
    storage.write(snakemake.output.page, page)
    storage.write(snakemake.output.notebook, Path(executed).read_text(encoding="utf-8"))
