# Loading and validating the configuration; names of files; nothing else.

import ast
import json
import os
import sys
from functools import cache
from pathlib import Path

import yaml


from pgpd_hf.algorithms import get_algorithm

PACKAGE = Path("src/pgpd_hf")
STUDY = config["study"] if isinstance(config.get("study"), str) else ""
RESULTS = f"results/{STUDY}"
FIGURES = "figures" if STUDY == "paper" else f"{RESULTS}/figures"
CLAIMS = "config/claims.yaml"
FORMATS = ["pdf", "svg", "png"]
ROOM = 32 * 2**20  # bytes: what the default study takes, with its claims and theory
METRICS = ["optimality_gap", "constraint_violation"]

# Linear algebra on one thread: jobs share the cores, and bits do not depend on their number.
shell.prefix(
    "export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 " "PYTHONHASHSEED=0 TZ=UTC; "
)


def schema(name):
    """JSON Schema of a kind of configuration file."""
    path = Path(workflow.basedir, f"workflow/schemas/{name}.schema.yaml")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


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
        for file in workflow.overwrite_configfiles:
            configuration.read(file)
        configuration.check(config, schema("config"))
        sweeps.check(config)
        schedules.check(config)
        grid.check(config)
        claims.load_claims(CLAIMS, schema("claims"))
        readings.check(config, load_readings(), schema("config"))
    except ValueError as error:
        sys.exit(f"config: {error}")


def check_folders():
    """Stop if results cannot be written, or with a line per result that is not as written."""
    from pgpd_hf.storage import alteration, find_damaged, require_room

    try:
        for folder in (".snakemake", RESULTS, FIGURES):
            require_room(folder, ROOM)
    except OSError as error:
        sys.exit(f"error: {error}")
    damaged = find_damaged(RESULTS)
    if damaged:
        sys.exit("\n".join(f"error: {alteration(path)}" for path in damaged))


def take_folder():
    """Make sure that no other run works here, and that nothing of a killed one is left."""
    from pgpd_hf.exclusive_run import FolderInUse, claim, end_orphans
    from pgpd_hf.storage import remove_partial

    try:
        claim()
        if workflow.local_exec:  # jobs of a cluster may outlive the process that sent them
            end_orphans()
            remove_partial(RESULTS)
            remove_partial(FIGURES)
    except (FolderInUse, OSError) as error:
        sys.exit(f"error: {error}")


@cache
def imported(path):
    """Files of the package that one of them imports itself."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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


def project_files():
    """Files that the workflow consists of, and those with which it is set up and verified."""
    files = ["Snakefile", "Makefile", "README.md", "LICENSE", "CITATION.cff"]
    files += ["pyproject.toml", "requirements.lock", "environment.yml"]
    folders = ["config", "notebooks", "profiles", "reference", PACKAGE, "tools", "workflow"]
    found = [path for folder in folders for path in sorted(Path(folder).rglob("*"))]
    return files + [str(path) for path in found if path.is_file() and path.suffix != ".pyc"]


def drawings(**options):
    """Files of the figure: its panels and the whole, in every format; reports show the SVG."""
    titles = {
        f"{algorithm}_{metric}": f"{get_algorithm(algorithm).label}: {metric.replace('_', ' ')}"
        for algorithm in config["algorithms"]
        for metric in METRICS
    } | {"figure1": "All panels"}
    files = []
    for stem, title in titles.items():
        shown = report(f"{FIGURES}/{stem}.svg", labels={"result": title}, **options)
        files += [f"{FIGURES}/{stem}.pdf", shown, f"{FIGURES}/{stem}.png"]
    return files


def benchmarks_of(rule):
    """Benchmark files of all jobs that the results of a rule come from, by rule, as JSON.

    Files that an earlier plan has left, such as those of other blocks, are not among them.
    """
    dag = workflow.dag
    last = [job for job in dag.jobs if job.rule.name == rule]
    found = {}
    for job in dag.bfs(dag.dependencies, *last):
        if job.benchmark:
            found.setdefault(job.rule.name, set()).add(str(job.benchmark))
    return json.dumps({name: sorted(files) for name, files in sorted(found.items())})


def made(*rules):
    """Outputs of those of the rules that have been run before."""
    return [file for rule in rules if all(map(os.path.exists, rule.output)) for file in rule.output]
