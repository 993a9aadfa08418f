# Loading and validating the configuration; names of files; what jobs ask for. No rules.

import hashlib
import os
import sys
from functools import cache
from pathlib import Path

from pgpd_hf import analyses, environments, resources, study, sweeps
from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.analyses import instances
from pgpd_hf.claims.report import CONFIRMATION
from pgpd_hf.core.evaluators import evaluators_text
from pgpd_hf.figures import FORMATS
from pgpd_hf.runs import METRICS
from pgpd_hf.studies import configuration, races, readings
from pgpd_hf.support import dependencies, exclusive_run, validation
from pgpd_hf.support.storage import alteration, find_damaged, remove_partial, require_room

FOLDER = os.path.relpath(workflow.basedir)
STUDY = config["study"] if isinstance(config.get("study"), str) else ""
RESULTS = f"results/{STUDY}"
FIGURES = "figures" if STUDY == "paper" else f"{RESULTS}/figures"
CLAIMS = "config/claims.yaml"
CLAIMS_SCHEMA = "workflow/schemas/claims.schema.yaml"
# Only the default study has a confirmation, and a copy of the project may lack it.
CONFIRMED = [CONFIRMATION] if STUDY == "paper" and Path(CONFIRMATION).exists() else []
PAPER_ALGORITHMS = ("npgpd_hf", "zpgpd_hf")  # which theorems and statements are about
NOTEBOOKS = [path.stem for path in Path("notebooks").glob("*.ipynb")]
ROOM = 32 * 2**20  # bytes: what the default study takes, with its claims and theory

# Linear algebra on one thread: jobs share the cores, and bits do not depend on their number.
shell.prefix(
    "export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 "
    "PYTHONHASHSEED=0 PYTHONUTF8=1 TZ=UTC; "
)


def settle_config():
    """Stop with one line if the configuration cannot be run; say what is left out of it."""
    # Jobs on other nodes read the configuration anew, but it has been checked.
    prepare = study.admit if workflow.is_main_process else study.settle
    with validation.one_line("config", ValueError):
        if workflow.is_main_process:
            for file in workflow.overwrite_configfiles:
                validation.read(file)
        own = workflow.config_settings.overwrite_config  # without config/config.yaml
        settled, lines = prepare(config, FOLDER, own, DEFAULTS)
    config.update(settled)
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
READINGS = study.load_readings(config, FOLDER)
CONFIGS = readings.configurations(config, READINGS)  # by folder: "" is the study's own
# Results that two readings share belong to the first of them.
ENVIRONMENT_OWNERS = readings.owners(CONFIGS, readings.environment_key)
RUN_OWNERS = {
    algorithm: readings.owners(CONFIGS, readings.runs_key, algorithm)
    for algorithm in config["algorithms"]
}
CALIBRATED = CONFIGS | instances.calibrations(config)  # and groups with steps of their own
RACES = races.load_record(FOLDER)
CALIBRATION_OWNERS = {
    algorithm: readings.owners(CALIBRATED, races.key, algorithm, RACES)
    for algorithm in config["algorithms"]
}
ANALYSES = analyses.find()
PLANS = {
    name: {part: study.fill_jobs(config, items) for part, items in analysis.plan(config).items()}
    for name, analysis in ANALYSES.items()
}
JUDGED = study.judged(config, READINGS)  # titles of what has a table of verdicts, by folder
# Folders with verdicts, by N. A study that infers has two for each: of seeds and of instances.
TRIALS = study.trials(CALIBRATED, JUDGED)
ROWS = study.table_megabytes(config)


def code(name, *modules):
    """A script of the workflow, or a notebook and what runs it, and the modules that it uses."""
    files, template = [f"workflow/scripts/{name}"], []
    if name.endswith(".ipynb"):
        files = [f"notebooks/{name}", "workflow/scripts/notebook.py"]
        template = ["workflow/templates/page/index.html.j2"]
    used = [f"src/pgpd_hf/{path}" for path in dependencies.sources(*files, *modules)]
    return files + used + template


def algorithm_file(name):
    """File of the package with an algorithm."""
    return f"algorithms/{name}.py"


def algorithm_files(*others):
    """Files of the package with the study's algorithms, and with others."""
    return [algorithm_file(name) for name in {**config["algorithms"], **dict.fromkeys(others)}]


def environment_module(folder=""):
    """File of the package that makes the environment of the study, or of a reading."""
    return f"environments/{environments.split(CALIBRATED[folder]['environment'])[0]}.py"


def name_evaluators(numbers):
    """Values of M in the name of a file."""
    return "+".join(map(evaluators_text, numbers))


def evaluator_groups(folder):
    """Values of M that one job runs, by their name: one in the study, all in readings."""
    values = CONFIGS[folder]["evaluators"]
    groups = [values] if folder else [[number] for number in values]
    return {name_evaluators(group): group for group in groups}


