"""Run the experiment again in a folder of its own, and compare it with reference/ and figures/.

`make verify` does it for one seed, `make verify FULL=1` for all of it, and `make verify STUDY=NAME`
for a study and its tables. On the platform of reference/platform.json every bit has to agree; why
1e-8 is enough elsewhere: reference/README.md.
"""

import argparse
import filecmp
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from pgpd_hf.compilation import machine
from pgpd_hf.tables import one_line, read_json, run_paths, write_table

CLONE = Path(__file__).resolve().parents[1]
REFERENCE, FIGURES = CLONE / "reference", CLONE / "figures"
TOLERANCE = 1e-8
PACKAGES = "numpy scipy numba llvmlite pandas matplotlib pillow".split()
RUN = ["algorithm", "evaluators", "seed"]
DRAWN = """algorithm evaluators iteration optimality_gap constraint_violation optimality_gap_low
optimality_gap_high constraint_violation_low constraint_violation_high mean_optimality_gap
mean_constraint_violation""".split()


def describe_platform():
    """Describe what the last bits depend on: the machine, and packages that compute or draw."""
    others = {
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "OpenBLAS": os.environ.get("OPENBLAS_CORETYPE", "as the processor asks"),
        "instructions": " ".join(np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])),
    }
    return machine() | others | {name: version(name) for name in PACKAGES}


def entries(arrays):
    """Numbers of arrays below each other, with names such as policy.3.1."""
    rows = [
        (".".join([name, *map(str, place)]), str(number))
        for name, array in arrays.items()
        for place, number in np.ndenumerate(array)
    ]
    return pd.DataFrame(rows, columns=["entry", "value"])


def read_runs(results):
    """Read the last row of every run, with the digest of all its rows as CSV."""
    text = {"dtype": str, "keep_default_na": False}
    traces = pd.concat(pd.read_csv(path, **text) for path in run_paths(results))
    traces = traces.sort_values([*RUN[1:], "iteration"], key=pd.to_numeric)
    runs = traces.sort_values("algorithm", kind="stable").groupby(RUN, sort=False)
    texts = [run.to_csv(index=False, lineterminator="\n") for _, run in runs]
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    return runs.tail(1).assign(checkpoints=runs.size().to_numpy(), sha256=digests)


TABLES = {  # of reference/, from the folder of results; the first three can be had for one seed
    "environment.csv": lambda results: entries(np.load(results / "environment.npz")),
    "optimum.csv": lambda it: entries(pd.json_normalize(read_json(it / "optimum.json")).iloc[0]),
    "runs.csv": read_runs,
    "curves.csv": lambda results: pd.read_csv(results / "aggregate.csv", dtype=str)[DRAWN],
    "rates.csv": lambda results: pd.read_csv(results / "rates.csv", dtype=str),
    "rates_averages.csv": lambda it: pd.read_csv(it / "rates_averages.csv", dtype=str),
}


def tables(folder, study, full):
    """Recorded tables, and where those are that were made in a folder."""
    results = folder / "results/paper"
    if study:
        recorded = sorted((CLONE / "studies" / study / "tables").glob("*.csv"))
        return {path: results / study / path.name for path in recorded}
    names = [*TABLES] if full else [*TABLES][:3]
    for name in names:
        write_table(TABLES[name](results), folder / name)
    panels = sorted(FIGURES.glob("*_*.csv")) if full else []
    found = {REFERENCE / name: folder / name for name in names}
    return found | {path: folder / "figures" / path.name for path in panels}


def difference(recorded, here, exact=True, one_seed=False):
    """The first difference of two tables, in words, or nothing."""
    # As text, numbers have the same bits if they read the same.
    text = {"dtype": str, "keep_default_na": False} if exact else {}
    first, second = pd.read_csv(recorded, **text), pd.read_csv(here, **text)
    if one_seed and "seed" in first:
        first = first[first["seed"].astype(int) == 0].reset_index(drop=True)
    if not exact:
        first, second = (it.drop(columns="sha256", errors="ignore") for it in (first, second))
    near = {"check_dtype": False, "rtol": TOLERANCE, "atol": TOLERANCE}
    try:
        pd.testing.assert_frame_equal(first, second, **near)
    except AssertionError as error:
        place, *_, values = str(error).splitlines()
        return f"{place}: {values}"
    return ""


def run(folder, cores, snakefile, arguments):
    """Run the workflow in a folder; only errors are shown."""
    command = [sys.executable, "-P", "-m", "snakemake", "--snakefile", CLONE / snakefile]
    command += ["--quiet", "rules", "progress", "reason", "host"]  # but not what is wrong
    command += ["--directory", folder, "--cores", cores, "--no-hooks", *arguments]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{done.stderr}error: the run in {folder} failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="all seeds, rates and pictures")
    parser.add_argument("--study", help="name of a folder below studies/")
    parser.add_argument("--cores", default="all")
    options = parser.parse_args()
    snakefile = f"studies/{options.study}/Snakefile" if options.study else "Snakefile"
    if not (CLONE / snakefile).is_file():
        raise ValueError(f"STUDY: a folder of studies expected, got {options.study!r}")
    recorded, here = read_json(REFERENCE / "platform.json"), describe_platform()
    others = [f"{name} {here.get(name)}" for name in recorded if here.get(name) != recorded[name]]
    told = f"Other platform: {', '.join(others)}. Numbers may differ by {TOLERANCE}."
    print(told if others else "Every bit has to agree.")
    folder = Path(tempfile.mkdtemp(prefix="verify-"))
    print(f"Running in {folder} ...", flush=True)
    one_seed = not (options.study or options.full)
    run(folder, options.cores, snakefile, ["aggregate", "--config", "seeds=1"] if one_seed else [])
    wrong, left_out = {}, ""
    for path, made in tables(folder, options.study, options.full).items():
        if path.name.startswith("sepsis_") and not find_spec("icu_sepsis"):
            left_out = " But icu-sepsis is not installed, so its tables were not made."
        else:
            wrong[str(path.relative_to(CLONE))] = difference(path, made, not others, one_seed)
    if options.full and not others:
        names = [path.name for path in FIGURES.iterdir() if path.stem != "summary"]
        _, other, missing = filecmp.cmpfiles(FIGURES, folder / "figures", names, shallow=False)
        wrong["files in figures/"] = ", ".join(other + missing)
    for name, told in wrong.items():
        print(f"{name:<48}{f'NO: {told}' if told else 'yes'}")
    if any(wrong.values()):
        sys.exit(f"Not all agrees; what was run is in {folder}")
    shutil.rmtree(folder)
    told = "All agrees for seed 0; FULL=1 compares the rest." if one_seed else "All agrees."
    print(told + left_out)


if __name__ == "__main__":
    with one_line():
        main()
