"""Run a part of a study again, and compare everything with the committed reference.

The study runs from scratch in a copy of the project, in a temporary folder. `--full` adds verdicts,
theory, the comparison and the studies beside the default one. All other options are Snakemake's.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pgpd_hf.support import storage, validation
from pgpd_hf.verification import checks
from pgpd_hf.verification.tables import TABLES

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "reference"
FOLDERS = ("config", "notebooks", "profiles", "reference", "src", "workflow")
# Targets of the workflow and options, run by run.
SAMPLE = [["sample", "--config", "seeds=1"]]
FULL = [["sample", "all", "claims", "theory", "compare"]]
RACED = "results/races/calibration"  # the study's own races: it takes their outcome from the record
BESIDE = [
    [f"{RACED}/npgpd_hf.csv", f"{RACED}/zpgpd_hf.csv", "--configfile", "config/races.yaml"],
    ["verdict_table", "--configfile", "config/pilot.yaml"],
    ["infer", "--configfile", "config/inference.yaml"],
    ["verdict_table", "--configfile", "config/confirmation.yaml"],
    *(
        ["figure", "policies", "--configfile", f"config/environments/{path.name}"]
        for path in sorted(ROOT.glob("config/environments/*.yaml"))
    ),
    ["environments"],
]
DRAWN = {"infer": "inference", "environments": "environments"}  # studies with committed figures
MAKE = {"all": "figures"}  # targets of `make` that have another name
SHOWN = 5  # differences of a table; altered files are all named
FILES = "Files"  # heading


def copy_project(folder):
    """Copy what the workflow needs into an empty folder."""
    shutil.copy(ROOT / "Snakefile", folder)
    for name in FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)


def run_workflow(folder, arguments):
    """Run the workflow in a copy of the project, with its package; return whether it succeeded."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    command = ["snakemake", *arguments]
    return not subprocess.run(command, cwd=folder, env=environment, check=False).returncode


def compare(folder, targets, exact):
    """Compare what was run in a folder, and the project's own results, with the reference.

    Returns, by heading and by what was compared, lines that differ, or why nothing was compared.
    """
    studies = sorted(folder.glob("results/*"), key=lambda path: path.name != "paper")
    results = studies[0].relative_to(folder)  # the default study's, or those of the only study
    figures = Path("figures") if results.name == "paper" else results / "figures"
    again = [table for table in TABLES if table.target in targets]
    run = checks.check_tables(REFERENCE, folder / results, again, exact)
    if (raced := folder / "results/races") in studies:
        scores = [table for table in TABLES if table.name == "scores"]
        run["races"] = checks.check_tables(REFERENCE, raced, scores, exact)["scores"]
    drawn = {"the reference": checks.check_drawings(REFERENCE, ROOT / figures, exact)}
    places = {"all": figures, **{name: Path(f"results/{it}/figures") for name, it in DRAWN.items()}}
    for place in (place for target, place in places.items() if target in targets):
        drawn[str(place)] = checks.check_figures(folder / place, ROOT / figures, exact)
    damaged = [path.relative_to(ROOT) for path in storage.find_damaged(ROOT / results)]
    there = checks.check_tables(REFERENCE, ROOT / results, TABLES, exact, partial=True)
    skipped = {
        table.name: f"run `make {MAKE.get(table.target, table.target)}` or `make verify FULL=1`"
        for table in TABLES
        if table.name not in {*run, *there}
    }
    return {
        "Run again": run,
        "Figures of": drawn,
        f"In {results}": {"files as written": [*map(storage.alteration, damaged)], **there},
        f"Neither run again nor in {results}": skipped,
    }


def show(sections):
    """Print what was compared; return whether all agrees."""
    answers = []
    for heading, section in sections.items():
        print("", heading, sep="\n")
        for what, lines in section.items():
            if isinstance(lines, str):
                answer, lines = f"not compared: {lines}", []
            else:
                answer = "NO" if lines else "yes"
            answers.append(answer)
            shown = len(lines) if heading == FILES else SHOWN
            print(f"  {what:<24} {answer}", *lines[:shown], sep="\n    ")
            if len(lines) > shown:
                print(f"    and {len(lines) - shown} more")
    print(f"\n{answers.count('yes')} agree, {answers.count('NO')} do not.")
    return "NO" not in answers


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="with verdicts, theory and comparison")
    arguments, options = parser.parse_known_args()

    if not REFERENCE.exists():
        sys.exit("reference: no reference there; `make reference` writes it")
    others = checks.check_platform(REFERENCE)
    if others:
        print(f"Another platform: numbers may differ by {checks.TOLERANCE}", *others, sep="\n  ")
    runs = SAMPLE
    if arguments.full:
        runs = FULL if "--configfile" in options else FULL + BESIDE
    folder = Path(tempfile.mkdtemp(prefix="verify-"))
    print(f"Running from scratch, in {folder}", flush=True)
    copy_project(folder)
    completed = all(run_workflow(folder, [*run, *options]) for run in runs)
    sections = {
        FILES: {
            "code": checks.check_files(ROOT, *checks.CODE),
            "reference, figures": checks.check_files(ROOT, "reference", "figures"),
        }
    }
    if not completed:
        show(sections)
        sys.exit(f"the study failed; what was run is in {folder}")
    if not show(sections | compare(folder, {part for run in runs for part in run}, not others)):
        sys.exit(f"what was run is in {folder}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    with validation.one_line("error", (OSError, ValueError)):
        main()
