rule instance_optima:
    input:
        script="workflow/scripts/instance_optima.py",
        sources=sources("studies/configuration", "core/optima", "support/storage"),
    output:
        f"{RESULTS}/instances/{{group}}/optima.csv",
    log:
        f"{RESULTS}/logs/instances/{{group}}/optima.log",
    benchmark:
        f"{RESULTS}/benchmarks/instances/{{group}}/optima.tsv"
    localrule: True
    params:
        study=lambda wildcards: json.dumps({"environment": GROUPS[wildcards.group]["environment"]}),
        instances=lambda wildcards: INSTANCES[wildcards.group]["numbers"],
        expected=lambda wildcards: expected(wildcards.group),
    message:
        "{wildcards.group} instances and their optima"
    shell:
        "python {input.script:q} --study {params.study:q} --group {wildcards.group:q}"
        " --instances {params.instances:q} {params.expected:q} --output {output:q} >{log:q} 2>&1"


rule instance_runs:
    input:
        script="workflow/scripts/instances.py",
        sources=lambda wildcards: sources(
            "analyses/instances", "support/storage", f"algorithms/{wildcards.algorithm}"
        ),
    output:
        scores=f"{RESULTS}/instances/{{group}}/calibration/{{algorithm}}/"
        "instances{first}-{last}.csv",
        runs=f"{RESULTS}/instances/{{group}}/runs/{{algorithm}}/instances{{first}}-{{last}}.parquet",
    log:
        f"{RESULTS}/logs/instances/{{group}}/{{algorithm}}/instances{{first}}-{{last}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/instances/{{group}}/{{algorithm}}/instances{{first}}-{{last}}.tsv"
    resources:
        runtime=runtime("instance_runs"),
        mem_mb=memory("instance_runs"),
    params:
        study=lambda wildcards: configuration.relevant(
            GROUPS[wildcards.group],
            wildcards.algorithm,
            "environment",
            "evaluators",
            "seeds",
            "calibration",
        ),
        instances=lambda wildcards: resources.instances(config, wildcards),
    message:
        "{wildcards.algorithm} on {wildcards.group} instances {wildcards.first} to {wildcards.last}: "
        "step sizes and runs"
    shell:
        "python {input.script:q} --study {params.study:q} --algorithm {wildcards.algorithm:q}"
        " --instances {params.instances:q} --threads {threads}"
        " --scores {output.scores:q} --output {output.runs:q} >{log:q} 2>&1"
