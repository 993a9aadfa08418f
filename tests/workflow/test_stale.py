"""Whatever differs from what made a result is made again, and nothing else."""

import os
import shutil

import pytest
from processes import contents
from projects import Project

TARGET = "results/smoke/runs/npgpd_hf/M16/seeds0000-0002.parquet"
ALGORITHM = "src/pgpd_hf/algorithms/npgpd_hf.py"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project with an environment, one calibration and one block of runs."""
    project = Project(tmp_path_factory.mktemp("made"))
    code, output = project.snakemake(TARGET, "--cores", "2")
    assert code == 0, output
    return project


@pytest.fixture
def project(made, tmp_path):
    """A copy of it without Snakemake's memory."""
    copy = Project(tmp_path / "copy", made.folder)
    shutil.rmtree(copy.folder / ".snakemake")
    return copy


def edit(project, name, before, after):
    """Replace a part of a file, which keeps its times; results are dated ahead of it."""
    path = project.folder / name
    text, times = path.read_text(), path.stat()
    assert before in text
    path.write_text(text.replace(before, after, 1))
    os.utime(path, (times.st_atime, times.st_mtime))
    for result in project.results().rglob("*"):
        os.utime(result, (times.st_atime + 9e8, times.st_mtime + 9e8))


def state(project):
    """Bytes and times of all results."""
    times = {path: path.stat().st_mtime_ns for path in project.results().rglob("*")}
    return contents(project), times


def test_copy_with_new_times_is_as_it_was(project):
    for path in sorted(project.folder.joinpath("src").rglob("*.py")):
        os.utime(path, (4e9, 4e9))
    (project.folder / "src/pgpd_hf/core/new.py").write_text("")
    (project.folder / "src/pgpd_hf/algorithms/new.py").write_text("")
    assert project.planned(TARGET) == {}


@pytest.mark.parametrize(
    "options", [[], ["--rerun-triggers", "mtime"], ["--persistence-backend", "db"]]
)
@pytest.mark.parametrize(
    ("name", "before", "after", "rules"),
    [
        ("config/smoke.yaml", "iterations: 60", "iterations: 61", {"calibrate", "run"}),
        (ALGORITHM, '"""', '"""A word. ', {"calibrate", "run"}),
        ("src/pgpd_hf/environments/random.py", '"""', '"""A word. ', {"environment", "run"}),
    ],
)
def test_difference_is_found_whatever_the_clock_says(project, name, before, after, rules, options):
    edit(project, name, before, after)
    whole = state(project)
    assert rules <= set(project.planned(TARGET, *options))
    assert state(project) == whole  # a dry run changes nothing


def test_next_run_takes_an_option_back(project):
    before = contents(project)
    for options, same in ((["--config", "horizon=19"], False), ([], True)):
        code, output = project.snakemake(TARGET, "--cores", "2", *options)
        assert code == 0, output
        assert (contents(project) == before) == same


def test_result_of_which_nobody_knows_what_made_it_is_made_again(project):
    records = [
        project.results(folder, "npgpd_hf/M16/.seeds0000-0002.parquet.sha256")
        for folder in ("runs", "policies")
    ]
    for record in records:
        record.write_text(record.read_text().splitlines()[0] + "\n")
    assert project.planned(TARGET)["run"] == 1
    for record in records:
        record.unlink()
    assert project.planned(TARGET)["run"] == 1
