# Loading and validating the configuration; names of files; nothing else.

import ast
import json
import os
import sys
from functools import cache
from pathlib import Path

import yaml

PACKAGE = Path("src/pgpd_hf")
STUDY = config["study"] if isinstance(config.get("study"), str) else ""
RESULTS = f"results/{STUDY}"
FIGURES = "figures" if STUDY == "paper" else f"{RESULTS}/figures"
CLAIMS = "config/claims.yaml"
FORMATS = ["pdf", "svg", "png"]
METRICS = ["optimality_gap", "constraint_violation"]

# Linear algebra on one thread: jobs share the cores, and bits do not depend on their number.
shell.prefix(
    "export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 " "PYTHONHASHSEED=0 TZ=UTC; "
)


def schema(name):
    """JSON Schema of a kind of configuration file."""
    path = Path(workflow.basedir, f"workflow/schemas/{name}.schema.yaml")
    return yaml.safe_load(path.read_text())


def load_readings():
    """The readings of the study, by name."""
    from pgpd_hf import readings

    return {
        name: readings.load_reading("config/readings", name, schema("reading"))
        for name in config["claims"]["readings"]
    }


def validate_config():
    """Stop with one line if the configuration cannot be run."""
    from pgpd_hf import claims, configuration, grid, readings, schedules, sweeps

    try:
        configuration.check(config, schema("config"))
        sweeps.check(config)
        schedules.check(config)
        grid.check(config)
        claims.load_claims(CLAIMS, schema("claims"))
        readings.check(config, load_readings(), schema("config"))
    except ValueError as error:
        sys.exit(f"config: {error}")


@cache
def imported(path):
    """Files of the package that one of them imports itself."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or not node.module.startswith("pgpd_hf"):
            continue
        base = PACKAGE.joinpath(*node.module.split(".")[1:])
        names = [base / name.name for name in node.names]
        candidates = [base, *names, base / "__init__", *[name / "__init__" for name in names]]
        found += [
            file
            for file in (candidate.with_suffix(".py") for candidate in candidates)
            if file.exists() and file != PACKAGE / "__init__.py"
        ]
    return found


@cache
def sources(*modules):
    """Files of the package that the given modules import, directly or not."""
    found, waiting = set(), [PACKAGE / f"{module}.py" for module in modules]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += imported(path)
    return sorted(str(path) for path in found)


def rate_traces():
    """Files of all runs of the sweep over T."""
    return expand(
        f"{RESULTS}/rates/{{algorithm}}/{{step_rule}}_steps/M{{evaluators}}.parquet",
        algorithm=config["algorithms"],
        step_rule=["study", "theorem"],
        evaluators=crowds(config["rates"]["evaluators"]),
    )


def crowds(numbers):
    """Numbers of evaluators as parts of file names."""
    return ["inf" if number is None else str(number) for number in numbers]


def drawings():
    """Files of the figure: its panels and the whole, in every format."""
    panels = [f"{algorithm}_{metric}" for algorithm in config["algorithms"] for metric in METRICS]
    return expand(f"{FIGURES}/{{stem}}.{{ending}}", stem=[*panels, "figure1"], ending=FORMATS)
