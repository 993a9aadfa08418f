# The configuration, checked and settled, and what follows from it. No rules.

import atexit
import gc
import os
import shlex
import sys
from functools import cache
from pathlib import Path

from snakemake.script import PythonScript
from snakemake_interface_executor_plugins import utils as commands
from snakemake_interface_executor_plugins.executors.real import RealExecutor

from replication import analyses
from replication.study import admission, configuration, jobs, readings, recorded_races
from replication.files import stale, validation
from replication.files.later import Later
from replication.files.storage import alteration, find_damaged, read_json
from replication.files.storage import remove_partial, require_room

STUDY = config["study"] if isinstance(config.setdefault("study", "paper"), str) else ""
RESULTS = f"results/{STUDY}"
# What is on record: of the default study, and of the hard case. Copies of the project may lack it.
RECORD = {"paper": "", "hard": "hard/"}.get(STUDY)
FIGURES = f"{RESULTS}/figures" if RECORD is None else f"figures/{RECORD}".rstrip("/")
# Where these are: a workflow that uses this one as a module may put a prefix before all it writes.
PLACES = {
    name: workflow.modifier.path_modifier.replace_prefix(folder)
    for name, folder in {"results": RESULTS, "figures": FIGURES}.items()
}
CLAIMS = str(PROJECT / "config/claims.yaml")
CONFIRMED, CONTROLLED = (
    [str(path) for path in [PROJECT / f"reference/{RECORD}{name}.csv"] if path.exists()]
    for name in ("confirmation", "controls")
)
KNOWN = sorted(path.stem for path in Path(PROJECT, "config/environments").glob("*.yaml"))  # studies
NOTEBOOKS = [path.stem for path in Path(PROJECT, "notebooks").glob("*.ipynb")]
ROOM = 32 * 2**20  # bytes: what the default study takes, with its claims and theory

# Linear algebra on one thread: jobs share the cores, and bits do not depend on their number.
shell.prefix(
    "export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 "
    "PYTHONHASHSEED=0 PYTHONUTF8=1 TZ=UTC; "
)


# Python looks again and again for what can be forgotten, through all that has been loaded, too,
# although modules stay to the end: a quarter of the time that a plan takes.
gc.freeze()


def quote_paths():
    """Let folders have any name: Snakemake 9.27 quotes paths as Python does, or not at all."""
    run, submit = PythonScript._execute_cmd, RealExecutor.format_job_exec
    PythonScript._execute_cmd = lambda self, command, **options: run(
        self, command.replace("{py_exec}", "{py_exec:q}"), **options
    )
    RealExecutor.format_job_exec = lambda self, job: submit(self, job).replace(
        f"{sys.executable} -m snakemake", f"{shlex.quote(sys.executable)} -m snakemake", 1
    )
    commands.repr = lambda value: shlex.quote(value) if isinstance(value, str) else repr(value)


def settle_config():
    """Stop with one line if the configuration cannot be run; say what is left out of it."""
    # Jobs on other nodes read the configuration again, but it has been checked.
    prepare = admission.admit if workflow.is_main_process else admission.settle
    with validation.one_line(ValueError):
        files = workflow.overwrite_configfiles if workflow.is_main_process else ()
        # A workflow that uses this one as a module may give all of config/config.yaml.
        given = workflow.modifier.skip_configfile
        defaults = admission.load_defaults(PROJECT)
        own = workflow.config_settings.overwrite_config
        own = readings.difference(config, defaults) if given else own
        whole = readings.overlay(defaults, config)
        settled, lines = prepare(whole, PROJECT, own, defaults, ANALYSES)
        if workflow.is_main_process and RECORD is not None and (files or STUDY != "paper"):
            said = [own] if given else map(validation.read, files)
            admission.refuse_displacing(STUDY, said, PROJECT, defaults)
        elif workflow.is_main_process and RECORD is None and PROJECT == Path():
            admission.refuse_namesake(STUDY, files, PROJECT)
    config.update(settled)
    for line in lines if workflow.is_main_process else []:
        print(f"note: {line}", file=sys.stderr)
    return [line for line in lines if line.startswith("left out")]


def check_folders():
    """Stop if results cannot be written, or with a line per result that is not as written."""
    with validation.one_line(OSError):
        for folder in (".snakemake", *PLACES.values()):
            require_room(folder, ROOM)
        folders = PLACES["results"], *(["results/environments"] if RECORD == "" else [])
        damaged = [path for folder in folders for path in find_damaged(folder)]
    if damaged:
        sys.exit("\n".join(f"error: {alteration(path)}" for path in damaged))
    if (made := Path(PLACES["results"], "provenance.json")).exists():
        # Why runs of another length are not continued.
        for line in configuration.other_lengths(config, read_json(made)["config"]):
            print(f"note: {line}", file=sys.stderr)