@cache
def figure_jobs(folder, algorithm, evaluators):
    """Cases of Figure 1 by block of seeds, for the values of M that one job runs."""
    settings = CONFIGS[folder]
    numbers = evaluator_groups(folder)[evaluators]
    return study.fill_jobs(settings, study.work(settings, algorithm, numbers))


def cases_of(wildcards):
    """Cases of a job, of Figure 1 or of an analysis."""
    if "analysis" in wildcards.keys():
        jobs = PLANS[wildcards.analysis][wildcards.part]
    else:
        jobs = figure_jobs(wildcards.reading, wildcards.algorithm, wildcards.evaluators)
    return jobs[f"{wildcards.first}-{wildcards.last}"]


def modules_of(wildcards):
    """Files of the package that the cases of a job of an analysis need by name."""
    made = any(case.environment for case in cases_of(wildcards))
    return [algorithm_file(algorithm_of(wildcards))] + ["environments/random.py"] * made


def algorithms_of(name):
    """Algorithms that an analysis runs, if its notebook asks for them by name."""
    asks = getattr(ANALYSES[name], "NAMES_ALGORITHMS", True)
    return sorted({part.rpartition("/")[2] for part in PLANS[name]}) if asks else []


def algorithm_of(wildcards):
    """Algorithm of a part of an analysis."""
    return wildcards.part.rpartition("/")[2]


def race_on_record(wildcards):
    """Name of the race that has chosen step sizes already; None if they race anew."""
    return races.recorded(RACES, CALIBRATED[wildcards.folder], wildcards.algorithm)


def own_size(wildcards):
    """Numbers of states and actions of the environment of the study, or of a reading."""
    return configuration.size(CONFIGS[wildcards.get("reading", "")])


def largest_size(wildcards):
    """Numbers of states and actions of the largest environment of a job."""
    own = own_size(wildcards)
    sizes = {case.size(own) for case in cases_of(wildcards)}
    return max(sizes, key=lambda size: size[0] ** 2 * size[1])


def bound_environment(wildcards):
    """Options of the environment of a setting of bounds."""
    changes = config["bounds"]["settings"][wildcards.setting]["environment"]
    return configuration.vary(config, changes)


@cache
def digest(path):
    """Digest of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def archive_digest(options):
    """Digest of the archive that an environment comes from, if any.

    As a parameter, since Snakemake takes braces in the name of an input for wildcards.
    """
    kind, arguments = environments.split(options)
    return digest(arguments["path"]) if kind == "file" else None


def traces(folder):
    """Files of all runs of the study, or of a reading."""
    return [
        f"{RESULTS}/{owner}runs/{algorithm}/M{evaluators}/seeds{block}.parquet"
        for algorithm in config["algorithms"]
        for owner in [RUN_OWNERS[algorithm][folder]]
        for evaluators in evaluator_groups(owner)
        for block in figure_jobs(owner, algorithm, evaluators)
    ]


def policies_of(folder):
    """Files of the policies that these runs end with."""
    parts = [path.rpartition("runs/") for path in traces(folder)]
    return [f"{before}policies/{after}" for before, _, after in parts]


def analysis_runs(name, parts=("",)):
    """Files of all runs of an analysis, or of those of its parts whose names begin so."""
    return [
        f"{RESULTS}/{name}/{part}/{block}.parquet"
        for part, blocks in PLANS[name].items()
        if part.startswith(tuple(parts))
        for block in blocks
    ]


def judged_traces(folder):
    """Files of all runs that the verdicts of a folder look at."""
    groups = instances.judged_with(config, folder)
    return (
        analysis_runs("instances", [f"{group}/" for group in groups]) if groups else traces(folder)
    )


def judged_tables(folder):
    """Files of the tables of analyses that the verdicts of a folder look at."""
    names = config["claims"]["tables"] if folder == readings.FULL else ()
    own = {"rates": f"{RESULTS}/{readings.FULL}rates.csv"}  # with seeds of their own
    return [own.get(name, f"{RESULTS}/{name}.csv") for name in names]


def in_trials(name):
    """Files of one name, one for each table of verdicts that N is inferred from."""
    return [f"{RESULTS}/{folder}{name}.csv" for folders in TRIALS.values() for folder in folders]


def trial_runs():
    """Files of the runs on the study's own environment, by N."""
    return {
        str(number): [file for folder in folders if folder in CONFIGS for file in traces(folder)]
        for number, folders in TRIALS.items()
    }


def unless_many(file_of):
    """File of the environment that verdicts are about, or of its optimum; none for instances."""
    return lambda wildcards: (
        [] if instances.judged_with(config, wildcards.folder) else file_of(wildcards.folder)
    )


def environment_of(folder):
    """File with the environment of the study, or of a reading."""
    return f"{RESULTS}/{ENVIRONMENT_OWNERS[folder]}environment.npz"


def optimum_of(folder):
    """File with the optimum of the study, or of a reading."""
    return f"{RESULTS}/{ENVIRONMENT_OWNERS[folder]}optimum.json"


