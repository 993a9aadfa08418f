# The paper's experiment, for the study itself and for its readings: {reading} is "readings/NAME/",
# or empty for the study. It has priority: whatever else is asked for, Figure 1 comes first.


rule environment:
    output:
        environment=f"{RESULTS}/{{reading}}environment.npz",
        optimum=f"{RESULTS}/{{reading}}optimum.json",
    log:
        f"{RESULTS}/logs/environment/{{reading}}environment.log",
    benchmark:
        f"{RESULTS}/benchmarks/environment/{{reading}}environment.tsv"
    priority: 1
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
        scores=lambda wildcards: [PROJECT / recorded_races.SCORES] * bool(race_on_record(wildcards)),
    output:
        scores=f"{RESULTS}/{{folder}}calibration/{{algorithm}}.csv",
        steps=f"{RESULTS}/{{folder}}calibration/{{algorithm}}.json",
    log:
        f"{RESULTS}/logs/calibrate/{{folder}}{{algorithm}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/calibrate/{{folder}}{{algorithm}}.tsv"
    priority: 1
    resources:
        runtime=runtime(
            lambda wildcards: jobs.race_seconds(CALIBRATED[wildcards.folder], wildcards.algorithm)
        ),
        mem_mb=memory(lambda wildcards: configuration.size(CALIBRATED[wildcards.folder])),
    params:
        recorded=race_on_record,
        source=lambda wildcards: "a recorded race" if race_on_record(wildcards) else "a new race",
        race=lambda wildcards: jobs.race(CALIBRATED[wildcards.folder], wildcards.algorithm),
        archive=lambda wildcards: archive_digest(CALIBRATED[wildcards.folder]["environment"]),
    message:
        "{wildcards.folder}{wildcards.algorithm}: step sizes, from {params.source}"
    script:
        "../scripts/calibrate.py"


rule run:
    input:
        environment=lambda wildcards: environment_of(wildcards.reading),
        optimum=lambda wildcards: environment_of(wildcards.reading, "optimum.json"),
        steps=lambda wildcards: steps_of(cases_of(wildcards), wildcards.reading),
    output:
        f"{RESULTS}/{{reading}}runs/{{algorithm}}/M{{evaluators}}/seeds{{first}}-{{last}}.parquet",
        policies=f"{RESULTS}/{{reading}}policies/{{algorithm}}/M{{evaluators}}/seeds{{first}}-{{last}}.parquet",
    log:
        f"{RESULTS}/logs/runs/{{reading}}{{algorithm}}/M{{evaluators}}/seeds{{first}}-{{last}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/runs/{{reading}}{{algorithm}}/M{{evaluators}}/seeds{{first}}-{{last}}.tsv"
    priority: 1
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
