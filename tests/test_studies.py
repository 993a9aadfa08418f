"""A study imports the library and itself, the core knows of no study, and each can be deleted."""

import ast
import json
import math
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from declarations import changed, places

ROOT = Path(__file__).parents[1]
STUDIES = sorted(path.parent.name for path in ROOT.glob("studies/*/README.md"))
CORE = ("src", "workflow", "tools", "tests", "notebooks", "benchmarks")
SHAPED = sorted(path.parent.name for path in ROOT.glob("studies/*/config.schema.yaml"))
CHECKS = runpy.run_path(str(ROOT / "workflow/scripts/configuration.py"))
WRONG = [math.nan, -1, "1e-3", {"a": 1}]
# Any words, or words that a study judges.
WORDS = {*"purpose settings known unknown method file gymnasium cost map_name".split()}
# Parts whose entries have any names.
OWN = {*"searches settings readings height_runs transitions search runs".split()}
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


@pytest.mark.parametrize("folder", [*CORE, *STUDIES])
def test_core_imports_no_study_and_a_study_the_library_and_itself(folder):
    core = folder in CORE
    others = {*STUDIES} if core else OUTSIDE | {*STUDIES} - {folder}
    assert not {*imports(ROOT / folder if core else ROOT / "studies" / folder)} & others


@pytest.mark.parametrize("study", SHAPED)
def test_what_a_study_cannot_run_is_refused_by_its_key(study):
    folder = ROOT / "studies" / study
    content = CHECKS["declared"](folder)
    schema = yaml.safe_load((folder / "config.schema.yaml").read_text())
    for place, old in places(content):
        *_, parent, key = ("", "", *(it for it in place if isinstance(it, str)))
        tried = [changed(content, place, value) for value in ([] if key in WORDS else WRONG)]
        tried += [changed(content, place, None)] if isinstance(old, dict) else []
        if place[-1:] == (key,) and parent not in OWN:
            tried.append(changed(content, place, old, f"{key}_"))
        for declared in tried:
            with pytest.raises(ValueError, match="^mine.yaml: .{9,500}$") as refused:
                CHECKS["require"](declared, schema, "mine.yaml: ")
            assert key in str(refused.value)


@pytest.mark.workflow
def test_everything_else_works_without_any_study(tmp_path):
    left_out = shutil.ignore_patterns(".*", "results", "studies", "__pycache__")
    copy = shutil.copytree(ROOT, tmp_path / "copy", ignore=left_out)
    (copy / "studies").mkdir()
    (copy / "tests/test_learning.py").unlink()  # half a minute, about the library alone
    environment = os.environ | {"PYTHONPATH": str(copy / "src")}
    for command in (
        ["pytest", "-q", "-x", "-m", "not workflow and not slurm", "tests", "src"],
        ["snakemake", "--dry-run", "--quiet", "all"],
    ):
        tried = [sys.executable, "-m", *command]
        found = subprocess.run(tried, cwd=copy, env=environment, capture_output=True, check=False)
        assert found.returncode == 0, found.stdout.decode() + found.stderr.decode()
