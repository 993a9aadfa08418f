"""Notebooks that need no study, for readers who learn or teach: they run when the site is made."""

import os
import re
from tempfile import TemporaryDirectory

import latex2mathml.converter
import nbformat
import papermill

from replication.files import notebooks

LESSONS = {"tutorial": "A first quarter of an hour", "lesson": "Learning from votes, step by step"}
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", re.DOTALL)


def as_mathml(found):
    """A formula as browsers show it, without a script; a wide one scrolls, also by keyboard."""
    if found[2]:
        return latex2mathml.converter.convert(found[2])
    formula = latex2mathml.converter.convert(found[1], display="block")
    return f'<span tabindex="0" style="display: block; overflow-x: auto">{formula}</span>'


def page(path, templates):
    """HTML of a notebook, which is run for it."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        notebooks.use_own_settings(folder)
        executed = os.path.join(folder, path.name)
        papermill.execute_notebook(path, executed, kernel_name="python3", progress_bar=False)
        notebook = nbformat.read(executed, nbformat.NO_CONVERT)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = FORMULA.sub(as_mathml, cell.source)
        nbformat.write(notebook, executed)
        text = notebooks.as_page(executed, templates)
    return re.sub(r'href="(\w+)\.ipynb"', r'href="\1.html"', text)


def find(root):
    """Lessons that this copy has, with their titles."""
    places = {root / f"notebooks/{name}.ipynb": title for name, title in LESSONS.items()}
    return {path: title for path, title in places.items() if path.exists()}
