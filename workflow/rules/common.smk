# Loading and validating the configuration; names of files; nothing else.

import json
import os
import sys
from pathlib import Path

from pgpd_hf.algorithms import get_algorithm

PACKAGE = Path("src/pgpd_hf")
FOLDER = os.path.relpath(workflow.basedir)
STUDY = config["study"] if isinstance(config.get("study"), str) else ""
RESULTS = f"results/{STUDY}"
FIGURES = "figures" if STUDY == "paper" else f"{RESULTS}/figures"
CLAIMS = "config/claims.yaml"
FORMATS = ["pdf", "svg", "png"]
ROOM = 32 * 2**20  # bytes: what the default study takes, with its claims and theory
METRICS = ["optimality_gap", "constraint_violation"]

# Linear algebra on one thread: jobs share the cores, and bits do not depend on their number. Logs
# in UTF-8: other encodings lack signs that names of cases have.
shell.prefix(
    "export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 "
    "PYTHONHASHSEED=0 PYTHONUTF8=1 TZ=UTC; "
)


def settle_config():
    """Stop with one line if the configuration cannot be run; leave out what cannot be meant."""
    from pgpd_hf.studies import study

    # Jobs on other nodes read the configuration anew, but it has been checked.
    prepare = study.admit if workflow.is_main_process else study.settle
    try:
        if workflow.is_main_process:
            for file in workflow.overwrite_configfiles:
                configuration.read(file)
        own = workflow.config_settings.overwrite_config  # without config/config.yaml
        settled, lines = prepare(config, FOLDER, own, DEFAULTS)
    except ValueError as error:
        sys.exit(f"config: {error}")
    config.update(settled)
    for line in lines if workflow.is_main_process else []:
        print(f"config: {line}", file=sys.stderr)


def check_folders():
    """Stop if results cannot be written, or with a line per result that is not as written."""
    from pgpd_hf.support.storage import alteration, find_damaged, require_room

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
    from pgpd_hf.support.exclusive_run import FolderInUse, claim, end_orphans
    from pgpd_hf.support.storage import remove_partial

    try:
        claim()
        if workflow.local_exec:  # jobs of a cluster may outlive the process that sent them
            end_orphans()
            remove_partial(RESULTS)
            remove_partial(FIGURES)
    except (FolderInUse, OSError) as error:
        sys.exit(f"error: {error}")


def sources(*modules):
    """Files of the package that the given modules consist of."""
    from pgpd_hf.support import dependencies

    return [str(PACKAGE / path) for path in dependencies.sources(*modules)]


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
