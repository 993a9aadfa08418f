"""`make verify`, run for real on the smoke study."""

import shutil
import sys
from pathlib import Path

import pytest

from pgpd_hf import verification

TOOLS = Path(__file__).parents[2] / "tools"
TRACE = "runs/zpgpd_hf/M256, seed 0"


class Verified:
    """A copy of the project with the smoke study's results and their reference."""

    def __init__(self, project, finished):
        self.project = project
        shutil.copytree(TOOLS, project.folder / "tools")
        shutil.copytree(
            finished.results(),
            project.results(),
            ignore=shutil.ignore_patterns("logs", "benchmarks", "notebooks", "sweeps"),
        )
        self.study = verification.Study(project.folder, "smoke")
        self.reference = project.folder / "reference"
        self.scratch = project.folder / "scratch"
        self.scratch.mkdir()
        verification.write_reference(self.study, self.study, self.reference)

    def verify(self, *options):
        """Run the command; give back exit code and everything printed."""
        command = [sys.executable, "tools/verify.py", "--configfile", "config/smoke.yaml"]
        command += ["--cores", "2", *options]
        return self.project.call(command, environment={"TMPDIR": str(self.scratch)})

    def alter(self, name, before, after):
        """Replace a part of a file that occurs in it once."""
        path = self.project.folder / name
        text = path.read_text()
        assert text.count(before) == 1
        path.write_text(text.replace(before, after))


@pytest.fixture
def verified(finished, fresh):
    return Verified(fresh, finished[0])


def verdicts(output):
    """Answers of the table by what was checked."""
    lines = output[output.index("what  ") :].splitlines()
    answers = {True: "yes", False: "NO"}
    found = {}
    for line in lines:
        for agrees, word in answers.items():
            if f"  {word}" in line and not line.startswith("    "):
                found.setdefault(line[2:46].strip(), []).append(agrees)
    return {what: all(agrees) for what, agrees in found.items()}


def test_untouched_project_is_verified(verified):
    code, output = verified.verify()
    assert code == 0, output
    found = verdicts(output)
    assert all(found.values())
    for what in ("code", "optimum.json, value iteration", TRACE, "figure1"):
        assert what in found
    assert f"All {output.count('yes, bits')} agree." in output
    assert list(verified.scratch.iterdir()) == []


@pytest.mark.slow
def test_altered_constant_reference_and_result_are_named(verified):
    # A constant of the code, which matters where there are more than 100 iterations; a number of
    # the reference, together with its digest; a result.
    verified.alter("src/pgpd_hf/studies/calibration.py", "_CHECKPOINTS = 100", "_CHECKPOINTS = 101")
    traces = verified.reference / "traces.csv"
    header, *rows = traces.read_text().splitlines()
    cells = rows[-1].split(",")
    cells[6] = str(float(cells[6]) + 1e-15)
    traces.write_text("\n".join([header, *rows[:-1], ",".join(cells)]) + "\n")
    sums = verified.reference / "SHA256SUMS"
    names = [line.split("  ")[1] for line in sums.read_text().splitlines()]
    digests = verification.list_digests(verified.study, verified.reference).splitlines()
    recorded = sums.read_text().splitlines()
    sums.write_text(
        "".join(
            f"{new if name == 'reference/traces.csv' else old}\n"
            for name, old, new in zip(names, recorded, digests, strict=True)
        )
    )
    verified.alter("results/smoke/optimum.json", '"binding": true', '"binding": 1')

    code, output = verified.verify()
    assert code == 1
    wrong = {what for what, agrees in verdicts(output).items() if not agrees}
    assert wrong == {
        "code",
        "calibration/zpgpd_hf.csv",
        TRACE,
        "optimum.json, linear program",
    }
    assert "    src/pgpd_hf/studies/calibration.py: differs from its digest" in output
    assert f"    results/smoke/{TRACE}: iteration 600: multiplier: " in output
    assert "linear program: entry binding: value: expected True, found 1" in output
    assert "5 of " in output


def test_without_a_reference_nothing_is_run(verified):
    shutil.rmtree(verified.reference)
    code, output = verified.verify()
    assert (code, output) == (1, "reference: no reference there; `make reference` writes it\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("algorithms/npgpd_hf.py", "min(max(multiplier - ", "min(max(multiplier - 1.0001 * "),
        ("sampling.py", "weight *= tables.discount", "weight *= 0.999999 * tables.discount"),
        ("theory/problems.py", "_GRID = 801", "_GRID = 401"),
    ],
)
def test_altered_constant_reaches_the_numbers(verified, name, before, after):
    verified.alter(f"src/pgpd_hf/{name}", before, after)
    code, output = verified.verify()
    assert code == 1
    found = verdicts(output)
    assert not found["code"]
    assert not all(found[what] for what in found if what.startswith(("runs", "bounds")))


@pytest.mark.slow
def test_whole_study_agrees_and_writes_the_same_reference(verified):
    code, output = verified.verify("--full")
    assert code == 0, output
    long = {
        "verdicts.csv, default",
        "certificates.csv, random, zpgpd_hf",
        "effects.csv, people",
    }
    assert {"rates.csv", "claims.csv", "summary.txt", *long} <= set(verdicts(output))
    before = {path.name: path.read_bytes() for path in verified.reference.iterdir()}
    shutil.rmtree(verified.reference)
    code, output = verified.verify("--write", "--full")
    assert code == 0, output
    assert {path.name: path.read_bytes() for path in verified.reference.iterdir()} == before
