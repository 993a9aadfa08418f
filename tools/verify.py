"""Run a part of a study again, and compare everything with the committed reference.

The study runs from scratch in a copy of the project, in a temporary folder. `--write` runs the
default study, and writes its part of the reference instead of comparing with it. `--full` adds
verdicts and theory to either.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from pgpd_hf import verification
from pgpd_hf.verification import Study, platforms

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("Snakefile", "config", "notebooks", "profiles", "src", "workflow")
# Targets of the workflow.
SAMPLE = ("sample",)
DEFAULT = (*SAMPLE, "all")
FULL = (*DEFAULT, "claims", "theory")
RUNS = {
    SAMPLE: "a part of the study",
    DEFAULT: "the study",
    FULL: "the study, its verdicts under all readings and its theory",
}


def copy_project(folder):
    """Copy what the workflow consists of."""
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", ".ipynb_checkpoints")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=ignored)
        else:
            shutil.copy(ROOT / part, folder / part)


def run_workflow(folder, cores, config, targets):
    """Run the workflow of a copy with the package of this copy; say whether it succeeded."""
    command = ["snakemake", *targets, "--cores", cores, "--configfile", config]
    if targets == SAMPLE:
        command += ["--config", "seeds=1"]
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode == 0


def made_by(targets):
    """List what the reference holds of these targets' results."""
    return [item for item in verification.ITEMS if item.target in targets]


def write(study, home, reference, targets):
    """Write the reference, and the figures of the same run."""
    shutil.copytree(study.figures, home.figures, dirs_exist_ok=True)
    verification.write_reference(study, home, reference, made_by(targets))
    print(f"{reference.relative_to(ROOT)}/ and {home.figures.relative_to(ROOT)}/ are written.")


def recorded_platform(reference):
    """Read which platform the reference is from; nothing if the file is no longer what it was."""
    try:
        return json.loads((reference / verification.PLATFORM).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def compare(study, home, reference, targets, complete):
    """Compare, print the table, and say how many do not agree."""
    recorded = recorded_platform(reference)
    others = platforms.differences(recorded, platforms.describe())
    exact = not others
    committed = home.results.relative_to(ROOT).as_posix()
    again = verification.check_study(reference, study, exact, made_by(targets))
    if not complete:
        again.append(verification.Check("workflow", "success", "failure", False, ""))
    sections = [
        ("Files", verification.check_digests(ROOT, reference)),
        ("Run again", again),
        ("Drawn again", verification.check_drawings(reference, home.figures, exact)),
        (f"In {committed}", verification.check_study(reference, home, exact, partial=True)),
    ]
    if targets == FULL:
        drawn = verification.check_figures(study.figures, home.figures, exact)
        sections.insert(2, ("Figures of this run", drawn))
    checks = [check for _, section in sections for check in section]
    wrong = sum(not check.agrees for check in checks)
    print("", verification.format_table(sections), "", sep="\n")
    if others:
        limit = f"{verification.TOLERANCE:g}"
        print(f"This is not the reference's platform, so numbers may differ by {limit}:")
        print("\n".join(f"  {line}" for line in others))
    else:
        print("This is the reference's platform, so all bits have to agree.")
    print(f"{wrong} of {len(checks)} do not agree." if wrong else f"All {len(checks)} agree.")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="with verdicts and theory")
    parser.add_argument("--write", action="store_true", help="write the reference")
    parser.add_argument("--cores", default="all", help="for the workflow")
    parser.add_argument("--configfile", default="config/config.yaml", help="the study")
    parser.add_argument("--reference", default="reference", help="folder in the project")
    arguments = parser.parse_args()

    started = time.monotonic()
    targets = FULL if arguments.full else DEFAULT if arguments.write else SAMPLE
    config, reference = ROOT / arguments.configfile, (ROOT / arguments.reference).resolve()
    if not config.is_file():
        sys.exit(f"{arguments.configfile}: no such file")
    if ROOT.resolve() not in reference.parents:
        sys.exit(f"{arguments.reference}: a folder inside the project expected")
    if not (arguments.write or (reference / verification.DIGESTS).exists()):
        sys.exit(f"{arguments.reference}: no reference there; `make reference` writes it")
    name = yaml.safe_load(config.read_text(encoding="utf-8")).get("study", "paper")

    folder = Path(tempfile.mkdtemp(prefix="verify-"))
    copy_project(folder)
    print(f"Running {RUNS[targets]} from scratch, in {folder}", flush=True)
    complete = run_workflow(folder, arguments.cores, arguments.configfile, targets)
    study, home = Study(folder, name), Study(ROOT, name)
    if arguments.write:
        if not complete:
            sys.exit(f"The study failed, nothing is written; see {folder}")
        write(study, home, reference, targets)
        wrong = 0
    else:
        wrong = compare(study, home, reference, targets, complete)
    print(f"{time.monotonic() - started:.0f} seconds")
    if wrong:
        sys.exit(f"What was run is in {folder}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
