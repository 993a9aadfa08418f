# The paper's experiment, for the study itself and for its readings: {reading} is "readings/NAME/",
# or empty for the study.


rule environment:
    input:
        code=lambda wildcards: code("environment.py", environment_module(wildcards.reading)),
        file=lambda wildcards: CONFIGS[wildcards.reading]["environment"].get("file") or [],
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
    message:
        "{wildcards.reading}environment and its optimum, by linear program and by value iteration"
    script:
        "../scripts/environment.py"


rule calibrate:
    input:
        code=lambda wildcards: code("calibrate.py", algorithm_file(wildcards.algorithm)),
        environment=lambda wildcards: environment_of(wildcards.reading),
    output:
        scores=f"{RESULTS}/{{reading}}calibration/{{algorithm}}.csv",
        steps=f"{RESULTS}/{{reading}}calibration/{{algorithm}}.json",
    log:
        f"{RESULTS}/logs/calibrate/{{reading}}{{algorithm}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/calibrate/{{reading}}{{algorithm}}.tsv"
    resources:
        runtime=runtime(
            lambda wildcards: study.calibration_seconds(
                CONFIGS[wildcards.reading], wildcards.algorithm
            )
        ),
        mem_mb=memory(),
    params:
        calibration=lambda wildcards: study.calibration(
            CONFIGS[wildcards.reading], wildcards.algorithm
        ),
    message:
        "{wildcards.reading}{wildcards.algorithm}: step sizes, on calibration seeds"
    script:
        "../scripts/calibrate.py"


rule run:
    input:
        code=lambda wildcards: code("run.py", algorithm_file(wildcards.algorithm)),
        environment=lambda wildcards: environment_of(wildcards.reading),
        steps=lambda wildcards: steps_of(cases_of(wildcards), wildcards.reading),
    output:
        f"{RESULTS}/{{reading}}runs/{{algorithm}}/M{{evaluators}}/seeds{{first}}-{{last}}.parquet",
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
        parameters={"results": RESULTS, "figures": FIGURES},
    message:
        "Panels and Figure 1"
    script:
        "../scripts/notebook.py"


rule summary:
    input:
        code=code("summarize.py", *algorithm_files()),
        aggregate=f"{RESULTS}/aggregate.parquet",
        optimum=f"{RESULTS}/optimum.json",
    output:
        f"{RESULTS}/summary.txt",
    log:
        f"{RESULTS}/logs/summary.log",
    benchmark:
        f"{RESULTS}/benchmarks/summary.tsv"
    localrule: True
    params:
        study=STUDY,
        figures=FIGURES,
    message:
        "Summary"
    script:
        "../scripts/summarize.py"
