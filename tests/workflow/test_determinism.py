"""Figures and tables of complete runs are the same bytes, whatever the surroundings."""

import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import yaml

from replication.study import readings

KINDS = {".csv", ".json", ".npz", ".parquet", ".pdf", ".png", ".svg", ".txt"}
BLOCK = re.compile(r"(seeds)?\d+-\d+")  # name of a file that holds a block
READ = {
    ".parquet": pd.read_parquet,
    ".csv": pd.read_csv,
    ".json": lambda path: pd.read_json(path, orient="index", precise_float=True).reset_index(),
}
BLOCKS = {"block": 1, "job_minutes": 1e-5}


def outcome(project):
    """Content of every table and figure; blocks are put together."""
    found, blocks = {}, {}
    for path in sorted(project.results().rglob("*")):
        name = path.relative_to(project.results()).as_posix()
        if path.suffix not in KINDS or name.startswith(("logs/", "benchmarks/", "provenance")):
            continue
        if BLOCK.fullmatch(path.stem):
            place = f"{Path(name).parent}/*{path.suffix}"
            blocks.setdefault(place, []).append(READ[path.suffix](path))
        else:
            found[name] = path.read_bytes()
    for name, tables in blocks.items():
        table = pd.concat(tables, ignore_index=True)
        found[name] = table.sort_values(list(table.columns)).to_csv(index=False)
    return found


def differing(project, other):
    """Names of tables and figures that two projects do not share."""
    first, second = outcome(project), outcome(other)
    return sorted(name for name in {**first, **second} if first.get(name) != second.get(name))


def german(folder):
    """Make a locale with a decimal comma and an encoding of its own, where that is possible."""
    if shutil.which("localedef") is None:
        return {"LC_ALL": "de_DE.ISO8859-1"}
    target = folder / "de_DE.ISO-8859-1"
    subprocess.run(
        ["localedef", "-i", "de_DE", "-f", "ISO-8859-1", target], check=False, capture_output=True
    )
    return {"LOCPATH": str(folder), "LC_ALL": target.name}


@pytest.mark.long
@pytest.mark.faults
def test_surroundings_of_a_run_are_not_in_its_results(finished, fresh, tmp_path_factory):
    # One core, small blocks, another working directory, locale and time zone, all at once.
    project, _ = finished
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    surroundings = {**german(elsewhere), "TZ": "Pacific/Kiritimati"}
    options = ["--cores", "1", "--config", "block=2"]
    code, output = fresh.snakemake(*options, cwd=elsewhere, environment=surroundings)
    assert code == 0, output
    made = outcome(fresh)
    assert {"aggregate.parquet", "claims.csv", "figures/figure1.pdf", "bounds.csv"} <= set(made)
    assert [name for name in differing(project, fresh) if name in made] == []


@pytest.mark.slow
@pytest.mark.parametrize("change", ["one core", "blocks", "folder", "locale", "plain", "time zone"])
def test_everything_again_gives_the_same_bytes(complete, fresh, tmp_path_factory, change):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    options = {
        "folder": {"cwd": elsewhere},
        "locale": {"environment": german(elsewhere)},
        "plain": {"environment": {"LC_ALL": "C", "LANG": ""}},
        "time zone": {"environment": {"TZ": "Pacific/Kiritimati"}},
    }.get(change, {})
    if change == "blocks":
        study = yaml.safe_load((fresh.folder / "config/smoke.yaml").read_text())
        study = readings.overlay(study, BLOCKS)
        (fresh.folder / "config/blocks.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
        options = {"configfile": "config/blocks.yaml"}
    cores = "1" if change == "one core" else "2"
    targets = ["all", "theory", "compare", "grid", "claims"]
    code, output = fresh.snakemake(*targets, "--cores", cores, **options)
    assert code == 0, output
    assert differing(complete, fresh) == []