def take_folder():
    """Make sure that no other run works here, and that nothing of a killed one is left."""
    from replication.files import exclusive_run  # a plan, such as that of a job, does without

    if workflow.local_exec and workflow.cores < 1:
        sys.exit("error: --cores 0: at least one core is needed; without one, jobs wait for ever")
    with validation.one_line(OSError):
        exclusive_run.claim()
        if workflow.local_exec:  # jobs of a cluster may outlive the process that sent them
            exclusive_run.end_orphans()
            for folder in PLACES.values():
                remove_partial(folder)


def lift_job_rate():
    """Let local jobs start at any rate."""
    # With a limit, Snakemake 9.27 looks at all jobs again one second after every look and after
    # every job that ends, so that looks multiply: after 130 of 281 jobs they took a core away.
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None


def show_results(folder):
    """Print the summary and the verdicts if they were asked for, also where nothing had to run."""
    # There is no scheduler before the plan is whole: results may then be those of another plan.
    if workflow.dryrun or workflow.scheduler is None or any(workflow.dag.needrun_jobs()):
        return
    made = {file for job in workflow.dag.jobs for file in job.output}
    for name in ("summary", "verdicts"):
        if (path := f"{PLACES['results']}/{name}.txt") in made and Path(folder, path).exists():
            print("", Path(folder, path).read_text(encoding="utf-8"), sep="\n")


if workflow.is_main_process and not workflow.output_settings.dryrun:
    from replication.files import progress

    progress.show(bar=not workflow.resource_settings.default_resources)  # which clusters have
quote_paths()
stale.decide_by_content(PROJECT / "workflow/rules")
ANALYSES = analyses.find()
LEFT_OUT = settle_config()
if workflow.is_main_process:
    check_folders()


@cache
def require(name):
    """Refuse an analysis that is asked for and cannot be made, with what would have to change."""
    if why := ask(ANALYSES[name].why_not):
        sys.exit(f"error: {name}: {why}")
    if workflow.is_main_process:  # jobs on other nodes need not check it again
        with validation.one_line(ValueError):
            ask(ANALYSES[name].check)


def required(name):
    """Among inputs of a rule: refuses its analysis before any job, and gives no file."""
    return lambda wildcards: require(name) or []


def load_readings():
    """Readings of the study by name."""
    with validation.one_line(ValueError):
        loaded = readings.load(config, PROJECT)
        if workflow.is_main_process:
            readings.check(config, loaded, admission.load_schema(PROJECT, "config"))
    return loaded


@cache
def plan(name):
    """Cases of an analysis by part and block."""
    require(name)
    parts = ANALYSES[name].plan(config).items()
    return {part: jobs.fill_jobs(config, items) for part, items in parts}


def owners(configs, key, *arguments):
    """Whose results a folder uses; those that two readings share belong to the first of them."""
    return Later(lambda: readings.owners(configs, key, *arguments), {"": ""})


# What only some results need is read, checked and planned when one of them is asked for.
READINGS = Later(load_readings)
CONFIGS = Later(lambda: readings.configurations(config, READINGS), {"": config})  # by folder
ENVIRONMENT_OWNERS = owners(CONFIGS, readings.environment_key)
RUN_OWNERS = {name: owners(CONFIGS, readings.runs_key, name) for name in config["algorithms"]}
# Those with step sizes of their own: groups of instances, too.
CALIBRATED = Later(lambda: {**CONFIGS, **ANALYSES["instances"].calibrations(config)}, {"": config})
RACES = recorded_races.load_record(PROJECT)
CALIBRATION_OWNERS = {
    name: owners(CALIBRATED, recorded_races.key, name, RACES) for name in config["algorithms"]
}
# Titles of tables of verdicts, by folder.
JUDGED = Later(lambda: ANALYSES["verdicts"].judged(config, READINGS))
# Folders with verdicts, by N. A study that infers has two for each: of seeds and of instances.
TRIALS = Later(lambda: ANALYSES["inference"].trials_of(CALIBRATED, JUDGED))

# `onsuccess` is left out where nothing has to run. At the end the folder of --directory is left.
if workflow.is_main_process:
    atexit.register(show_results, Path.cwd())
