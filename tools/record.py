"""Write committed tables anew: those of reference/ from results/paper, or those of a study.

The figures of the core are already where they belong. `record.py NAME` copies the tables that the
study has made, and its pictures.
"""

import shutil
import sys

from verify import CLONE, REFERENCE, TABLES, describe_platform

from pgpd_hf.tables import write_json, write_table

RESULTS = CLONE / "results/paper"

if study := "".join(sys.argv[1:]):
    # All tables but asked.csv, verdicts with settings that somebody asked for.
    made = [path for path in (RESULTS / study).glob("*.csv") if path.stem != "asked"]
    if not made:
        sys.exit(f"error: {RESULTS / study}: no tables; make study STUDY={study} makes them")
    folder = CLONE / "studies" / study
    shutil.rmtree(folder / "tables", ignore_errors=True)
    (folder / "tables").mkdir()
    for path in made:
        shutil.copy(path, folder / "tables")
    for path in (RESULTS / study).glob("*.png"):
        shutil.copy(path, folder)
else:
    for name, read in TABLES.items():
        write_table(read(RESULTS), REFERENCE / name)
    write_json(describe_platform(), REFERENCE / "platform.json")
