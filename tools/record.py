"""Write committed tables anew: those of reference/ from results/paper, or those of a study.

The figures of the core are already where they belong. `record.py NAME` copies the tables that the
study has made, and its pictures.
"""

import json
import shutil
import sys

from verify import CLONE, REFERENCE, TABLES, describe_platform


def record_core():
    """Write reference/ from results/paper."""
    for name, read in TABLES.items():
        table = read(CLONE / "results/paper")
        table.to_csv(REFERENCE / f"{name}.csv", index=False, lineterminator="\n")
    description = json.dumps(describe_platform(), indent=2) + "\n"
    (REFERENCE / "platform.json").write_text(description, encoding="utf-8")


def record_study(name):
    """Copy tables and pictures of a study to its folder."""
    made, study = CLONE / "results/paper" / name, CLONE / "studies" / name
    for path in (study / "tables").glob("*.csv"):
        path.unlink()
    for path in made.glob("*.csv"):
        if path.stem != "asked":  # for verdicts that somebody asked for
            shutil.copy(path, study / "tables")
    for path in made.glob("*.png"):
        shutil.copy(path, study)


if __name__ == "__main__":
    if sys.argv[1:]:
        record_study(sys.argv[1])
    else:
        record_core()
