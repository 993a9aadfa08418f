"""Run the experiment again in a folder of its own, and compare it with reference/ and figures/.

`make verify` does it for one seed, `make verify FULL=1` for all of it, and `make verify STUDY=NAME`
for a study and its tables. On the platform of reference/platform.json every bit has to agree; why
1e-8 is enough elsewhere: reference/README.md.
"""

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numba
import numpy as np
import pandas as pd
from llvmlite import binding

from pgpd_hf.tables import one_line, read_json

CLONE = Path(__file__).resolve().parents[1]
REFERENCE, FIGURES = CLONE / "reference", CLONE / "figures"
TOLERANCE = 1e-8  # times the size of a number, where it exceeds one
PACKAGES = "numpy scipy numba llvmlite pandas matplotlib pillow".split()
RUN = ["algorithm", "evaluators", "seed"]
DRAWN = """algorithm evaluators iteration optimality_gap constraint_violation optimality_gap_low
optimality_gap_high constraint_violation_low constraint_violation_high mean_optimality_gap
mean_constraint_violation""".split()


def describe_platform():
    """Describe what the last bits depend on: the machine, and packages that compute or draw."""
    machine = {
        "system": platform.system(),
        "machine": platform.machine(),
        "C library": " ".join(platform.libc_ver()),
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "processor": numba.config.CPU_NAME or binding.get_host_cpu_name(),
        "OpenBLAS": os.environ.get("OPENBLAS_CORETYPE", "as the processor asks"),
        "instructions": " ".join(np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])),
    }
    return machine | {name: version(name) for name in PACKAGES}


def read(path):
    """Read a CSV table as text, in which numbers have the same bits if they read the same."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def entries(arrays):
    """Numbers of arrays below each other, with names such as policy.3.1."""
    rows = [
        (".".join([name, *map(str, place)]), str(number))
        for name, array in arrays.items()
        for place, number in np.ndenumerate(array)
    ]
    return pd.DataFrame(rows, columns=["entry", "value"])


def read_optimum(results):
    """Read the arrays and numbers of the optima."""
    return entries(pd.json_normalize(read_json(results / "optimum.json")).iloc[0])


def read_runs(results):
    """Read the last row of every run, with the digest of all its rows as CSV."""
    seeds = pd.read_csv(results / "aggregate.csv")["seeds"].max()  # a study may have run more
    paths = results.glob("runs/*/*/seeds*.csv")
    traces = pd.concat(read(path) for path in paths if int(path.stem[-4:]) < seeds)
    traces = traces.sort_values([*RUN[1:], "iteration"], key=pd.to_numeric)
    runs = traces.sort_values("algorithm", kind="stable").groupby(RUN, sort=False)
    texts = [run.to_csv(index=False, lineterminator="\n") for _, run in runs]
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    ends = runs.tail(1).assign(checkpoints=runs.size().astype(str).to_numpy(), sha256=digests)
    return ends.reset_index(drop=True)


TABLES = {  # of reference/, from the folder of results; the first three can be had for one seed
    "environment": lambda results: entries(np.load(results / "environment.npz")),
    "optimum": read_optimum,
    "runs": read_runs,
    "curves": lambda results: read(results / "aggregate.csv")[DRAWN],
    "rates": lambda results: read(results / "rates.csv"),
    "rates_averages": lambda results: read(results / "rates_averages.csv"),
}


def differences(recorded, here, exact):
    """Cells of a table that differ, as a table of the values in both places."""
    if [*recorded] != [*here] or len(recorded) != len(here):
        shapes = [f"{len(table)} rows of {', '.join(table)}" for table in (recorded, here)]
        return pd.DataFrame({"recorded": shapes[:1], "here": shapes[1:]})
    if not exact:
        first, second = (table.apply(pd.to_numeric, errors="coerce") for table in (recorded, here))
        near = (first - second).abs() <= TOLERANCE * first.abs().clip(lower=1)
        here = here.mask(near, recorded).drop(columns="sha256", errors="ignore")
        recorded = recorded[[*here]]
    return recorded.compare(here, result_names=("recorded", "here")).stack(0).dropna()


def run(folder, cores, snakefile, arguments):
    """Run the workflow in a folder; only errors are shown."""
    command = [sys.executable, "-P", "-m", "snakemake", "--snakefile", CLONE / snakefile]
    command += ["--quiet", "rules", "progress", "reason", "host"]  # but not what is wrong
    command += ["--directory", folder, "--cores", cores, "--no-hooks"]
    done = subprocess.run([*command, *arguments], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{done.stderr}error: the run in {folder} failed")


def read_pictures(folder):
    """Digests of the core's pictures; that of studies' tables is another's."""
    paths = [it for it in sorted(folder.iterdir()) if it.suffix in (".pdf", ".png", ".svg")]
    paths = [it for it in paths if it.stem != "summary"]
    digests = [hashlib.sha256(it.read_bytes()).hexdigest() for it in paths]
    return pd.DataFrame({"picture": [it.name for it in paths], "sha256": digests})


def tables(folder, study, full, pictures):
    """Yield names of tables, what is recorded, and what was run again."""
    results = folder / "results/paper"
    if study:
        for path in sorted((CLONE / "studies" / study / "tables").glob("*.csv")):
            yield f"{study}/tables/{path.name}", read(path), read(results / study / path.name)
        return
    for name in [*TABLES][: None if full else 3]:
        recorded, where = read(REFERENCE / f"{name}.csv"), f"reference/{name}.csv"
        if name == "runs" and not full:
            recorded = recorded[recorded["seed"] == "0"].reset_index(drop=True)
            where += ", seed 0"
        yield where, recorded, TABLES[name](results)
    for path in sorted(FIGURES.glob("*_*.csv")) if full else ():
        yield f"figures/{path.name}", read(path), read(folder / "figures" / path.name)
    if full and pictures:
        yield "pictures in figures/", *map(read_pictures, (FIGURES, folder / "figures"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="all seeds, rates and pictures")
    parser.add_argument("--study", help="name of a folder below studies/")
    parser.add_argument("--cores", default="all")
    options = parser.parse_args()
    recorded, here = read_json(REFERENCE / "platform.json"), describe_platform()
    others = [f"{name} {here.get(name)}" for name in recorded if here.get(name) != recorded[name]]
    print(f"Other platform: {', '.join(others)}." if others else "Every bit has to agree.")
    if others:
        print(f"Numbers may differ by {TOLERANCE}; pictures are not compared.")
    snakefile = f"studies/{options.study}/Snakefile" if options.study else "Snakefile"
    if not (CLONE / snakefile).is_file():
        raise ValueError(f"STUDY: a folder of studies expected, got {options.study!r}")
    folder = Path(tempfile.mkdtemp(prefix="verify-"))
    print(f"Running in {folder} ...", flush=True)
    one_seed = not (options.study or options.full)
    run(folder, options.cores, snakefile, ["aggregate", "--config", "seeds=1"] if one_seed else [])
    wrong = []
    for name, *pair in tables(folder, options.study, options.full, not others):
        cells = differences(*pair, exact=not others)
        print(f"{name:<46}{'yes' if cells.empty else f'NO, {len(cells)} differ'}")
        if not cells.empty:
            wrong.append(name)
            print(cells[:3].to_string())
    if wrong:
        sys.exit(f"Not all agrees; what was run is in {folder}")
    shutil.rmtree(folder)
    print("All agrees; FULL=1 compares the rest." if one_seed else "All agrees.")


if __name__ == "__main__":
    with one_line():
        main()
