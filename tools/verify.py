"""Compare what was run again in a copy of the project, and its own results, with the reference.

The arguments are the folder of the copy, the file of a study or nothing, and the targets of `make`
that have been run there; without targets, these have failed. Without a folder of a copy, only what
is no study on record is refused. The command is `make verify`.
"""

import sys
import textwrap
from collections import defaultdict
from pathlib import Path

from replication.files import storage, validation
from replication.verify import checks
from replication.verify.tables import OF_HARD, OF_STUDY, TABLES, Table

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "reference"
SHOWN = 5  # differences of a table; altered files are all named
FILES = "Files"  # heading


def places(results):
    """Folders of the reference and of the figures of a study, given that of its results."""
    if results.name == "paper":
        return REFERENCE, Path("figures")
    named = Path("figures/hard") if results.name == "hard" else results / "figures"
    return REFERENCE / results.name, named


def find_study(configfile):
    """Folder of the results of a study that is on record."""
    own = validation.read(configfile) if configfile else {}
    results = Path("results", f"{own.get('study', 'paper')}")
    record, _ = places(results)
    if not record.is_dir():
        where = record.relative_to(ROOT)
        raise ValueError(f"study {results.name}: not on record, since there is no folder {where}")
    return results


def compare(copy, results, targets, exact):
    """Compare what was run in a copy, and the project's own results, with the reference.

    Returns, by heading and by what was compared, lines that differ, or why nothing was compared.
    """
    (copy / results).mkdir(parents=True, exist_ok=True)  # from which other studies are reached
    tables, studies = OF_HARD if results.name == "hard" else OF_STUDY, {"": results}
    if results.name == "paper":  # beside which the hard case is on record
        tables, studies = TABLES, {"": results, "hard: ": results.with_name("hard")}
    reference, _ = places(results)
    parts = {*targets, *(["sample"] if "figures" in targets else [])}  # which are of its results
    made = [table for table in tables if table.target in parts]
    again = checks.check_tables(reference, copy / results, made, exact)
    if "raced" in targets:
        scores = Table("hard/scores", "algorithm primal_step dual_step", "", "calibration/*.csv")
        raced = checks.check_tables(reference, copy / "results/hard-races", [scores], exact)
        again["races"] = raced[scores.name]
    drawn, damaged = {}, []
    for name, study in studies.items():
        record, figures = places(study)
        drawn[f"{name}the reference"] = checks.check_drawings(record, ROOT / figures, exact)
        if ("hard" if name else "figures") in targets:
            found = checks.check_figures(copy / figures, ROOT / figures, exact)
            drawn[f"{name}what was run"] = found
        damaged += [path.relative_to(ROOT) for path in storage.find_damaged(ROOT / study)]
    there = checks.check_tables(reference, ROOT / results, tables, exact, partial=True)
    skipped = defaultdict(list)
    for table in tables:
        if table.name not in {*again, *there}:
            skipped[f"make {table.target}"].append(table.name)
    return {
        "Run again": again,
        "Figures of": drawn,
        f"In {results}": {"files as written": [*map(storage.alteration, damaged)], **there},
        f"Neither run again nor in {results}": {it: ", ".join(skipped[it]) for it in skipped},
    }


def show(sections):
    """Print what was compared; return whether all agrees."""
    answers = []
    for heading, section in sections.items():
        print("", heading, sep="\n")
        for what, lines in section.items():
            if isinstance(lines, str):
                answer, lines = f"not compared: {lines}", []
                answer = f"\n{27 * ' '}".join(textwrap.wrap(answer, 68))
            else:
                answer = "NO" if lines else "yes"
            answers.append(answer)
            shown = len(lines) if heading == FILES else SHOWN
            print(f"  {what:<24} {answer}", *lines[:shown], sep="\n    ")
            if len(lines) > shown:
                print(f"    and {len(lines) - shown} more")
    print(f"\n{answers.count('yes')} agree, {answers.count('NO')} do not.")
    return "NO" not in answers


def main(copy, configfile, *targets):
    results = find_study(configfile)
    if not copy:
        return
    others = checks.check_platform(REFERENCE)
    if others:
        print(f"Another platform: numbers may differ by {checks.TOLERANCE}", *others, sep="\n  ")
    sections = {
        FILES: {
            "code": checks.check_files(ROOT, *checks.CODE),
            "reference, figures": checks.check_files(ROOT, "reference", "figures"),
        }
    }
    if targets:
        sections |= compare(Path(copy), results, targets, exact=not others)
    if not show(sections) or not targets:
        failed = "" if targets else "the study failed; "
        sys.exit(f"{failed}what was run is in {copy}; with COPY={copy} it goes on there")


if __name__ == "__main__":
    with validation.one_line((OSError, ValueError)):
        main(*sys.argv[1:])
