"""Run a notebook with parameters, and write it and its page, or else the end of its error.

The kernel is this interpreter, without settings of the user and without modules from the working
directory. PGPD_HF_KERNEL_SECONDS is how long it may take to start, by default 300.
"""

import argparse
import json
import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import papermill
from nbconvert import HTMLExporter
from nbconvert.preprocessors import TagRemovePreprocessor

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("notebook")
parser.add_argument("--parameters", nargs="*", default=[], help="name=value")
parser.add_argument("--executed", required=True, help="notebook that is written")
parser.add_argument("--page", required=True, help="HTML file that is written")
options = parser.parse_args()

COMMAND = [sys.executable, "-I", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
COMMAND += ["--InteractiveShellApp.ignore_cwd=True", "--log-level=CRITICAL"]
KERNEL = {"argv": COMMAND, "display_name": "Python 3", "language": "python"}

with TemporaryDirectory() as folder:
    Path(folder, "kernels/python3").mkdir(parents=True)
    Path(folder, "kernels/python3/kernel.json").write_text(json.dumps(KERNEL))
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_PATH"):
        os.environ[name] = folder
    try:
        notebook = papermill.execute_notebook(
            options.notebook,
            None,
            dict(parameter.split("=", 1) for parameter in options.parameters),
            kernel_name="python3",
            progress_bar=False,
            start_timeout=float(os.environ.get("PGPD_HF_KERNEL_SECONDS", "300")),
        )
    except papermill.PapermillExecutionError as error:
        text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback))
        sys.exit("\n".join(text.splitlines()[-20:]))
# Pictures keep the texts that stand for them, which nbconvert's own template leaves out.
TEMPLATE = """{%- extends "lab/index.html.j2" -%}
{%- block data_png -%}
{%- set text = output | get_metadata("alt", "image/png") or cell.metadata.get("alt", "") -%}
{{ super() | replace("<img ", '<img alt="%s" ' | format(text | escape), 1) }}
{%- endblock -%}
"""
exporter = HTMLExporter(
    raw_template=TEMPLATE, exclude_input_prompt=True, exclude_output_prompt=True
)
exporter.register_preprocessor(
    TagRemovePreprocessor(remove_cell_tags={"parameters", "injected-parameters"}), enabled=True
)
resources = {"metadata": {"name": Path(options.notebook).stem}}
page, _ = exporter.from_notebook_node(notebook, resources)
Path(options.page).write_text(page, encoding="utf-8")
nbformat.write(notebook, options.executed)
