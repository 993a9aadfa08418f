# The paper's experiment, for the study itself and for its readings: {reading} is "readings/NAME/",
# or empty for the study.


rule environment:
    input:
        code=lambda wildcards: code("environment.py", environment_module(wildcards.reading)),
    output:
        environment=f"{RESULTS}/{{reading}}environment.npz",
        optimum=f"{RESULTS}/{{reading}}optimum.json",
    log:
        f"{RESULTS}/logs/environment/{{reading}}environment.log",
    benchmark:
        f"{RESULTS}/benchmarks/environment/{{reading}}environment.tsv"
    localrule: True
    params:
        options=lambda wildcards: CONFIGS[wildcards.reading]["environment"],
        archive=lambda wildcards: archive_digest(CONFIGS[wildcards.reading]["environment"]),
    message:
        "{wildcards.reading}environment and its optimum, by linear program and by policy iteration"
    script:
        "../scripts/environment.py"


rule calibrate:
    input:
        code=lambda wildcards: code(
            "calibrate.py",
            algorithm_file(wildcards.algorithm),
            environment_module(wildcards.folder),
        ),
        scores=lambda wildcards: recorded_races.SCORES if race_on_record(wildcards) else [],
    output:
        scores=f"{RESULTS}/{{folder}}calibration/{{algorithm}}.csv",
        steps=f"{RESULTS}/{{folder}}calibration/{{algorithm}}.json",
    log:
        f"{RESULTS}/logs/calibrate/{{folder}}{{algorithm}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/calibrate/{{folder}}{{algorithm}}.tsv"
    resources:
        runtime=runtime(
            lambda wildcards: jobs.race_seconds(CALIBRATED[wildcards.folder], wildcards.algorithm)
        ),
        mem_mb=memory(lambda wildcards: configuration.size(CALIBRATED[wildcards.folder])),
    params:
        recorded=race_on_record,
        race=lambda wildcards: jobs.race(CALIBRATED[wildcards.folder], wildcards.algorithm),
        archive=lambda wildcards: archive_digest(CALIBRATED[wildcards.folder]["environment"]),
    message:
        "{wildcards.folder}{wildcards.algorithm}: step sizes, by a race or from the one on record"
    script:
        "../scripts/calibrate.py"


# `make races` puts both files on record.
rule races:
    input:
        code=code("races.py"),
        scores=[
            f"{RESULTS}/{folder}calibration/{algorithm}.csv"
            for folder, algorithm in new_races().values()
        ],
    output:
        scores=f"{RESULTS}/races.csv",
        record=f"{RESULTS}/steps.yaml",
    log:
        f"{RESULTS}/logs/races.log",
    localrule: True
    params:
        subjects=lambda wildcards: {
            name: recorded_races.subject(CALIBRATED[folder], algorithm)
            for name, (folder, algorithm) in new_races().items()
        },
    message:
        "Races of the study, its readings and its groups of instances that are not on record"
    script:
        "../scripts/races.py"


rule run:
    input:
        code=lambda wildcards: code("run.py", algorithm_file(wildcards.algorithm)),
        environment=lambda wildcards: environment_of(wildcards.reading),
        steps=lambda wildcards: steps_of(cases_of(wildcards), wildcards.reading),
    output:
        f"{RESULTS}/{{reading}}runs/{{algorithm}}/M{{evaluators}}/seeds{{first}}-{{last}}.parquet",
        # That the runs end with.
        policies=f"{RESULTS}/{{reading}}policies/{{algorithm}}/M{{evaluators}}/seeds{{first}}-{{last}}.parquet",
    log:
        f"{RESULTS}/logs/runs/{{reading}}{{algorithm}}/M{{evaluators}}/seeds{{first}}-{{last}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/runs/{{reading}}{{algorithm}}/M{{evaluators}}/seeds{{first}}-{{last}}.tsv"
    resources:
        runtime=runtime(
            lambda wildcards: resources.seconds(cases_of(wildcards), own_size(wildcards))
        ),
        mem_mb=memory(largest_size),
    params:
        cases=lambda wildcards: list(map(vars, cases_of(wildcards))),
    message:
        "{wildcards.reading}{wildcards.algorithm}, M = {wildcards.evaluators}, "
        "seeds {wildcards.first} to {wildcards.last}"
    script:
        "../scripts/run.py"


rule aggregate:
    input:
        code=code("aggregate.py"),
        traces=traces(""),
    output:
        f"{RESULTS}/aggregate.parquet",
    log:
        f"{RESULTS}/logs/aggregate.log",
    benchmark:
        f"{RESULTS}/benchmarks/aggregate.tsv"
    localrule: True
    message:
        "Means and intervals over seeds"
    script:
        "../scripts/aggregate.py"


# A notebook is run into its log, and copied from there when it has succeeded: of a failed one the
# log shows how far it came, and no output pretends to be a result. All notebooks are run this way.
rule figure:
    input:
        code=code("figure1.ipynb", *algorithm_files()),
        aggregate=f"{RESULTS}/aggregate.parquet",
        optimum=f"{RESULTS}/optimum.json",
        races=list(calibrations().values()),
        verdicts=f"{RESULTS}/claims.csv",
        confirmation=CONFIRMED,
    output:
        drawings(),
        notebook=f"{RESULTS}/notebooks/figure1.ipynb",
        page=page(
            "figure1", "Notebook: figure, optimum and final numbers", "figure1_page", "Figure 1"
        ),
    log:
        messages=f"{RESULTS}/logs/notebooks/figure1.log",
        notebook=f"{RESULTS}/logs/notebooks/figure1.ipynb",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/figure1.tsv"
    resources:
        runtime=runtime(resources.ANALYSIS),
        mem_mb=memory(more=ROWS),
    params:
        parameters={
            "study": STUDY,
            "left_out": LEFT_OUT,
            "look": config["look"],
            "results": RESULTS,
            "figures": FIGURES,
            "races": calibrations(),
            "rounds": {name: it["rounds"] for name, it in config["algorithms"].items()},
            "radius": config["algorithms"].get("zpgpd_hf", {}).get("perturbation"),
            "confirmation": CONFIRMED,
        },
    message:
        "Panels and Figure 1"
    script:
        "../scripts/notebook.py"


rule summary:
    input:
        code=code("summarize.py", *algorithm_files()),
        aggregate=f"{RESULTS}/aggregate.parquet",
        optimum=f"{RESULTS}/optimum.json",
        races=list(calibrations().values()),
        verdicts=f"{RESULTS}/claims.csv",
        confirmation=CONFIRMED,
    output:
        f"{RESULTS}/summary.txt",
    log:
        f"{RESULTS}/logs/summary.log",
    benchmark:
        f"{RESULTS}/benchmarks/summary.tsv"
    localrule: True
    params:
        study=STUDY,
        left_out=lambda wildcards: LEFT_OUT,  # may name a path with braces, which are no wildcards
        figures=FIGURES,
        races=calibrations(),
        rounds={name: it["rounds"] for name, it in config["algorithms"].items()},
        page=f"{RESULTS}/notebooks/figure1.html",
    message:
        "Summary"
    script:
        "../scripts/summarize.py"
