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

import collect_environments

from pgpd_hf.support import storage, validation
from pgpd_hf.verification import checks
from pgpd_hf.verification.tables import TABLES

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "reference"
FOLDERS = ("config", "notebooks", "profiles", "reference", "src", "workflow")
SAMPLE = ("sample",)  # targets of the workflow
FULL = (*SAMPLE, "all", "claims", "theory", "compare")
ENVIRONMENTS = sorted(path.stem for path in ROOT.glob("config/environments/*.yaml"))
# Studies beside the default one, and what is made of each. Races are those of the default study,
# whose results otherwise take step sizes from the record.
BESIDE = {
    "races": [f"results/races/calibration/{name}.csv" for name in ("npgpd_hf", "zpgpd_hf")],
    "pilot": ["verdict_table"],
    "inference": ["infer"],
    "confirmation": ["verdict_table"],
    **{f"environments/{name}": collect_environments.TARGETS for name in ENVIRONMENTS},
}
MAKE = {"all": "figures"}  # targets of `make` that have another name
SHOWN = 5  # differences of a table; altered files are all named
FILES = "Files"  # heading


def copy_project(folder):
    """Copy what the workflow needs into an empty folder."""
    shutil.copy(ROOT / "Snakefile", folder)
    for name in FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)


def run_workflow(folder, options, targets):
    """Run the workflow in a copy of the project, with the package of the copy; return its code."""
    command = ["snakemake", *targets, *options, *["--config", "seeds=1"] * (targets == SAMPLE)]
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


def run_beside(folder, options):
    """Run the studies beside the default one, and make their tables; return whether one failed."""
    for name, targets in BESIDE.items():
        if run_workflow(folder, [*options, "--configfile", f"config/{name}.yaml"], targets):
            return True
    collect_environments.collect(folder)
    return False


def compare(folder, results, targets, beside, exact):
    """Compare what was run in a folder, and the project's own results, with the reference.

    Returns, by heading and by what was compared, lines that differ, or why nothing was compared.
    """
    made = (*targets, "infer", "environments") if beside else targets
    again = [table for table in TABLES if table.target in made]
    run = checks.check_tables(REFERENCE, folder / results, again, exact)
    damaged = [path.relative_to(ROOT) for path in storage.find_damaged(ROOT / results)]
    there = checks.check_tables(REFERENCE, ROOT / results, TABLES, exact, partial=True)
    figures = Path("figures") if results.name == "paper" else results / "figures"
    drawn = {"the reference": checks.check_drawings(REFERENCE, ROOT / figures, exact)}
    if targets == FULL:
        drawn["the study"] = checks.check_figures(folder / figures, ROOT / figures, exact)
    if beside:
        scores = [table for table in TABLES if table.name == "scores"]
        raced = checks.check_tables(REFERENCE, folder / "results/races", scores, exact)
        run["races"] = raced["scores"]
        for name in ("inference", "environments"):
            place = folder / f"results/{name}/figures"
            drawn[f"results/{name}"] = checks.check_figures(place, ROOT / figures, exact)
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
    targets = FULL if arguments.full else SAMPLE
    folder = Path(tempfile.mkdtemp(prefix="verify-"))
    print(f"Running {', '.join(targets)} from scratch, in {folder}", flush=True)
    copy_project(folder)
    failed = run_workflow(folder, options, targets)
    results = next(folder.glob("results/*"), folder).relative_to(folder)
    beside = arguments.full and results.name == "paper"
    if beside and not failed:
        failed = run_beside(folder, options)
    sections = {
        FILES: {
            "code": checks.check_files(ROOT, *checks.CODE),
            "reference, figures": checks.check_files(ROOT, "reference", "figures"),
        }
    }
    if failed:
        show(sections)
        sys.exit(f"the study failed; what was run is in {folder}")
    if not show(sections | compare(folder, results, targets, beside, not others)):
        sys.exit(f"what was run is in {folder}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    with validation.one_line("error", (OSError, ValueError)):
        main()
