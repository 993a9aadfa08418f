"""Run a notebook, and write it and its page.

It is run into its log and copied from there when it has succeeded: of a failed one the log shows
how far it came, and no output pretends to be a result.
"""

import argparse
import shutil
from pathlib import Path

import nbconvert
import papermill
import yaml

TEMPLATES = Path(__file__).parents[1] / "templates"


def page(notebook):
    """HTML of an executed notebook, which needs nothing from the network."""
    exporter = nbconvert.HTMLExporter(
        template_name="page", extra_template_basedirs=[str(TEMPLATES)]
    )
    return exporter.from_notebook_node(notebook)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="the notebook to run")
    for option, kind in (("-p", "YAML"), ("-r", "TEXT")):
        parser.add_argument(
            option,
            nargs=2,
            action="append",
            default=[],
            metavar=("NAME", kind),
            help=f"a parameter of the notebook, its value as {kind}",
        )
    parser.add_argument("--log", required=True, help="notebook to write while it runs")
    parser.add_argument("--notebook", required=True, help="notebook to write when it has succeeded")
    parser.add_argument("--page", required=True, help="HTML file to write")
    arguments = parser.parse_args()

    executed = papermill.execute_notebook(
        arguments.source,
        arguments.log,
        parameters={
            **{name: yaml.safe_load(value) for name, value in arguments.p},
            **dict(arguments.r),
        },
        progress_bar=False,
    )
    Path(arguments.page).write_text(page(executed), encoding="utf-8")
    shutil.copy(arguments.log, arguments.notebook)


if __name__ == "__main__":
    main()
