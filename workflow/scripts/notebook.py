"""Run a notebook with parameters, and write it and its page.

It is run into its log and copied from there when it has succeeded: of a failed one the log shows
how far it came, and no output pretends to be a result.
"""

import argparse
import json
import shutil
from pathlib import Path

import papermill
from nbconvert import HTMLExporter

from pgpd_hf.support import storage

TEMPLATES = Path(__file__).parents[1] / "templates"


def execute(source, log, parameters):
    """Run a notebook; of a file that it can neither read nor write, say no more than a line."""
    try:
        papermill.execute_notebook(source, log, parameters, progress_bar=False)
    except papermill.PapermillExecutionError as error:
        if error.ename not in ("DamagedFile", "OSError"):
            raise
        raise OSError(error.evalue) from None


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="notebook with a cell of parameters")
    parser.add_argument("--parameters", required=True, help="their values, as JSON")
    parser.add_argument("--log", required=True, help="notebook to write while it runs")
    parser.add_argument("--notebook", required=True, help="notebook to write when it has succeeded")
    parser.add_argument("--page", required=True, help="HTML file to write")
    arguments = parser.parse_args()

    execute(arguments.source, arguments.log, json.loads(arguments.parameters))
    exporter = HTMLExporter(template_name="page", extra_template_basedirs=[str(TEMPLATES)])
    page, _ = exporter.from_filename(arguments.log)
    with storage.recording(arguments.page) as partial:
        partial.write_text(page, encoding="utf-8")
    with storage.recording(arguments.notebook) as partial:
        shutil.copy(arguments.log, partial)


if __name__ == "__main__":
    main()
