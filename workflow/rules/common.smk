# Loading and validating the configuration; names of files; nothing else.

import ast
import json
import os
import sys
from pathlib import Path

import yaml

PACKAGE = Path("src/pgpd_hf")
STUDY = config["study"] if isinstance(config.get("study"), str) else ""
RESULTS = f"results/{STUDY}"
FIGURES = "figures" if STUDY == "paper" else f"{RESULTS}/figures"
FORMATS = ["pdf", "svg", "png"]
METRICS = ["optimality_gap", "constraint_violation"]

# Linear algebra on one thread: jobs share the cores, and bits do not depend on their number.
shell.prefix(
    "export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 " "PYTHONHASHSEED=0 TZ=UTC; "
)


def validate_config():
    """Stop with one line if the configuration cannot be run."""
    from pgpd_hf import configuration, schedules, sweeps

    schema = Path(workflow.basedir, "workflow/schemas/config.schema.yaml")
    try:
        configuration.check(config, yaml.safe_load(schema.read_text()))
        sweeps.check(config)
        schedules.check(config)
    except ValueError as error:
        sys.exit(f"config: {error}")


def sources(*modules):
    """Files of the package that the given modules import, directly or not."""
    found, waiting = set(), [PACKAGE / f"{module}.py" for module in modules]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ImportFrom) or not node.module.startswith("pgpd_hf"):
                continue
            base = PACKAGE.joinpath(*node.module.split(".")[1:])
            names = [base / name.name for name in node.names]
            candidates = [base, *names, base / "__init__", *[name / "__init__" for name in names]]
            waiting += [
                file
                for file in (candidate.with_suffix(".py") for candidate in candidates)
                if file.exists() and file != PACKAGE / "__init__.py"
            ]
    return sorted(str(path) for path in found)


def relevant(algorithm, *keys):
    """What of the configuration runs of an algorithm depend on, as JSON for a command line."""
    part = {key: config[key] for key in ("horizon", "link", *keys)}
    part["algorithms"] = {algorithm: config["algorithms"][algorithm]}
    return json.dumps(part)


def steps_of(wildcards):
    """File with the calibrated step sizes of a run, if it uses them."""
    calibrated = config["algorithms"][wildcards.algorithm]["primal_step"] == "calibrated"
    return f"{RESULTS}/calibration/{wildcards.algorithm}.json" if calibrated else []


def steps_option(wildcards, input):
    """The same, as an option of a command."""
    return f"--steps {input.steps}" if input.steps else ""


def traces():
    """Files of all runs of the study."""
    blocks = [
        f"{first:04d}-{min(first + config['block'], config['seeds']) - 1:04d}"
        for first in range(0, config["seeds"], config["block"])
    ]
    return expand(
        f"{RESULTS}/runs/{{algorithm}}/M{{evaluators}}/seeds{{block}}.parquet",
        algorithm=config["algorithms"],
        evaluators=crowds(config["evaluators"]),
        block=blocks,
    )


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
