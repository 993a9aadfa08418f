# What is run and shown beside Figure 1: one rule runs blocks of cases of every analysis of
# src/pgpd_hf/analyses, and each analysis has a rule of its own name that ends it.


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
    if name in NOTEBOOKS:

        rule:
            name:
                name
            input:
                code=code(f"{name}.ipynb", *map(algorithm_file, algorithms_of(name))),
                runs=analysis_runs(name),
                environment=f"{RESULTS}/environment.npz",
            output:
                tables(name),
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
                parameters={
                    "results": RESULTS,
                    "figures": FIGURES,
                    "runs": analysis_runs(name),
                    **analysis.parameters(config),
                },
            message:
                title_of(name)
            script:
                "../scripts/notebook.py"

    elif analysis.TABLES:

        rule:
            name:
                name
            input:
                code=code("tabulate.py", f"analyses/{name}.py"),
                runs=analysis_runs(name),
            output:
                tables(name),
            log:
                f"{RESULTS}/logs/{name}.log",
            benchmark:
                f"{RESULTS}/benchmarks/{name}.tsv"
            localrule: True
            params:
                analysis=name,
            message:
                title_of(name)
            script:
                "../scripts/tabulate.py"