def steps_of(cases, folder=""):
    """Files with the calibrated step sizes of some cases, if they use any."""
    calibrated = {
        (sweeps.studied(case.algorithm), case.calibration or folder)
        for case in cases
        if case.is_calibrated
    }
    return sorted(
        f"{RESULTS}/{CALIBRATION_OWNERS[algorithm][place]}calibration/{algorithm}.json"
        for algorithm, place in calibrated
    )


def tuning_of(cases):
    """File with the settings that have been chosen for some cases, if they wait for any."""
    waits = any(case.choice for case in cases)
    return [f"{RESULTS}/comparison_tuning.csv"] if waits else []


def calibrations(ending="csv"):
    """Files of the study's own calibrations, by algorithm: all scores (csv), or the steps (json)."""
    return {
        algorithm: f"{RESULTS}/calibration/{algorithm}.{ending}"
        for algorithm, options in config["algorithms"].items()
        if options["primal_step"] == "calibrated"
    }


def tables(name, titles=None):
    """Files of the tables that an analysis ends in, for the report, too."""
    titles = ANALYSES[name].TABLES if titles is None else titles
    return [for_report(f"{RESULTS}/{table}.csv", title, name) for table, title in titles.items()]


def pictures_of(name):
    """Files of the pictures of an analysis that has some beside its page."""
    titles = getattr(ANALYSES[name], "PICTURES", {})
    return [
        file for stem, title in titles.items() for file in pictures(stem, title, name, "Theory")
    ]


def page(name, title=None, caption=None, category="Theory"):
    """File of the page of a notebook, for the report, too."""
    file = f"{RESULTS}/notebooks/{name}.html"
    return for_report(file, title or title_of(name), caption or name, category)


def analysis_outputs(target):
    """Files of everything that the analyses of a target end in, analysis by analysis."""
    names = [name for name, analysis in ANALYSES.items() if target == analysis.TARGET]
    return [getattr(rules, name).output for name in names]


def title_of(name):
    """Title of an analysis: the first line of its docstring."""
    return ANALYSES[name].__doc__.splitlines()[0].rstrip(".")


def for_report(file, title, caption, category="Theory"):
    """Mark a file for the report; a caption is workflow/report/CAPTION.rst, if there is one."""
    path = Path(f"workflow/report/{caption}.rst")
    options = {"caption": f"../report/{path.name}"} if path.exists() else {}
    return report(file, category=category, labels={"result": title}, **options)


def drawings():
    """Files of Figure 1: its panels with their numbers, and the whole."""
    titles = {
        f"{algorithm}_{metric}": f"{get_algorithm(algorithm).label}: {metric.replace('_', ' ')}"
        for algorithm in config["algorithms"]
        for metric in METRICS
    }
    files = [f"{FIGURES}/{stem}.csv" for stem in titles]
    for stem, title in [*titles.items(), ("figure1", "All panels")]:
        files += pictures(stem, title, "figure1", "Figure 1")
    return files


def pictures(stem, *options):
    """Files of one picture, in every format; `for_report` gets the options of its SVG."""
    files = {ending: f"{FIGURES}/{stem}.{ending}" for ending in FORMATS}
    return [*(files | {"svg": for_report(files["svg"], *options)}).values()]


def runtime(seconds):
    """Minutes that jobs ask for, given the seconds of their work, or a function of the wildcards."""
    return lambda wildcards, attempt: resources.minutes(
        seconds(wildcards) if callable(seconds) else seconds, attempt
    )


def memory(size=None, more=0.0):
    """Megabytes, given the size of the environment, or a function of the wildcards, and what else."""
    size = size or configuration.size(config)
    return lambda wildcards, attempt: resources.megabytes(
        *(size(wildcards) if callable(size) else size),
        more(wildcards) if callable(more) else more,
        attempt,
    )


def project_files():
    """Files that the workflow consists of, and those with which it is set up and verified."""
    files = ["Snakefile", "Makefile", "README.md", "LICENSE", "CITATION.cff"]
    files += ["pyproject.toml", "requirements.lock", "environment.yml"]
    folders = ["config", "notebooks", "profiles", "reference", "src/pgpd_hf", "tools", "workflow"]
    found = [path for folder in folders for path in sorted(Path(folder).rglob("*"))]
    return files + [str(path) for path in found if path.is_file() and path.suffix != ".pyc"]


def benchmarks_of(rule):
    """Benchmark files of all jobs that the results of a rule come from, by rule.

    Files that an earlier plan has left, such as those of other blocks, are not among them.
    """
    dag = workflow.dag
    last = [job for job in dag.jobs if job.rule.name == rule]
    found = {}
    for job in dag.bfs(dag.dependencies, *last):
        if job.benchmark:
            found.setdefault(job.rule.name, set()).add(str(job.benchmark))
    return {name: sorted(files) for name, files in sorted(found.items())}
