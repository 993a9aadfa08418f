import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import replication
from replication.files import dependencies

SOURCES = Path(replication.__file__).parents[1]
MODULES = [
    path.relative_to(SOURCES).as_posix()
    for package in ("pgpd_hf", "replication")
    for path in sorted((SOURCES / package).rglob("*.py"))
    if path.name != "__init__.py"
]
# What Python has loaded after importing a module, as files of the packages.
LOADED = """
import importlib, sys
importlib.import_module(sys.argv[1])
for name, module in sorted(sys.modules.items()):
    if name.startswith(("pgpd_hf.", "replication.")):
        print(module.__file__)
"""


@pytest.mark.parametrize(
    "module",
    [f"replication/{name}" for name in "files/storage figures/panels theory/table".split()],
)
def test_sources_are_among_what_python_loads(module):
    """Python loads what the packages' and their folders' __init__ import besides."""
    name = module.replace("/", ".")
    command = [sys.executable, "-c", LOADED, name]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    loaded = {Path(line).relative_to(SOURCES) for line in output.splitlines()}
    found = dependencies.sources(f"{module}.py")
    assert Path(f"{module}.py") in found
    assert set(found) <= loaded


def test_sources_follow_imports_and_leave_out_what_is_not_used():
    found = {path.as_posix() for path in dependencies.sources("replication/figures/panels.py")}
    own = {"figures/panels.py", "figures/__init__.py", "files/storage.py"}
    assert {f"replication/{name}" for name in own} <= found
    assert {"pgpd_hf/algorithms/__init__.py", "pgpd_hf/algorithms/base.py"} <= found
    others = {"study/cases.py", "study/sweeps.py", "theory/table.py", "study/admission.py"}
    assert not found & {f"replication/{name}" for name in others}
    power = dependencies.sources("replication/statements/power.py")
    assert "replication/statements/criteria.py" in map(Path.as_posix, power)
    once, twice = (dependencies.sources(*["pgpd_hf/core/links.py"] * times) for times in (1, 2))
    assert once == twice


@pytest.mark.parametrize("module", MODULES)
def test_sources_of_every_module_leave_out_the_lists_of_names_of_the_packages(module):
    found = dependencies.sources(module)
    assert list(found) == sorted(set(found))
    assert not {*found} & {Path("pgpd_hf/__init__.py"), Path("replication/__init__.py")}


def test_scripts_and_notebooks_are_read_and_do_not_count_themselves(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from replication.files import crate\n")
    found = dependencies.sources(str(script))
    assert found == dependencies.sources("replication/files/crate.py")
    cell = {"cell_type": "code", "source": ["from pgpd_hf.core import links\n", "links.LINKS"]}
    text = {"cell_type": "markdown", "source": ["from pgpd_hf import runs"]}
    notebook = tmp_path / "notebook.ipynb"
    notebook.write_text(json.dumps({"cells": [cell, text]}))
    assert dependencies.sources(str(notebook)) == dependencies.sources("pgpd_hf/core/links.py")


def test_file_that_does_not_exist_is_named():
    with pytest.raises(FileNotFoundError, match=r"figures/panel\.py"):
        dependencies.sources("replication/figures/panel.py")


def test_imports_are_found_wherever_a_statement_may_stand(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import pgpd_hf.statistics\n"
        "def f():\n    from replication.study import admission\n"
        "class C:\n    def g(self):\n        import pgpd_hf.runs\n"
        "if True:\n    pass\nelif 1:\n    from replication.study import sweeps\n"
        "else:\n    from replication.study import cases\n"
        "for _ in []:\n    pass\nelse:\n    from replication.study import summaries\n"
        "try:\n    from pgpd_hf.core import normals\n"
        "except ValueError:\n    from pgpd_hf.core import links\n"
        "else:\n    from pgpd_hf.core import policies\n"
        "finally:\n    from replication.study import resources\n"
        "with f():\n    from pgpd_hf.core import optima\n"
        "match 1:\n    case 1:\n        from pgpd_hf.core import streams\n"
    )
    found = {path.as_posix() for path in dependencies.sources(str(script))}
    assert found >= {
        *(f"pgpd_hf/{name}.py" for name in ("statistics", "runs")),
        *(f"pgpd_hf/core/{name}.py" for name in "normals links policies optima streams".split()),
        *(f"replication/study/{name}.py" for name in ("admission", "sweeps", "summaries")),
        *(f"replication/study/{name}.py" for name in ("cases", "resources")),
    }


def test_new_file_makes_nothing_stale(tmp_path, monkeypatch):
    copy = shutil.copytree(dependencies._SOURCES, tmp_path / "src")
    monkeypatch.setattr(dependencies, "_SOURCES", copy)
    found = []
    for _ in range(2):
        dependencies.sources.cache_clear()
        dependencies._imported.cache_clear()
        found.append([dependencies.sources(module) for module in MODULES])
        for folder in {path.parent for path in copy.rglob("*.py")}:
            (folder / "new.py").write_text("from pgpd_hf import runs\n")
    dependencies.sources.cache_clear()
    dependencies._imported.cache_clear()
    assert found[0] == found[1]
