# Cases: the study itself (""), its readings, and groups of random instances. Names of their files.

from pgpd_hf import resources
from pgpd_hf.studies import configuration, study, variants

READINGS = study.load_readings(config, FOLDER)
CASES = variants.list_cases(config, READINGS)
GROUPS = variants.list_groups(config)
INSTANCES = config["claims"]["instances"]["groups"]
# Results that two cases share belong to the first of them.
ENVIRONMENT_OWNERS = variants.owners(CASES, variants.environment_key)
RUN_OWNERS = {
    algorithm: variants.owners(CASES, variants.simulation_key, algorithm)
    for algorithm in config["algorithms"]
}


def study_of(wildcards):
    """Configuration that a job belongs to."""
    if "group" in wildcards.keys():
        return GROUPS[wildcards.group]
    return CASES[wildcards.get("case", "")]


def runtime(name):
    """Minutes that jobs of a rule ask for, as a function that Snakemake calls for each."""
    return lambda wildcards, attempt: resources.minutes(
        name, study_of(wildcards), wildcards, attempt
    )


def memory(name):
    """Megabytes, likewise."""
    return lambda wildcards, attempt: resources.megabytes(
        name, study_of(wildcards), wildcards, attempt
    )


def environment_of(case):
    """File with the environment of a case."""
    return f"{RESULTS}/{ENVIRONMENT_OWNERS[case]}environment.npz"


def optimum_of(case):
    """File with the optimum of a case."""
    return f"{RESULTS}/{ENVIRONMENT_OWNERS[case]}optimum.json"


def calibrations():
    """Files of the study's own calibrations: all scores, and the chosen step sizes."""
    return [
        f"{RESULTS}/calibration/{algorithm}.{ending}"
        for algorithm, options in config["algorithms"].items()
        if options["primal_step"] == "calibrated"
        for ending in ("csv", "json")
    ]


def steps_of(wildcards):
    """File with the calibrated step sizes of a run, if it uses them."""
    case = wildcards.get("case", "")
    calibrated = CASES[case]["algorithms"][wildcards.algorithm]["primal_step"] == "calibrated"
    return f"{RESULTS}/{case}calibration/{wildcards.algorithm}.json" if calibrated else []


def steps_option(wildcards, input):
    """The same, as words of a command line."""
    return ["--steps", input.steps] if input.steps else []


def traces(case):
    """Files of all runs of a case. A job of a reading runs all M."""
    files = []
    for algorithm in config["algorithms"]:
        owner = RUN_OWNERS[algorithm][case]
        study = CASES[owner]
        crowd = [configuration.name_crowd(people) for people in study["evaluators"]]
        files += [
            f"{RESULTS}/{owner}runs/{algorithm}/M{people}/seeds{block}.parquet"
            for people in (["+".join(crowd)] if owner else crowd)
            for block in resources.run_blocks(study, algorithm, people)
        ]
    return files


def rate_traces():
    """Files of all runs of the sweep over T, of those algorithms for which it has values of T."""
    return [
        f"{RESULTS}/rates/{algorithm}/{step_rule}_steps/M{people}/seeds{block}.parquet"
        for algorithm in config["algorithms"]
        if algorithm in config["rates"]["iterations"]
        for step_rule in ("study", "theorem")
        if step_rule == "study" or get_algorithm(algorithm).has_theorem()
        for people in map(configuration.name_crowd, config["rates"]["evaluators"])
        for block in resources.rate_blocks(config, algorithm)
    ]


def expected(group):
    """Whether the constraint of its instances is said to bind, as words of a command line."""
    binding = INSTANCES[group].get("binding")
    return [] if binding is None else ["--expect", "binding" if binding else "slack"]


def instance_traces(groups):
    """Files of all runs of some groups of instances."""
    return [
        f"{RESULTS}/instances/{group}/runs/{algorithm}/instances{block}.parquet"
        for group in groups
        for algorithm in config["algorithms"]
        for block in resources.instance_blocks(GROUPS[group], group, algorithm)
    ]


def sensitivities():
    """Tables of settings around the study's; only some algorithms have a perturbation radius."""
    return [
        f"{RESULTS}/sensitivity/{algorithm}-{axis}/settings{block}.csv"
        for algorithm, options in config["algorithms"].items()
        for axis in ("steps", "pairs", "perturbation")
        if axis != "perturbation" or "perturbation" in options
        for block in resources.sensitivity_blocks(config, algorithm, axis)
    ]
