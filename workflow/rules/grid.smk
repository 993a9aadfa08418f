# Every combination of settings on many random instances: `snakemake grid`, for a cluster.


rule run_grid:
    input:
        script="workflow/scripts/run_grid.py",
        sources=lambda wildcards: sources(
            "studies/configuration", "analyses/grid", "support/storage", f"algorithms/{wildcards.algorithm}"
        ),
        environment=f"{RESULTS}/environment.npz",
        steps=lambda wildcards: calibration_of(wildcards.algorithm),
    output:
        f"{RESULTS}/grid/{{algorithm}}/instances{{first_instance}}-{{last_instance}}/"
        "seeds{first}-{last}.parquet",
    log:
        f"{RESULTS}/logs/grid/{{algorithm}}/instances{{first_instance}}-{{last_instance}}/"
        "seeds{first}-{last}.log",
    benchmark:
        f"{RESULTS}/benchmarks/grid/{{algorithm}}/instances{{first_instance}}-{{last_instance}}/"
        "seeds{first}-{last}.tsv"
    resources:
        runtime=runtime("run_grid"),
        mem_mb=memory("run_grid"),
    params:
        study=lambda wildcards: theory_part(grid=config["grid"]["algorithms"][wildcards.algorithm]),
        steps=steps_option,
    message:
        "grid: {wildcards.algorithm}, instances {wildcards.first_instance} to "
        "{wildcards.last_instance}, seeds {wildcards.first} to {wildcards.last}"
    shell:
        "python {input.script:q} --environment {input.environment:q} --study {params.study:q}"
        " --algorithm {wildcards.algorithm:q}"
        " --instances {wildcards.first_instance:q} {wildcards.last_instance:q}"
        " --seeds {wildcards.first:q} {wildcards.last:q} {params.steps:q}"
        " --output {output:q} >{log:q} 2>&1"


rule grid:
    input:
        script="workflow/scripts/summarize_grid.py",
        sources=sources("analyses/grid", "support/storage"),
        runs=grid_files(),
    output:
        f"{RESULTS}/grid.csv",
    log:
        f"{RESULTS}/logs/grid.log",
    benchmark:
        f"{RESULTS}/benchmarks/grid_table.tsv"
    localrule: True
    message:
        "Means of the grid over instances"
    shell:
        "python {input.script:q} {input.runs:q} --output {output:q} >{log:q} 2>&1"
