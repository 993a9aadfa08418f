# Names of files: what rules read and write. No rules.

import inspect
from functools import cache
from pathlib import Path

from replication.figures import FORMATS
from replication.study import admission, readings, recorded_races, sweeps
from replication.study.configuration import archive_digest


def traces(folder, kind="runs"):
    """Files of all runs of the study, or of a reading, or of the "policies" that they end with."""
    return [
        f"{RESULTS}/{owner}{kind}/{algorithm}/M{evaluators}/seeds{block}.parquet"
        for algorithm in config["algorithms"]
        for owner in [RUN_OWNERS[algorithm][folder]]
        for evaluators, blocks in figure_plan(owner, algorithm).items()
        for block in blocks
    ]


def analysis_runs(name, parts=("",)):
    """Files of all runs of an analysis, or of those of its parts whose names begin so."""
    return [
        f"{RESULTS}/{name}/{part}/{block}.parquet"
        for part, blocks in plan(name).items()
        if part.startswith(tuple(parts))
        for block in blocks
    ]


def races_of_methods(name):
    """Files of all races of the methods that are compared."""
    require(name)
    return [f"{RESULTS}/{name}/{part}.csv" for part in ANALYSES[name].parts(config)]


def results_of(name, names):
    """Files of the results that an analysis asks for, by name."""
    # Most are functions, so that nothing is planned unless it is asked for.
    known = {
        **{it: f"{RESULTS}/{it}.csv" for analysis in ANALYSES.values() for it in analysis.TABLES},
        "runs": lambda wildcards: analysis_runs(name),
        "rates_runs": lambda wildcards: analysis_runs("rates"),
        "environment": environment_of(""),
        "optimum": environment_of("", "optimum.json"),
        "steps": lambda wildcards: [
            file for it, file in calibrations("json").items() if it == wildcards.algorithm
        ],
        "traces": lambda wildcards: traces(""),
        "policies": lambda wildcards: traces("", "policies"),
        "aggregate": f"{RESULTS}/aggregate.parquet",
        "races": [*calibrations().values()],
        "new_scores": lambda wildcards: [
            f"{RESULTS}/{folder}calibration/{algorithm}.csv"
            for folder, algorithm in new_races().values()
        ],
        "bounds_by_setting": BOUNDS,
        "certificates_by_algorithm": CERTIFICATES,
        "comparison_races": lambda wildcards: races_of_methods("comparison_races"),
        "axes_races": lambda wildcards: races_of_methods("axes_races"),
        "claims": CLAIMS,
        "own": config["claims"]["statements"],
        "schema": str(PROJECT / "workflow/schemas/claims.schema.yaml"),
        "confirmation": CONFIRMED,
        "recorded_controls": CONTROLLED,
        "own_verdicts": f"{RESULTS}/claims.csv",
        "full_verdicts": f"{RESULTS}/{readings.FULL}claims.csv",
        "full_traces": lambda wildcards: traces(readings.FULL),
        "judged_environment": unless_many("environment.npz"),
        "judged_optimum": unless_many("optimum.json"),
        "judged_traces": lambda wildcards: judged_traces(wildcards.folder),
        "judged_tables": lambda wildcards: judged_tables(wildcards.folder),
        "judged_claims": lambda wildcards: in_folders(JUDGED, "claims"),
        "judged_power": lambda wildcards: in_folders(JUDGED, "power"),
        "trial_claims": lambda wildcards: in_folders(sum(TRIALS.values(), []), "claims"),
        "trial_resampled": lambda wildcards: in_folders(sum(TRIALS.values(), []), "resampled"),
        "trial_runs": lambda wildcards: sum(trial_runs().values(), []),
    }
    return {it: known[it] for it in names}


def ask(function, wildcards=None):
    """Call a function of an analysis with the facts that its arguments name."""
    facts = {
        "config": lambda: config,
        "schema": lambda: admission.load_schema(PROJECT, "config"),
        "root": lambda: PROJECT,
        "readings": lambda: READINGS,
        "judged": lambda: JUDGED,
        "trials": lambda: TRIALS,
        "trial_runs": trial_runs,
        "left_out": lambda: LEFT_OUT,
        "raced": lambda: [*calibrations()],
        "new_races": new_races,
        "calibrated": lambda: CALIBRATED,
        "results": lambda: PLACES["results"],
        "figures": lambda: PLACES["figures"],
        "archive_digest": lambda: archive_digest,
    }
    names = inspect.signature(function).parameters
    return function(**{it: facts[it]() if it in facts else wildcards[it] for it in names})


def asking(name, function):
    """Ask a function of an analysis for each job anew."""
    return lambda wildcards: ask(getattr(ANALYSES[name], function), wildcards)


def parameters_of(name):
    """What the page of an analysis is told."""
    it = ANALYSES[name]
    places = ["results", "figures"] if pictures(name) else ["results"]
    return lambda wildcards, input: {
        **{place: PLACES[place] for place in places},
        **{shown: input[shown] for shown in it.SHOWS},
        **ask(it.parameters),
    }


BOUNDS = [f"{RESULTS}/bounds/{setting}.csv" for setting in config["bounds"]["settings"]]
CERTIFICATES = [f"{RESULTS}/certificates/{it}.csv" for it in config["certificates"]["iterations"]]


def judged_traces(folder):
    """Files of all runs that the verdicts of a folder look at."""
    parts = [f"{group}/" for group in ANALYSES["instances"].judged_with(config, folder)]
    return analysis_runs("instances", parts) if parts else traces(folder)


