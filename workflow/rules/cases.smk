# Cases: the study itself (""), its readings and its random instances. Names of their files.

from pgpd_hf import readings, resources

READINGS = load_readings()
CASES = readings.list_cases(config, READINGS)
GROUPS = config["claims"]["instances"]["groups"]
COMPARED = ["small", "large"]
# Results that two cases share belong to the first of them.
ENVIRONMENT_OWNERS = readings.owners(
    CASES, lambda case: json.dumps(case["environment"], sort_keys=True)
)
RUN_OWNERS = {
    algorithm: readings.owners(
        CASES, lambda case, algorithm=algorithm: readings.simulation_key(case, algorithm)
    )
    for algorithm in config["algorithms"]
}


def runtime(name):
    """Minutes that jobs of a rule ask for, as a function that Snakemake calls for each."""
    return lambda wildcards, attempt: resources.minutes(
        name, CASES.get(wildcards.get("case"), config), wildcards, attempt
    )


def memory(name):
    """Megabytes, likewise."""
    return lambda wildcards, attempt: resources.megabytes(
        name, CASES.get(wildcards.get("case"), config), wildcards, attempt
    )


def environment_of(case):
    """File with the environment of a case."""
    return f"{RESULTS}/{ENVIRONMENT_OWNERS[case]}environment.npz"


def optimum_of(case):
    """File with the optimum of a case."""
    return f"{RESULTS}/{ENVIRONMENT_OWNERS[case]}optimum.json"


def relevant(case, algorithm, *keys):
    """What of the configuration runs of an algorithm depend on, as JSON for a command line."""
    part = {key: CASES[case][key] for key in ("horizon", "link", *keys)}
    part["algorithms"] = {algorithm: CASES[case]["algorithms"][algorithm]}
    return json.dumps(part)


def steps_of(wildcards):
    """File with the calibrated step sizes of a run, if it uses them."""
    case = wildcards.get("case", "")
    calibrated = CASES[case]["algorithms"][wildcards.algorithm]["primal_step"] == "calibrated"
    return f"{RESULTS}/{case}calibration/{wildcards.algorithm}.json" if calibrated else []


def steps_option(wildcards, input):
    """The same, as an option of a command."""
    return f"--steps {input.steps}" if input.steps else ""


def traces(case):
    """Files of all runs of a case. Jobs of a reading or an instance run all M."""
    files = []
    for algorithm in config["algorithms"]:
        owner = RUN_OWNERS[algorithm][case]
        study = CASES[owner]
        crowd = crowds(study["evaluators"])
        files += [
            f"{RESULTS}/{owner}runs/{algorithm}/M{people}/seeds{block}.parquet"
            for people in (["+".join(crowd)] if owner else crowd)
            for block in resources.run_blocks(study, algorithm, people)
        ]
    return files


def members(case):
    """Cases whose runs decide about a case: itself, or all instances of a group."""
    folder = case.removeprefix("instances/").rstrip("/")
    if not case.startswith("instances/"):
        return [{"group": "", "instance": 0, "case": case}]
    others = COMPARED if folder == judged_groups()[0] else []
    return [
        {
            "group": group,
            "instance": number,
            "case": readings.instance_case(group, GROUPS[group], number),
            "binding": GROUPS[group].get("binding"),
        }
        for group in [folder, *others]
        if group in GROUPS
        for number in GROUPS[group]["numbers"]
    ]


def evidence_of(wildcards):
    """The same with all their files, as JSON for a command line."""
    reading = READINGS.get(wildcards.case.removeprefix("readings/").rstrip("/"), readings.DEFAULT)
    content = {
        "unit": "instance" if wildcards.case.startswith("instances/") else "seed",
        "members": [
            {
                **member,
                "environment": environment_of(member["case"]),
                "optimum": optimum_of(member["case"]),
                "traces": traces(member["case"]),
            }
            for member in members(wildcards.case)
        ],
    }
    return json.dumps(content | {key: reading[key] for key in readings.DEFAULT})


def judged_groups():
    """Groups of instances that have a table of verdicts of their own."""
    return [
        group for group, options in GROUPS.items() if options["numbers"] and group not in COMPARED
    ]


def judged():
    """All cases with a table of verdicts, and their titles."""
    titles = {"": "default"}
    titles |= {f"readings/{name}/": reading["title"] for name, reading in READINGS.items()}
    return titles | {
        f"instances/{group}/": GROUPS[group].get("title", group) for group in judged_groups()
    }


def sensitivities():
    """Tables of settings around the study's; only some algorithms have a perturbation radius."""
    return [
        f"{RESULTS}/sensitivity/{algorithm}-{axis}.csv"
        for algorithm, options in config["algorithms"].items()
        for axis in ("steps", "pairs", "perturbation")
        if axis != "perturbation" or "perturbation" in options
    ]
