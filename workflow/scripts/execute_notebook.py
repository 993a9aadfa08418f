"""Execute a notebook with parameters. Its copy and its page appear once it has succeeded."""

import argparse
import json
import shutil

import papermill
from nbconvert import HTMLExporter

from pgpd_hf import storage


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notebook", required=True, help="notebook with a cell of parameters")
    parser.add_argument("--parameters", required=True, help="their values, as JSON")
    parser.add_argument("--progress", required=True, help="notebook to write while it runs")
    parser.add_argument("--output", required=True, help="executed notebook to write")
    parser.add_argument("--page", required=True, help="the same as HTML")
    arguments = parser.parse_args()

    papermill.execute_notebook(
        arguments.notebook,
        arguments.progress,
        json.loads(arguments.parameters),
        progress_bar=False,
    )
    page, _ = HTMLExporter().from_filename(arguments.progress)
    with storage.replacing(arguments.page) as partial:
        partial.write_text(page, encoding="utf-8")
    with storage.replacing(arguments.output) as partial:
        shutil.copy(arguments.progress, partial)


if __name__ == "__main__":
    main()
