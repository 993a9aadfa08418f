"""Pages of notebooks, made without the workflow."""

import json
from pathlib import Path

import IPython.display

from replication.figures import style
from replication.files import notebooks

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def make_page(monkeypatch, name, **parameters):
    """Run the code of a notebook; give back what it displays, and its names at the end."""
    shown, names = [], {}
    monkeypatch.setattr(style.plt, "show", lambda: None)
    monkeypatch.setenv(notebooks.MARK, "1")
    monkeypatch.setattr(IPython.display, "display", lambda *things, **_: shown.extend(things))
    for cell in json.loads((NOTEBOOKS / f"{name}.ipynb").read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
            if "parameters" in cell["metadata"].get("tags", []):
                names |= parameters
    style.plt.close("all")
    return shown, names


def texts(shown):
    """The texts among what a page displays."""
    return [it.data for it in shown if isinstance(it, IPython.display.Markdown)]
