"""Run a part of a study again, and compare everything with the committed reference.

The study runs from scratch in a copy of the project, in a temporary folder. `--full` runs all of
it, and `--write` then writes the reference instead of comparing with it.
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


def copy_project(folder):
    """Copy what the workflow consists of."""
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", ".ipynb_checkpoints")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=ignored)
        else:
            shutil.copy(ROOT / part, folder / part)


def run_workflow(folder, cores, config, full):
    """Run the workflow of a copy with the package of this copy; say whether it succeeded."""
    command = ["snakemake", "all" if full else "sample", "--cores", cores, "--configfile", config]
    if not full:
        command += ["--config", "seeds=1"]
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode == 0


def write(study, home, reference):
    """Write the reference, unless the committed figures are not those of the study."""
    checks = verification.check_figures(study.figures, home.figures)
    others = [line for check in checks for line in check.detail]
    if others:
        sys.exit(f"{others[0]}: the study draws another picture; run `make figures` first")
    verification.write_reference(study, home, reference)
    print(f"{reference.relative_to(ROOT)}/ is written.")


def recorded_platform(reference):
    """Read which platform the reference is from; nothing if the file is no longer what it was."""
    try:
        return json.loads((reference / verification.PLATFORM).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def compare(study, home, reference, full, complete):
    """Compare, print the table, and say how many do not agree."""
    recorded = recorded_platform(reference)
    others = platforms.differences(recorded, platforms.describe())
    exact = not others
    items = [item for item in verification.ITEMS if full or item.quick]
    committed = home.results.relative_to(ROOT).as_posix()
    again = verification.check_study(reference, study, exact, items)
    if not complete:
        again.append(verification.Check("workflow", "success", "failure", False, ""))
    sections = [
        ("Files", verification.check_digests(ROOT, reference)),
        ("Run again", again),
        ("Drawn again", verification.check_drawings(reference, home.figures, exact)),
        (f"In {committed}", verification.check_study(reference, home, exact, partial=True)),
    ]
    if full:
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
    parser.add_argument("--full", action="store_true", help="run the whole study")
    parser.add_argument("--write", action="store_true", help="run it all, and write the reference")
    parser.add_argument("--cores", default="all", help="for the workflow")
    parser.add_argument("--configfile", default="config/config.yaml", help="the study")
    parser.add_argument("--reference", default="reference", help="folder in the project")
    arguments = parser.parse_args()

    started = time.monotonic()
    full = arguments.full or arguments.write
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
    part = "the whole study" if full else "a part of the study"
    print(f"Running {part} from scratch, in {folder}", flush=True)
    complete = run_workflow(folder, arguments.cores, arguments.configfile, full)
    study, home = Study(folder, name), Study(ROOT, name)
    if arguments.write:
        if not complete:
            sys.exit(f"The study failed, nothing is written; see {folder}")
        write(study, home, reference)
        wrong = 0
    else:
        wrong = compare(study, home, reference, full, complete)
    print(f"{time.monotonic() - started:.0f} seconds")
    if wrong:
        sys.exit(f"What was run is in {folder}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
