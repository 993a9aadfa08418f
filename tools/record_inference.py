"""Put what `make infer` finds on record: tables in reference/, and the figure of other N."""

import shutil
import sys
from pathlib import Path

import first_edition
import pandas as pd

from pgpd_hf.figures import FORMATS
from pgpd_hf.support import storage, validation
from pgpd_hf.verification import checks
from pgpd_hf.verification.tables import TABLES

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "reference"


def compare_editions(study):
    """Write the verdicts on the data of the confirmation by both editions of the criteria."""
    tables = []
    for place, runs, group in (
        ("full", "full/runs", ""),
        ("instances/fresh", "instances/fresh", "fresh"),
    ):
        second = pd.read_csv(study / place / "claims.csv")
        traces = sorted((study / runs).rglob("*.parquet"))
        first = first_edition.judge(traces, study / "environment.npz", group)
        columns = ["claim", "estimate", "low", "high", "verdict"]
        both = second[["unit", "statement", *columns]].merge(
            first[columns], on="claim", how="left", suffixes=("", "_first_edition")
        )
        tables.append(both[both["verdict_first_edition"].notna()])
    storage.write_table(study / "editions.csv", pd.concat(tables, ignore_index=True))


def main(results):
    study = Path(results, "inference")  # the others stand beside it
    compare_editions(Path(results, "confirmation"))
    made = [table for table in TABLES if table.target == "infer"]
    checks.write_reference(REFERENCE, study, made)
    for ending in FORMATS:
        name = f"pairs.{ending}"
        shutil.copyfile(Path(results, "inference/figures", name), ROOT / "figures" / name)


if __name__ == "__main__":
    with validation.one_line("error", (OSError, ValueError)):
        main(sys.argv[1])
