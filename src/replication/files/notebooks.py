"""Notebooks: how they are run and become pages, and what one shows that is opened by itself."""

import importlib
import json
import os
import re
from pathlib import Path

MARK = "PGPD_HF_JOB"  # set for kernels of the workflow, which gives notebooks its own parameters


def use_own_settings(folder):
    """Let kernels be this interpreter as it is, whatever Jupyter and the like are told at home."""
    from ipykernel.kernelspec import write_kernel_spec  # slow to import, and needed here only

    for name in [*os.environ]:
        if name.startswith(("IPYTHON", "JUPYTER", "MPLBACKEND", "PYTHONSTARTUP")):
            del os.environ[name]
    places = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_PATH")
    os.environ |= {**dict.fromkeys(places, folder), "MATPLOTLIBRC": os.devnull, MARK: "1"}
    # It lists the fonts of a new home. If a kernel did that, its page would tell of it.
    importlib.import_module("matplotlib.font_manager")
    quiet = ["--log-level=ERROR"]  # kernels warn that they talk to this machine by TCP
    write_kernel_spec(f"{folder}/kernels/python3", extra_arguments=quiet)


def as_page(executed, templates):
    """HTML of a notebook that has run, which is a file."""
    from nbconvert import HTMLExporter  # likewise

    exporter = HTMLExporter(
        template_name="page",
        extra_template_basedirs=[str(templates)],
        exclude_input_prompt=True,
        exclude_output_prompt=True,
    )
    page, _ = exporter.from_filename(executed)
    # The empty corner of a table is the head of nothing.
    return re.sub(r"<th\b([^>]*)>(?:\s|&nbsp;)*</th>", r"<td\1></td>", page)


def parameters(name):
    """Parameters with which a notebook was last run, the default study's if there are any."""
    # The folder that the results lie in, here or above, becomes the working directory, since
    # parameters hold paths. In a job of the workflow nothing is done.
    if MARK in os.environ:
        return {}
    here = Path.cwd()
    for folder in (here, *here.parents):
        found = folder.glob(f"results/*/notebooks/{name}.ipynb")
        order = {path: (path.parts[-3] == "paper", path.stat().st_mtime) for path in found}
        if order:
            last = max(order, key=order.get)
            os.chdir(folder)
            metadata = json.loads(last.read_text(encoding="utf-8"))["metadata"]
            return metadata["papermill"]["parameters"]
    raise FileNotFoundError(
        f"{name}: no study has made this page yet; in the project's folder, "
        f"`.venv/bin/snakemake results/paper/notebooks/{name}.html` makes it"
    )
