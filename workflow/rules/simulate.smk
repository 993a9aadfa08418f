rule calibrate:
    input:
        script="workflow/scripts/calibrate.py",
        sources=lambda wildcards: sources(
            "studies/calibration", "studies/configuration", "support/storage", f"algorithms/{wildcards.algorithm}"
        ),
        environment=lambda wildcards: environment_of(wildcards.case),
    output:
        scores=f"{RESULTS}/{{case}}calibration/{{algorithm}}.csv",
        steps=f"{RESULTS}/{{case}}calibration/{{algorithm}}.json",
    log:
        f"{RESULTS}/logs/calibrate/{{case}}{{algorithm}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/calibrate/{{case}}{{algorithm}}.tsv"
    resources:
        runtime=runtime("calibrate"),
        mem_mb=memory("calibrate"),
    params:
        study=lambda wildcards: configuration.relevant(
            CASES[wildcards.case], wildcards.algorithm, "calibration"
        ),
    message:
        "{wildcards.case}{wildcards.algorithm}: step sizes, on calibration seeds"
    shell:
        "python {input.script:q} --environment {input.environment:q} --study {params.study:q}"
        " --algorithm {wildcards.algorithm:q} --threads {threads}"
        " --scores {output.scores:q} --steps {output.steps:q} >{log:q} 2>&1"


rule simulate:
    input:
        script="workflow/scripts/simulate.py",
        sources=lambda wildcards: sources(
            "studies/configuration", "runs", "support/storage", f"algorithms/{wildcards.algorithm}"
        ),
        environment=lambda wildcards: environment_of(wildcards.case),
        steps=steps_of,
    output:
        f"{RESULTS}/{{case}}runs/{{algorithm}}/M{{evaluators}}/seeds{{first}}-{{last}}.parquet",
    log:
        f"{RESULTS}/logs/runs/{{case}}{{algorithm}}/M{{evaluators}}/seeds{{first}}-{{last}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/runs/{{case}}{{algorithm}}/M{{evaluators}}/seeds{{first}}-{{last}}.tsv"
    resources:
        runtime=runtime("simulate"),
        mem_mb=memory("simulate"),
    params:
        study=lambda wildcards: configuration.relevant(CASES[wildcards.case], wildcards.algorithm),
        steps=steps_option,
    message:
        "{wildcards.case}{wildcards.algorithm}, M = {wildcards.evaluators}, "
        "seeds {wildcards.first} to {wildcards.last}"
    shell:
        "python {input.script:q} --environment {input.environment:q} --study {params.study:q}"
        " --algorithm {wildcards.algorithm:q} --evaluators {wildcards.evaluators:q}"
        " --seeds {wildcards.first:q} {wildcards.last:q} {params.steps:q}"
        " --output {output:q} >{log:q} 2>&1"


rule run_rates:
    input:
        script="workflow/scripts/run_rates.py",
        sources=lambda wildcards: sources(
            "studies/configuration", "runs", "support/storage", f"algorithms/{wildcards.algorithm}"
        ),
        environment=f"{RESULTS}/environment.npz",
        steps=steps_of,
    output:
        f"{RESULTS}/rates/{{algorithm}}/{{step_rule}}_steps/M{{evaluators}}/"
        "seeds{first}-{last}.parquet",
    log:
        f"{RESULTS}/logs/rates/{{algorithm}}/{{step_rule}}_steps/M{{evaluators}}/"
        "seeds{first}-{last}.log",
    benchmark:
        f"{RESULTS}/benchmarks/rates/{{algorithm}}/{{step_rule}}_steps/M{{evaluators}}/"
        "seeds{first}-{last}.tsv"
    resources:
        runtime=runtime("run_rates"),
        mem_mb=memory("run_rates"),
    params:
        study=lambda wildcards: configuration.relevant(config, wildcards.algorithm),
        lengths=lambda wildcards: config["rates"]["iterations"][wildcards.algorithm],
        steps=steps_option,
    message:
        "{wildcards.algorithm}, M = {wildcards.evaluators}, sweep over T, "
        "{wildcards.step_rule} steps, seeds {wildcards.first} to {wildcards.last}"
    shell:
        "python {input.script:q} --environment {input.environment:q} --study {params.study:q}"
        " --algorithm {wildcards.algorithm:q} --evaluators {wildcards.evaluators:q}"
        " --iterations {params.lengths:q} --seeds {wildcards.first:q} {wildcards.last:q}"
        " --step-rule {wildcards.step_rule:q} {params.steps:q} --output {output:q} >{log:q} 2>&1"


rule aggregate:
    input:
        script="workflow/scripts/aggregate.py",
        sources=sources("statistics", "support/storage"),
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
    shell:
        "python {input.script:q} {input.traces:q} --output {output:q} >{log:q} 2>&1"
