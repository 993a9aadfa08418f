# The configuration, checked and settled, and what follows from it. No rules.

import os
import sys
from pathlib import Path

from replication import analyses, jobs, admission
from replication.analyses import instances
from replication.statements.report import CONFIRMATION
from replication.study import recorded_races, readings
from replication.files import exclusive_run, validation
from replication.files.storage import alteration, find_damaged, remove_partial, require_room

FOLDER = os.path.relpath(workflow.basedir)
STUDY = config["study"] if isinstance(config.get("study"), str) else ""
RESULTS = f"results/{STUDY}"
FIGURES = "figures" if STUDY == "paper" else f"{RESULTS}/figures"
CLAIMS = "config/claims.yaml"
CLAIMS_SCHEMA = "workflow/schemas/claims.schema.yaml"
# Only the default study has a confirmation, and a copy of the project may lack it.
CONFIRMED = [CONFIRMATION] if STUDY == "paper" and Path(CONFIRMATION).exists() else []
PAPER_ALGORITHMS = ("npgpd_hf", "zpgpd_hf")  # which theorems and statements are about
KNOWN = sorted(path.stem for path in Path("config/environments").glob("*.yaml"))  # studies
NOTEBOOKS = [path.stem for path in Path("notebooks").glob("*.ipynb")]
ROOM = 32 * 2**20  # bytes: what the default study takes, with its claims and theory

# Linear algebra on one thread: jobs share the cores, and bits do not depend on their number.
shell.prefix(
    "export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 "
    "PYTHONHASHSEED=0 PYTHONUTF8=1 TZ=UTC; "
)


def settle_config():
    """Stop with one line if the configuration cannot be run; say what is left out of it."""
    # Jobs on other nodes read the configuration again, but it has been checked.
    prepare = admission.admit if workflow.is_main_process else admission.settle
    with validation.one_line("config", ValueError):
        if workflow.is_main_process:
            for file in workflow.overwrite_configfiles:
                validation.read(file)
        own = workflow.config_settings.overwrite_config  # without config/config.yaml
        displaced = config != DEFAULTS and config.get("study") == DEFAULTS["study"]
        settled, lines = prepare(config, FOLDER, own, DEFAULTS)
    config.update(settled)
    if workflow.overwrite_configfiles and displaced:
        name = "its name is the default study's" if "study" in own else "no name given"
        places = f"results/{config['study']} and {FIGURES}"
        lines.insert(0, f"study: {name}, so results go to {places}, the default study's places")
    for line in lines if workflow.is_main_process else []:
        print(f"config: {line}", file=sys.stderr)
    return [line for line in lines if line.startswith("left out")]


def check_folders():
    """Stop if results cannot be written, or with a line per result that is not as written."""
    with validation.one_line("error", OSError):
        for folder in (".snakemake", RESULTS, FIGURES):
            require_room(folder, ROOM)
        damaged = find_damaged(RESULTS)
    if damaged:
        sys.exit("\n".join(f"error: {alteration(path)}" for path in damaged))


def take_folder():
    """Make sure that no other run works here, and that nothing of a killed one is left."""
    if workflow.local_exec and workflow.cores < 1:
        sys.exit("error: --cores 0: at least one core is needed; without one, jobs wait for ever")
    with validation.one_line("error", OSError):
        exclusive_run.claim()
        if workflow.local_exec:  # jobs of a cluster may outlive the process that sent them
            exclusive_run.end_orphans()
            remove_partial(RESULTS)
            remove_partial(FIGURES)


def lift_job_rate():
    """Let local jobs start at any rate.

    With a limit, Snakemake 9.27 looks at all jobs again one second after every look and after every
    job that ends, so that looks multiply: after 130 of 281 jobs they took a core away from the jobs.
    """
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None


LEFT_OUT = settle_config()
if workflow.is_main_process:
    check_folders()
READINGS = admission.load_readings(config, FOLDER)
CONFIGS = readings.configurations(config, READINGS)  # by folder: "" is the study's own
# Results that two readings share belong to the first of them.
ENVIRONMENT_OWNERS = readings.owners(CONFIGS, readings.environment_key)
RUN_OWNERS = {
    algorithm: readings.owners(CONFIGS, readings.runs_key, algorithm)
    for algorithm in config["algorithms"]
}
CALIBRATED = CONFIGS | instances.calibrations(config)  # and groups with steps of their own
RACES = recorded_races.load_record(FOLDER)
CALIBRATION_OWNERS = {
    algorithm: readings.owners(CALIBRATED, recorded_races.key, algorithm, RACES)
    for algorithm in config["algorithms"]
}
ANALYSES = analyses.find()
PLANS = {
    name: {part: jobs.fill_jobs(config, items) for part, items in analysis.plan(config).items()}
    for name, analysis in ANALYSES.items()
}
JUDGED = jobs.judged(config, READINGS)  # titles of what has a table of verdicts, by folder
# Folders with verdicts, by N. A study that infers has two for each: of seeds and of instances.
TRIALS = jobs.trials(CALIBRATED, JUDGED)
ROWS = jobs.table_megabytes(config)