def judged_tables(folder):
    """Files of the tables of analyses that the verdicts of a folder look at."""
    names = config["claims"]["tables"] if folder == readings.FULL else ()
    own = {"rates": f"{RESULTS}/{readings.FULL}rates.csv"}  # with seeds of their own
    made = [
        name
        for name in names
        for it in ANALYSES.values()
        if name in it.TABLES
        if not ask(it.why_not)
    ]
    return [own.get(name, f"{RESULTS}/{name}.csv") for name in made]


def in_folders(folders, name):
    """Tables of one name in some folders of results."""
    return [f"{RESULTS}/{folder}{name}.csv" for folder in folders]


def trial_runs():
    """Files of the runs on the study's own environment, by N."""
    return {
        str(number): [file for folder in folders if folder in CONFIGS for file in traces(folder)]
        for number, folders in TRIALS.items()
    }


def environment_of(folder, file="environment.npz"):
    """File with the environment of the study or of a reading, or with its optimum."""
    return f"{RESULTS}/{ENVIRONMENT_OWNERS[folder]}{file}"


def unless_many(file):
    """The environment that verdicts are about, or its optimum; none if they are about instances."""
    judged = ANALYSES["instances"].judged_with
    return lambda it: [] if judged(config, it.folder) else environment_of(it.folder, file)


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


def tuning_of(name, cases):
    """File with the settings that are chosen for cases of an analysis, if they wait for any."""
    return [f"{RESULTS}/{ANALYSES[name].TUNED_BY}.csv"] * any(case.choice for case in cases)


def calibrations(ending="csv"):
    """Files of the study's own calibrations, by algorithm: all scores (csv), or the steps (json)."""
    racing = recorded_races.racing(config)
    return {it: f"{RESULTS}/calibration/{it}.{ending}" for it in racing}


def rules_of(name):
    """Names of the rules that make the tables and the page of an analysis; None for what it lacks."""
    # The page of Figure 1 is asked for as `figure`, and `claims` asks for all that is judged.
    page = {"figure1": "figure", "claims": "matrix"}.get(name, name) if name in NOTEBOOKS else None
    tables = f"{name}_tables" if page else name
    return tables if ANALYSES[name].TABLES else None, page


def analysis_outputs(target):
    """Files of everything that the analyses of a target end in, analysis by analysis."""
    return [
        getattr(rules, rule).output
        for name, it in ANALYSES.items()
        if it.TARGET == target and not any("{" in table for table in it.TABLES)
        if not ask(it.why_not)
        for rule in rules_of(name)
        if rule
    ]


def asked(target):
    """The same for a target that is asked for; it says which of its analyses do not apply."""

    @cache
    def found(wildcards):
        for name, it in ANALYSES.items():
            if it.TARGET == target and (why := ask(it.why_not)) and workflow.is_main_process:
                print(f"note: left out: {name} ({why})", file=sys.stderr)
        return [file for files in analysis_outputs(target) for file in files]

    return found


def tables(name):
    """Files of the tables that an analysis ends in."""
    it = ANALYSES[name]
    return [
        for_report(f"{RESULTS}/{table}" + ".csv" * ("." not in table), told.title, name, table)
        for table, told in it.TABLES.items()
    ]


def pictures(name):
    """Files of the pictures of an analysis, in every format unless its name says which."""
    return [
        for_report(f"{FIGURES}/{stem}{ending}", title if ending == ".svg" else "", name, stem)
        for stem, title in (ANALYSES[name].PICTURES or ask(ANALYSES[name].pictures)).items()
        for ending in ([f".{it}" for it in FORMATS] if "." not in stem else [""])
    ]


def for_report(file, title, name, *captions):
    """Mark a file of an analysis for the report, if it has a title."""
    # Its caption is the first of workflow/report/CAPTION.rst that there is, or the analysis's own.
    if not title:
        return file
    paths = [PROJECT / f"workflow/report/{it}.rst" for it in (*captions, name)]
    found = [{"caption": f"../report/{path.name}"} for path in paths if path.exists()]
    category = ANALYSES[name].CATEGORY if name in ANALYSES else name.capitalize()
    return report(file, category=category, labels={"result": title}, **(found or [{}])[0])


def project_files():
    """Files that the workflow consists of, and those with which it is set up and verified."""
    files = "Snakefile Makefile README.md LICENSE CITATION.cff pyproject.toml requirements.lock"
    folders = "config notebooks profiles reference tools workflow src/pgpd_hf src/replication"
    places = [PROJECT / name for name in f"{files} environment.yml {folders}".split()]
    found = [path for place in places for path in (place, *sorted(place.rglob("*")))]
    return [str(path) for path in found if path.is_file() and path.suffix != ".pyc"]


def jobs_before(rule):
    """All jobs that the results of a rule come from."""
    # In a Snakefile that uses this workflow as a module, its rules may have other names.
    name, dag = workflow.modifier.modify_rulename(rule), workflow.dag
    last = [job for job in dag.jobs if job.rule.name == name]
    return set(dag.bfs(dag.dependencies, *last)).difference(last)


def made_before(rule):
    """Files that the results of a rule come from, in order."""
    return sorted({str(file) for job in jobs_before(rule) for file in job.output})


def benchmarks_of(rule):
    """Names of rules and benchmark files, of all jobs that the results of a rule come from."""
    # Files that an earlier plan has left, such as those of other blocks, are not among them.
    jobs = [job for job in jobs_before(rule) if job.benchmark]
    return sorted({(job.rule.name, str(job.benchmark)) for job in jobs})
