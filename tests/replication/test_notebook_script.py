"""Notebooks run as they do here, whatever a user has told Jupyter, IPython and Matplotlib."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[2]
CELL = """\
import sys
from pathlib import Path
import matplotlib
fonts = len([*Path(matplotlib.get_cachedir()).glob("fontlist*")])
import matplotlib.pyplot as plt
import pandas as pd
print(sys.executable, plt.rcParams["lines.linewidth"], fonts, "list of fonts")
plt.plot([0, 1])
plt.show()
pd.DataFrame({"a": [1]})
"""
SCRIPT = """\
import os, runpy, sys
from types import SimpleNamespace
sys.path.insert(0, os.path.dirname(sys.argv[1]))  # as Snakemake does
log = type("Log", (list,), {"notebook": "executed.ipynb"})(["job.log"])
files = type("Files", (list,), {"notebook": "page.ipynb"})(["page.ipynb"])
job = SimpleNamespace(
    input=files,
    log=log,
    params=type("Params", (dict,), {"parameters": {}})(),
    config={"study": "paper"},
    output=SimpleNamespace(page="page.html", notebook="made.ipynb"),
)
runpy.run_path(sys.argv[1], init_globals={"snakemake": job})
"""


def test_settings_at_home_do_not_reach_notebooks(tmp_path):
    (tmp_path / "workflow").symlink_to(ROOT / "workflow")
    cells = [nbformat.v4.new_code_cell(CELL)]
    kernel = {"display_name": "another", "language": "python", "name": "python3"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, tmp_path / "page.ipynb")
    profile = tmp_path / "home/.ipython/profile_default"
    profile.mkdir(parents=True)
    (profile / "ipython_config.py").write_text(
        "get_config().DisplayFormatter.active_types = ['text/plain']"
    )
    (profile / "startup").mkdir()
    (profile / "startup/first.py").write_text("raise SystemExit(1)")
    (tmp_path / "home/matplotlibrc").write_text("lines.linewidth: 7")
    (tmp_path / "home/startup.py").write_text("raise SystemExit(1)")
    spec = tmp_path / "home/kernels/python3"
    spec.mkdir(parents=True)
    (spec / "kernel.json").write_text(json.dumps(kernel | {"argv": ["/bin/false"]}))
    environment = os.environ | {
        "HOME": str(tmp_path / "home"),
        "IPYTHONDIR": str(profile.parent),
        "JUPYTER_PATH": str(spec.parents[1]),
        "MATPLOTLIBRC": str(tmp_path / "home/matplotlibrc"),
        "MPLBACKEND": "agg",
        "PYTHONSTARTUP": str(tmp_path / "home/startup.py"),
    }
    command = [sys.executable, "-c", SCRIPT, str(ROOT / "workflow/scripts/page.py")]
    code = subprocess.run(command, cwd=tmp_path, env=environment).returncode
    assert code == 0, (tmp_path / "job.log").read_text()
    made = nbformat.read(tmp_path / "made.ipynb", nbformat.NO_CONVERT)
    text, picture, table = made.cells[-1].outputs
    assert text.text == f"{sys.executable} 1.5 1 list of fonts\n"
    assert "image/png" in picture.data
    assert "text/html" in table.data
