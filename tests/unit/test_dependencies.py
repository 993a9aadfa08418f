import subprocess
import sys
from pathlib import Path

import pytest

import pgpd_hf
from pgpd_hf.support import dependencies

PACKAGE = Path(pgpd_hf.__file__).parent
MODULES = [
    path.relative_to(PACKAGE).with_suffix("").as_posix()
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


@pytest.mark.parametrize("module", ["storage", "plotting", "theory/checks", "instances"])
def test_sources_are_among_what_python_loads(module):
    """Python loads what the package's and its folders' __init__ import besides."""
    name = "pgpd_hf." + module.replace("/", ".")
    command = [sys.executable, "-c", LOADED, name]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    loaded = {Path(line).relative_to(PACKAGE) for line in output.splitlines()}
    found = dependencies.sources(module)
    assert Path(f"{module}.py") in found
    assert set(found) <= loaded


def test_sources_follow_imports_and_leave_out_what_is_not_used():
    found = {path.as_posix() for path in dependencies.sources("plotting")}
    assert {"plotting.py", "storage.py", "algorithms/__init__.py", "algorithms/base.py"} <= found
    assert not found & {"runs.py", "sweeps.py", "theory/checks.py", "calibration.py"}
    assert [path.as_posix() for path in dependencies.sources("links")] == sorted(
        path.as_posix() for path in dependencies.sources("links", "links")
    )


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_sources_without_the_package_s_list_of_names(module):
    found = dependencies.sources(module)
    assert list(found) == sorted(set(found))
    assert Path("__init__.py") not in found


def test_module_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match=r"ploting\.py: no such file of the package"):
        dependencies.sources("ploting")
