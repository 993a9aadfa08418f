"""`make verify`, run for real on the smoke study."""

import re
import shutil
import subprocess
from pathlib import Path

import offline
import pytest

from replication.verify import checks
from replication.verify.tables import OF_STUDY

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "tools"


def make(project, *options):
    """Run `make verify` in a copy of the project; give back exit code and everything printed."""
    activated = f"IN_VENV=export PYTHONPATH={project.folder / 'src'} &&"
    command = ["make", "--no-print-directory", "--assume-old=.venv/kernels", activated]
    command += ["CORES=2", *options, "CONFIG=config/smoke.yaml", "verify"]
    return project.call(offline.cut_off(command))


class Verified:
    """A copy of the project with the smoke study's results and their reference."""

    def __init__(self, project, complete):
        self.project = project
        shutil.copytree(TOOLS, project.folder / "tools")
        shutil.copytree(
            complete.results(),
            project.results(),
            ignore=shutil.ignore_patterns("logs", "benchmarks", "notebooks", "slopes", "effects"),
        )
        self.reference = project.folder / "reference/smoke"
        self.scratch = project.folder / "a 'scratch' & more"
        self.scratch.mkdir()
        checks.write_reference(self.reference, project.results(), OF_STUDY)
        shutil.copy(self.reference / checks.PLATFORM, project.folder / "reference")
        shutil.copy(ROOT / ".gitignore", project.folder)
        identity = ["-c", "user.name=someone", "-c", "user.email=", "-c", "commit.gpgsign=false"]
        for arguments in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "message"]):
            subprocess.run(["git", *arguments], cwd=project.folder, check=True)

    def verify(self, *options):
        """Run the command; give back exit code and everything printed."""
        return make(self.project, *options, f"TMPDIR={self.scratch}")

    def alter(self, name, before, after):
        """Replace a part of a file that occurs in it once."""
        path = self.project.folder / name
        text = path.read_text()
        assert text.count(before) == 1
        path.write_text(text.replace(before, after))


@pytest.fixture
def verified(complete, fresh):
    return Verified(fresh, complete)


def answers(output):
    """The answers about everything that was compared, joined where there are several."""
    found = {}
    for what, answer in re.findall(
        r"^  (\S.*?)  +(yes|NO|not compared: .*)$", output, re.MULTILINE
    ):
        found.setdefault(what, set()).add(answer)
    return {what: " and ".join(sorted(several)) for what, several in found.items()}


@pytest.mark.long
@pytest.mark.faults
def test_untouched_project_is_verified(verified):
    code, output = verified.verify()
    assert code == 0, output
    names = {"reference, figures", "code", "the reference", "files as written"}
    names |= {table.name for table in OF_STUDY}
    assert answers(output) == dict.fromkeys(names, "yes")
    assert " agree, 0 do not." in output
    assert list(verified.scratch.iterdir()) == []


@pytest.mark.long
def test_verification_goes_on_in_the_copy_that_is_named(verified):
    copy = verified.scratch / "copy"
    for _ in range(2):
        code, output = verified.verify(f"COPY={copy}")
        assert code == 0, output
        assert f"Running sample in {copy}\n" in output
        assert " agree, 0 do not." in output
    assert "Nothing to be done" in output
    assert [*verified.scratch.iterdir()] == [copy]


@pytest.mark.slow
def test_altered_constant_reference_and_result_are_named(verified):
    # A constant of the code, which matters where there are more than 100 iterations; a number of
    # the reference; a result.
    verified.alter("src/pgpd_hf/runs/races.py", "_CHECKPOINTS = 100", "_CHECKPOINTS = 101")
    traces = verified.reference / "traces.csv"
    header, *rows = traces.read_text().splitlines()
    cells = rows[-1].split(",")
    cells[6] = str(float(cells[6]) + 1e-15)
    traces.write_text("\n".join([header, *rows[:-1], ",".join(cells)]) + "\n")
    verified.alter("results/smoke/optimum.json", '"binding": true', '"binding": 1')

    code, output = verified.verify()
    assert code == 2
    wrong = {what for what, answer in answers(output).items() if "NO" in answer}
    assert wrong == {
        *("code", "reference, figures", "files as written"),
        *("scores", "traces", "optimum"),
    }
    assert "\n    src/pgpd_hf/runs/races.py: altered\n" in output
    assert "\n    calibration/*.csv: algorithm zpgpd_hf, primal_step " in output
    row = "algorithm zpgpd_hf, evaluators 256, seed 0, iteration 600"
    assert f"\n    runs/*/*/*.parquet: {row}: multiplier: " in output
    assert "\n    optimum.json: entry binding: value: expected True, found 1\n" in output
    assert "\n    results/smoke/optimum.json: altered since it was written; " in output
    assert " agree, 7 do not." in output


def test_study_that_is_not_on_record_is_not_run(fresh):
    shutil.copytree(TOOLS, fresh.folder / "tools")
    code, output = make(fresh)
    assert code != 0
    message = "study smoke: not on record, since there is no folder reference/smoke"
    assert output.startswith(f"error: {message}\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        (
            "pgpd_hf/algorithms/base.py",
            "min(max(multiplier - ",
            "min(max(multiplier - 1.0001 * ",
        ),
        (
            "pgpd_hf/core/sampling.py",
            "weight *= tables.recency\n            word_i +=",
            "weight *= 0.999999 * tables.recency\n            word_i +=",
        ),
        ("replication/theory/problems.py", "_GRID = 801", "_GRID = 401"),
    ],
)
def test_altered_constant_reaches_the_numbers(verified, name, before, after):
    verified.alter(f"src/{name}", before, after)
    code, output = verified.verify()
    assert code == 2
    found = answers(output)
    assert found["code"] == "NO"
    assert "NO" in found["traces"] + found["bounds"]


@pytest.mark.slow
def test_whole_study_agrees_and_leaves_the_same_reference(verified):
    code, output = verified.verify("FULL=1")
    assert code == 0, output
    assert {"what was run", "rates", "claims", "verdicts", "effects"} <= set(answers(output))
    before = {path.name: path.read_bytes() for path in verified.reference.iterdir()}
    shutil.rmtree(verified.reference)
    checks.write_reference(verified.reference, verified.project.results(), OF_STUDY)
    assert {path.name: path.read_bytes() for path in verified.reference.iterdir()} == before
