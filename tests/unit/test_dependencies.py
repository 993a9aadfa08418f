import json
import subprocess
import sys
from pathlib import Path

import pytest

import pgpd_hf
from pgpd_hf.support import dependencies

PACKAGE = Path(pgpd_hf.__file__).parent
MODULES = [
    path.relative_to(PACKAGE).as_posix()
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name != "__init__.py"
]
# What Python has loaded after importing a module, as files of the package.
LOADED = """
import importlib, sys
importlib.import_module(sys.argv[1])
for name, module in sorted(sys.modules.items()):
    if name.startswith("pgpd_hf."):
        print(module.__file__)
"""


@pytest.mark.parametrize(
    "module", ["support/storage", "figures/panels", "theory/table", "analyses/instances"]
)
def test_sources_are_among_what_python_loads(module):
    """Python loads what the package's and its folders' __init__ import besides."""
    name = "pgpd_hf." + module.replace("/", ".")
    command = [sys.executable, "-c", LOADED, name]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    loaded = {Path(line).relative_to(PACKAGE) for line in output.splitlines()}
    found = dependencies.sources(f"{module}.py")
    assert Path(f"{module}.py") in found
    assert set(found) <= loaded


def test_sources_follow_imports_and_leave_out_what_is_not_used():
    found = {path.as_posix() for path in dependencies.sources("figures/panels.py")}
    assert {"figures/panels.py", "figures/__init__.py", "support/storage.py"} <= found
    assert {"algorithms/__init__.py", "algorithms/base.py"} <= found
    assert not found & {"cases.py", "sweeps.py", "theory/table.py", "study.py"}
    assert "claims/verdicts.py" in map(Path.as_posix, dependencies.sources("claims/report.py"))
    once, twice = (dependencies.sources(*["core/links.py"] * times) for times in (1, 2))
    assert once == twice


@pytest.mark.parametrize("module", MODULES)
def test_sources_of_every_module_leave_out_the_list_of_names_of_the_package(module):
    found = dependencies.sources(module)
    assert list(found) == sorted(set(found))
    assert Path("__init__.py") not in found


def test_scripts_and_notebooks_are_read_and_do_not_count_themselves(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from pgpd_hf.support import crate\n")
    found = dependencies.sources(str(script))
    assert found == dependencies.sources("support/crate.py")
    cell = {"cell_type": "code", "source": ["from pgpd_hf.core import links\n", "links.LINKS"]}
    text = {"cell_type": "markdown", "source": ["from pgpd_hf import runs"]}
    notebook = tmp_path / "notebook.ipynb"
    notebook.write_text(json.dumps({"cells": [cell, text]}))
    assert dependencies.sources(str(notebook)) == dependencies.sources("core/links.py")


def test_file_that_does_not_exist_is_named():
    with pytest.raises(FileNotFoundError, match=r"figures/panel\.py"):
        dependencies.sources("figures/panel.py")


def test_imports_are_found_wherever_a_statement_may_stand(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import pgpd_hf.statistics\n"
        "def f():\n    from pgpd_hf import study\n"
        "class C:\n    def g(self):\n        import pgpd_hf.runs\n"
        "if True:\n    pass\nelif 1:\n    from pgpd_hf import sweeps\n"
        "else:\n    from pgpd_hf import cases\n"
        "for _ in []:\n    pass\nelse:\n    from pgpd_hf import summaries\n"
        "try:\n    from pgpd_hf.core import normals\n"
        "except ValueError:\n    from pgpd_hf.core import links\n"
        "else:\n    from pgpd_hf.core import policies\n"
        "finally:\n    from pgpd_hf import resources\n"
        "with f():\n    from pgpd_hf.core import optima\n"
        "match 1:\n    case 1:\n        from pgpd_hf.core import streams\n"
    )
    found = {path.as_posix() for path in dependencies.sources(str(script))}
    assert found >= {
        *("statistics.py", "study.py", "runs.py", "sweeps.py", "cases.py", "summaries.py"),
        *("core/normals.py", "core/links.py", "core/policies.py", "resources.py"),
        *("core/optima.py", "core/streams.py"),
    }
