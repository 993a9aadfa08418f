"""A notebook that is opened by itself, in Jupyter or an editor, shows what a study has shown."""

import json
import os
from pathlib import Path

MARK = "PGPD_HF_JOB"  # set for kernels of the workflow, which gives notebooks its own parameters


def parameters(name):
    """Parameters with which a notebook was last run, the default study's if there are any.

    The folder that the results lie in, here or above, becomes the working directory, since
    parameters hold paths. In a job of the workflow nothing is done.
    """
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
    raise FileNotFoundError(f"{name}: no study has made this page yet; `make figures` makes some")
