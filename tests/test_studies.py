"""A study imports the library and itself, the core knows of no study, and each can be deleted."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STUDIES = sorted(path.parent.name for path in ROOT.glob("studies/*/README.md"))
CORE = ("src", "workflow", "tools", "tests", "notebooks", "benchmarks")
OUTSIDE = {*CORE, *(path.stem for it in ("tools", "tests") for path in ROOT.glob(f"{it}/*.py"))}


def imports(folder):
    """Names of the packages that Python files and notebooks below a folder import."""
    texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.py")]
    for path in folder.rglob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts += ["".join(it["source"]) for it in cells if it["cell_type"] == "code"]
    for node in (node for text in texts for node in ast.walk(ast.parse(text))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


@pytest.mark.parametrize("study", STUDIES)
def test_study_imports_the_library_and_itself(study):
    assert not {*imports(ROOT / "studies" / study)} & (OUTSIDE | {*STUDIES} - {study})


@pytest.mark.parametrize("folder", CORE)
def test_core_imports_no_study(folder):
    assert not {*imports(ROOT / folder)} & {*STUDIES}


@pytest.mark.workflow
def test_everything_else_works_without_any_study(tmp_path):
    left_out = shutil.ignore_patterns(".*", "results", "studies", "__pycache__")
    copy = shutil.copytree(ROOT, tmp_path / "copy", ignore=left_out)
    (copy / "studies").mkdir()
    environment = os.environ | {"PYTHONPATH": str(copy / "src")}
    for command in (
        ["pytest", "-q", "-x", "-m", "not workflow and not slurm", "tests", "src"],
        ["snakemake", "--dry-run", "--quiet", "all"],
    ):
        tried = [sys.executable, "-m", *command]
        found = subprocess.run(tried, cwd=copy, env=environment, capture_output=True, check=False)
        assert found.returncode == 0, found.stdout.decode() + found.stderr.decode()
