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

from pgpd_hf import storage

TEMPLATES = Path(__file__).parents[1] / "templates"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="notebook with a cell of parameters")
    parser.add_argument("--parameters", required=True, help="their values, as JSON")
    parser.add_argument("--log", required=True, help="notebook to write while it runs")
    parser.add_argument("--notebook", required=True, help="notebook to write when it has succeeded")
    parser.add_argument("--page", required=True, help="HTML file to write")
    arguments = parser.parse_args()

    papermill.execute_notebook(
        arguments.source, arguments.log, json.loads(arguments.parameters), progress_bar=False
    )
    exporter = HTMLExporter(template_name="page", extra_template_basedirs=[str(TEMPLATES)])
    page, _ = exporter.from_filename(arguments.log)
    with storage.replacing(arguments.page) as partial:
        partial.write_text(page, encoding="utf-8")
    with storage.replacing(arguments.notebook) as partial:
        shutil.copy(arguments.log, partial)


if __name__ == "__main__":
    main()
