# Names of files: what rules read and write. No rules.

import hashlib
from functools import cache
from pathlib import Path

from pgpd_hf import environments
from replication import sweeps
from pgpd_hf.algorithms import get_algorithm
from replication.analyses import instances
from replication.figures import FORMATS
from pgpd_hf.runs import METRICS
from replication.study import readings
from replication.files import dependencies


def code(name, *modules):
    """A script of the workflow, or a notebook and what runs it, and the modules that it uses."""
    files, template = [f"workflow/scripts/{name}"], []
    if name.endswith(".ipynb"):
        files = [f"notebooks/{name}", "workflow/scripts/notebook.py"]
        template = ["workflow/templates/page/index.html.j2"]
    used = [f"src/{path}" for path in dependencies.sources(*files, *modules)]
    return files + used + template


def algorithm_file(name):
    """File of the package with an algorithm."""
    return f"pgpd_hf/algorithms/{name}.py"


def algorithm_files(*others):
    """Files of the package with the study's algorithms, and with others."""
    return [algorithm_file(name) for name in {**config["algorithms"], **dict.fromkeys(others)}]


def environment_module(folder=""):
    """File of the package that makes the environment of the study, or of a reading."""
    return f"pgpd_hf/environments/{environments.split(CALIBRATED[folder]['environment'])[0]}.py"


def modules_of(wildcards):
    """Files of the package that the cases of a job of an analysis need by name."""
    made = any(case.environment for case in cases_of(wildcards))
    return [algorithm_file(algorithm_of(wildcards))] + ["pgpd_hf/environments/random.py"] * made


def algorithms_of(name):
    """Algorithms that an analysis runs, if its notebook asks for them by name."""
    asks = getattr(ANALYSES[name], "NAMES_ALGORITHMS", True)
    return sorted({part.rpartition("/")[2] for part in PLANS[name]}) if asks else []


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


def results_of(name, kind):
    """Files of the results that the tables of an analysis read, or that its page shows, by name.

    They are functions, so that nothing is planned unless it is asked for.
    """
    known = {
        "runs": lambda wildcards: analysis_runs(name),
        "environment": lambda wildcards: environment_of(""),
        **{it: f"{RESULTS}/{it}.csv" for analysis in ANALYSES.values() for it in analysis.TABLES},
    }
    return {it: known[it] for it in getattr(ANALYSES[name], kind, ())}


def arguments_of(name):
    """What the tables of an analysis depend on beside files."""
    return lambda wildcards: getattr(ANALYSES[name], "arguments", lambda config: {})(config)


def parameters_of(name):
    """What the page of an analysis is told."""
    analysis = ANALYSES[name]
    tell = getattr(analysis, "parameters", lambda config: {})
    places = {"results": RESULTS} | ({"figures": FIGURES} if hasattr(analysis, "PICTURES") else {})
    return lambda wildcards, input: {
        **places,
        **{it: input[it] for it in getattr(analysis, "SHOWS", ())},
        **tell(config),
    }


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
    """Files of the tables that an analysis ends in, also for the report."""
    if titles is None:
        titles = {table: it.title for table, it in ANALYSES[name].TABLES.items()}
    return [for_report(f"{RESULTS}/{table}.csv", title, name) for table, title in titles.items()]


def table_rule(name):
    """Name of the rule that makes the tables of an analysis."""
    return f"{name}_tables" if name in NOTEBOOKS else name


def pictures_of(name):
    """Files of the pictures of an analysis that has some beside its page."""
    titles = getattr(ANALYSES[name], "PICTURES", {})
    return [
        file for stem, title in titles.items() for file in pictures(stem, title, name, "Theory")
    ]


def page(name, title=None, caption=None, category="Theory"):
    """File of the page of a notebook, also for the report."""
    file = f"{RESULTS}/notebooks/{name}.html"
    return for_report(file, title or title_of(name), caption or name, category)


def analysis_outputs(target):
    """Files of everything that the analyses of a target end in, analysis by analysis."""
    names = [name for name, analysis in ANALYSES.items() if target == analysis.TARGET]
    return [
        getattr(rules, rule).output
        for name in names
        for rule in dict.fromkeys((table_rule(name), name))
        if hasattr(rules, rule)
    ]


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


def project_files():
    """Files that the workflow consists of, and those with which it is set up and verified."""
    files = ["Snakefile", "Makefile", "README.md", "LICENSE", "CITATION.cff"]
    files += ["pyproject.toml", "requirements.lock", "environment.yml"]
    folders = ["config", "notebooks", "profiles", "reference", "tools", "workflow"]
    folders += ["src/pgpd_hf", "src/replication"]
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
