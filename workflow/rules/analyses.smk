# What is run and shown beside Figure 1: one rule runs blocks of cases of every analysis of
# src/replication/analyses, and each analysis has a rule of its own name that ends it.


use rule run as run_block with:
    input:
        code=lambda wildcards: code("run.py", *modules_of(wildcards)),
        environment=f"{RESULTS}/environment.npz",
        steps=lambda wildcards: steps_of(cases_of(wildcards)),
        tuning=lambda wildcards: tuning_of(cases_of(wildcards)),
    output:
        f"{RESULTS}/{{analysis}}/{{part}}/{{first}}-{{last}}.parquet",
    log:
        f"{RESULTS}/logs/{{analysis}}/{{part}}/{{first}}-{{last}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/{{analysis}}/{{part}}/{{first}}-{{last}}.tsv"
    message:
        "{wildcards.analysis}: {wildcards.part}, {wildcards.first} to {wildcards.last}"


for name, analysis in ANALYSES.items():
    if analysis.TABLES:

        rule:
            name:
                table_rule(name)
            input:
                **results_of(name, "READS"),
                code=code("tables.py", f"replication/analyses/{name}.py"),
            output:
                tables(name),
            log:
                f"{RESULTS}/logs/{name}.log",
            benchmark:
                f"{RESULTS}/benchmarks/{name}.tsv"
            localrule: name not in NOTEBOOKS
            resources:
                runtime=runtime(resources.ANALYSIS),
                mem_mb=memory(more=ROWS),
            params:
                module=f"analyses.{name}",
                arguments=arguments_of(name),
            message:
                f"{title_of(name)} (tables)"
            script:
                "../scripts/tables.py"

    if name in NOTEBOOKS:

        rule:
            name:
                name
            input:
                **results_of(name, "SHOWS"),
                code=code(f"{name}.ipynb", *map(algorithm_file, algorithms_of(name))),
                tables=tables(name),
            output:
                pictures_of(name),
                notebook=f"{RESULTS}/notebooks/{name}.ipynb",
                page=page(name),
            log:
                messages=f"{RESULTS}/logs/notebooks/{name}.log",
                notebook=f"{RESULTS}/logs/notebooks/{name}.ipynb",
            benchmark:
                f"{RESULTS}/benchmarks/notebooks/{name}.tsv"
            resources:
                runtime=runtime(resources.ANALYSIS),
                mem_mb=memory(more=ROWS),
            params:
                parameters=parameters_of(name),
            message:
                title_of(name)
            script:
                "../scripts/notebook.py"
