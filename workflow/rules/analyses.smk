# What is run, computed and shown beside Figure 1's runs: for every file of src/replication/analyses
# one rule for its tables and one for its page, and one rule that runs the blocks of cases of them
# all.


use rule run as run_block with:
    input:
        environment=f"{RESULTS}/environment.npz",
        optimum=f"{RESULTS}/optimum.json",
        steps=lambda wildcards: steps_of(cases_of(wildcards)),
        tuning=lambda wildcards: tuning_of(wildcards.analysis, cases_of(wildcards)),
    output:
        f"{RESULTS}/{{analysis}}/{{part}}/{{first}}-{{last}}.parquet",
    log:
        f"{RESULTS}/logs/{{analysis}}/{{part}}/{{first}}-{{last}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/{{analysis}}/{{part}}/{{first}}-{{last}}.tsv"
    priority: 0
    message:
        "{wildcards.analysis}: {wildcards.part}, {wildcards.first} to {wildcards.last}"


for name, it in ANALYSES.items():
    table_rule, page_rule = rules_of(name)
    if table_rule:

        rule:
            name:
                table_rule
            input:
                required(name),
                **results_of(name, it.READS),
            output:
                tables(name),
            log:
                f"{RESULTS}/logs/{[*it.TABLES][0]}.log",
            benchmark:
                f"{RESULTS}/benchmarks/{[*it.TABLES][0]}.tsv"
            priority: it.PRIORITY
            localrule: it.LOCAL
            resources:
                runtime=runtime(asking(name, "seconds")),
                mem_mb=memory(own_size, asking(name, "megabytes")),
            params:
                analysis=name,
                arguments=asking(name, "arguments"),
            message:
                f"{it.title}: {{output[0]}}"
            script:
                "../scripts/tables.py"

    if page_rule:

        # A notebook is run into its log, and copied from there when it has succeeded: of a failed
        # one the log shows how far it came, and no output pretends to be a result.
        rule:
            name:
                page_rule
            input:
                required(name),
                **results_of(name, it.SHOWS),
                notebook=str(PROJECT / f"notebooks/{name}.ipynb"),
                template=sorted(map(str, Path(PROJECT, "workflow/templates/page").iterdir())),
                tables=tables(name),
            output:
                pictures(name),
                notebook=f"{RESULTS}/notebooks/{name}.ipynb",
                page=for_report(f"{RESULTS}/notebooks/{name}.html", it.title, name, f"{name}_page"),
            log:
                messages=f"{RESULTS}/logs/notebooks/{name}.log",
                notebook=f"{RESULTS}/logs/notebooks/{name}.ipynb",
            benchmark:
                f"{RESULTS}/benchmarks/notebooks/{name}.tsv"
            priority: it.PRIORITY
            resources:
                runtime=runtime(lambda wildcards: resources.ANALYSIS),
                mem_mb=memory(own_size, lambda wildcards: resources.TRACES),
            params:
                parameters=parameters_of(name),
            message:
                it.title
            script:
                "../scripts/page.py"
