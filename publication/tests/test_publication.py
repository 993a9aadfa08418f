"""Numbers in documents are those of the tables, and what is wrong with a mark is said in a line."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "publication/marks.py"
check = runpy.run_path(TOOL)["check"]
NAMES = yaml.safe_load(TOOL.with_suffix(".yaml").read_text(encoding="utf-8"))
TABLE = "verdict,estimate\nreproduced,0.25\nreproduced,-0.5\ncontradicted,0.125\n"
DECLARED = {
    "mine": {
        "held": {"table": "verdicts", "rows": "verdict == 'reproduced'"},
        "least": {"table": "verdicts", "take": "estimate", "of": "min", "form": ".2f"},
        "none": {"table": "verdicts", "rows": "estimate > 1", "take": "estimate", "form": "g"},
        "lost": {"table": "other"},
        "each": {"table": "verdicts", "rows": "verdict == '{0}'", "take": "{1}", "form": "g"},
    }
}


@pytest.fixture
def folder(tmp_path):
    """A project with one study of one table."""
    (tmp_path / "studies/mine/tables").mkdir(parents=True)
    (tmp_path / "studies/mine/tables/verdicts.csv").write_text(TABLE)
    return tmp_path


def test_numbers_in_documents_are_those_of_tables():
    marks, errors = check(ROOT, NAMES)
    differ = [
        f"{study}: {name}: {place} says {said}, the table says {now}"
        for place, said, study, name, now in marks
        if said != now
    ]
    assert [*errors, *differ] == []


def test_every_declared_number_has_a_mark():
    marks, _ = check(ROOT, NAMES)
    used = {(study, name.split(",")[0]) for _, _, study, name, _ in marks}
    present = [it for it in NAMES if it == "core" or (ROOT / "studies" / it).is_dir()]
    assert used == {(study, name) for study in present for name in NAMES[study]}


def test_what_tables_say(folder):
    text = "**2<!--mine:held--> of 3**, at least −0.50<!--mine:least-->, (3<!-- mine: held -->"
    text += " 0.5<!--mine:each,contradicted,estimate-->"
    (folder / "README.md").write_text(text)
    marks, errors = check(folder, DECLARED)
    assert errors == []
    assert [(said, now) for _, said, _, _, now in marks] == [
        ("2", "2"),
        ("−0.50", "−0.50"),
        ("3", "2"),
        ("0.5", "0.125"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("3<!--mine:unknown-->", "README.md: 3<!--mine:unknown-->: marks.yaml has no such"),
        ("so <!--mine:held-->", "README.md: <!--mine:held-->: no number"),
        ("3<!--mine:lost-->", "No such file or directory: 'studies/mine/tables/other.csv'"),
        ("3<!--mine:each,held-->", "mine:each,held-->: Replacement index 1 out of range"),
        ("3<!--mine:none-->", "mine:none-->: no row with estimate > 1"),
        ("[a](b.md#c)", "README.md: link to b.md, which is not there"),
        ("[a](studies/mine/README.md)", "link to studies/mine/README.md, which is not there"),
    ],
)
def test_errors_are_one_line(folder, text, line):
    (folder / "README.md").write_text(text)
    marks, errors = check(folder, DECLARED)
    assert not marks and len(errors) == 1 and line in errors[0]


def test_marks_of_an_absent_study_are_skipped(folder):
    (folder / "README.md").write_text("1<!--gone:x--> [a](studies/gone/README.md) [b](#here)")
    assert check(folder, DECLARED) == ([], [])


@pytest.mark.workflow
def test_plan_without_any_study(tmp_path):
    for name in ("workflow", "config", "notebooks", "src", "reference", "publication"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("Snakefile", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    command = "-P -m snakemake --snakefile publication/Snakefile --cores 1 --dry-run".split()
    process = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
    )
    told = process.stdout + process.stderr
    assert process.returncode == 0, told
    assert "rule summary_picture" in told and "rule study_" not in told
    for name in ("stability", "answers"):
        assert f"summary without the panel of {name}: its tables are not there" in told
