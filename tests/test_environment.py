"""The files that describe the environment agree, and nothing in them belongs to one machine."""

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent

LOCK = (ROOT / "requirements.lock").read_text()
# One logical line for each package: the requirement, then its hashes.
LOCK_ENTRIES = [
    line.split(" --hash=")
    for line in re.sub(r"\s*\\\n\s*", " ", LOCK).splitlines()
    if line and not line.lstrip().startswith("#")
]
LOCKED = {
    canonicalize_name(requirement.name): requirement
    for requirement in (Requirement(entry[0]) for entry in LOCK_ENTRIES)
}

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
REQUIRED = [
    *PROJECT["project"]["dependencies"],
    *(item for group in PROJECT["project"]["optional-dependencies"].values() for item in group),
    *(item for group in PROJECT["dependency-groups"].values() for item in group),
]

OPTIONAL = PROJECT["project"]["optional-dependencies"]
LIGHT = PROJECT["project"]["dependencies"] + OPTIONAL["compare"] + OPTIONAL["environments"]
# Who imports, and what is declared for them.
IMPORTING = {
    "src/pgpd_hf": LIGHT,
    "src/replication": LIGHT + OPTIONAL["workflow"],
    "workflow": LIGHT + OPTIONAL["workflow"],
    "notebooks": LIGHT + OPTIONAL["workflow"],
    "tools": LIGHT + OPTIONAL["workflow"],
    "tests": REQUIRED,
    "benchmarks": REQUIRED,
}

DISTRIBUTIONS = packages_distributions()  # before tests of the site add its own to the path
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]

# What would tie the project to one machine or one package index.
FOREIGN = {
    "an index address": rb"https?://[^\s\"'<>]*/simple\b|pythonhosted\.org",
    "an index option": rb"(?m)(?:--|^\s*)(?:extra-index-url|index-url|find-links|trusted-host)\b",
    "a wheel on disk": rb"file://[^\s\"'<>]+\.whl",
    "an absolute path": rb"(?<![\w.~})>-])/(?:home|mnt|root|work|workspace|Users)/[\w.-]",
}


def code_in(folder):
    """Yield all Python code in a folder, with that of notebooks."""
    for path in (ROOT / folder).rglob("*.py"):
        yield path.read_text(encoding="utf-8")
    for path in (ROOT / folder).rglob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        yield from ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def imported_in(folder):
    """Distributions whose modules the code in a folder imports."""
    names = set()
    for node in (node for code in code_in(folder) for node in ast.walk(ast.parse(code))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(node.module.partition(".")[0])
    known = (names - sys.stdlib_module_names) & DISTRIBUTIONS.keys()
    found = {DISTRIBUTIONS[name][0] for name in known}
    return {canonicalize_name(name) for name in found} - {"pgpd-hf"}


def version(requirement):
    """Return the version that an exact pin allows."""
    (specifier,) = requirement.specifier
    assert specifier.operator == "==", f"{requirement} is not an exact pin"
    return Version(specifier.version)


def test_lock_names_each_package_once():
    assert len(LOCKED) == len(LOCK_ENTRIES) > 0


def test_every_locked_package_is_pinned_and_hashed():
    for requirement, *hashes in LOCK_ENTRIES:
        version(Requirement(requirement))
        assert hashes, f"{requirement} has no hash"
        for value in hashes:
            assert re.fullmatch(r"sha256:[0-9a-f]{64}", value), f"{requirement}: {value}"


@pytest.mark.parametrize("text", REQUIRED)
def test_requirement_is_locked_within_its_range(text):
    requirement = Requirement(text)
    pin = LOCKED[canonicalize_name(requirement.name)]
    assert pin.marker is None, f"{pin.name} is not locked for every platform"
    assert version(pin) in requirement.specifier


@pytest.mark.parametrize("folder", IMPORTING)
def test_what_is_imported_is_declared(folder):
    declared = {canonicalize_name(Requirement(text).name) for text in IMPORTING[folder]}
    imported = imported_in(folder)
    assert imported
    assert imported <= declared


def test_replication_asks_for_what_it_imports_of_its_extra():
    extra = {canonicalize_name(Requirement(text).name) for text in OPTIONAL["workflow"]}
    source = (ROOT / "src/replication/__init__.py").read_text(encoding="utf-8")
    asked = source.partition('"workflow", ')[2]
    asked = {canonicalize_name(DISTRIBUTIONS[name][0]) for name in re.findall(r'"(\w+)"', asked)}
    # pandas imports pyarrow; llvmlite comes with numba; the workflow has Snakemake already.
    there = {"llvmlite", "snakemake", "snakemake-interface-logger-plugins"}
    assert asked - {"pyarrow"} == imported_in("src/replication") & extra - there


def test_build_backend_is_among_what_is_locked():
    assert PROJECT["dependency-groups"]["build"] == PROJECT["build-system"]["requires"]


def test_conda_environment_installs_the_lock():
    (pip,) = (item["pip"] for item in ENVIRONMENT if isinstance(item, dict))
    assert pip == ["-r requirements.lock"]


def test_conda_python_is_supported():
    (python,) = (item for item in ENVIRONMENT if str(item).startswith("python "))
    supported = Requirement("python" + PROJECT["project"]["requires-python"]).specifier
    assert python.removeprefix("python =") in supported


def test_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == PROJECT["project"]["version"]


@pytest.mark.skipif(
    shutil.which("git") is None or not (ROOT / ".git").exists(), reason="needs a git checkout"
)
def test_no_file_is_tied_to_one_machine():
    # New files too, so that the test fails before the commit and not after it.
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = []
    for name in listing.stdout.split("\0"):
        path = ROOT / name
        if not path.is_file():  # deleted, not yet committed
            continue
        content = path.read_bytes()
        for what, pattern in FOREIGN.items():
            found += [f"{name}: {what}: {hit}" for hit in re.findall(pattern, content)]
    assert not found, "\n".join(found)
