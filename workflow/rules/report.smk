# What a reader gets: the default study, and what else has been made.


rule verdict_page:
    input:
        script="workflow/scripts/verdict_page.py",
        sources=sources("support/pages", "support/storage"),
        verdicts=f"{RESULTS}/claims.csv",
    output:
        report(
            f"{RESULTS}/claims.html",
            caption="../report/claims_table.rst",
            category="Verdicts",
            labels={"result": "The study itself"},
        ),
    log:
        f"{RESULTS}/logs/verdict_page.log",
    benchmark:
        f"{RESULTS}/benchmarks/verdict_page.tsv"
    localrule: True
    params:
        study=STUDY,
    message:
        "Verdicts as a page"
    shell:
        "python {input.script:q} --verdicts {input.verdicts:q} --study {params.study:q}"
        " --output {output:q} >{log:q} 2>&1"


rule reported:
    input:
        rules.figures.output,
        rules.rates.output,
        rules.bounds.output,
        rules.summary.output,
        rules.provenance.output,
        rules.verdict_page.output,
        made(
            rules.claims_notebook,
            rules.verdict_table,
            rules.certificates,
            rules.slopes,
            rules.effects,
            rules.schedules,
        ),
    localrule: True
    message:
        "What a report shows is there"


rule crate:
    input:
        script="workflow/scripts/crate.py",
        sources=project_files(),
        configuration=f"{RESULTS}/config.yaml",
        provenance=f"{RESULTS}/provenance.json",
        results=[
            rules.reported.input,
            f"{RESULTS}/claims.csv",
            rules.aggregate.output,
            traces(""),
            [calibration_of(algorithm) for algorithm in config["algorithms"]],
            environment_of(""),
            optimum_of(""),
        ],
    output:
        f"{RESULTS}/crate.zip",
    log:
        f"{RESULTS}/logs/crate.log",
    localrule: True
    params:
        study=STUDY,
        benchmarks=lambda wildcards: benchmarks_of("crate"),
    message:
        "Workflow, configuration and results as an RO-Crate"
    shell:
        "python {input.script:q} --study {params.study:q} --sources {input.sources:q}"
        " --configuration {input.configuration:q} --provenance {input.provenance:q}"
        " --benchmarks {params.benchmarks:q} --results {input.results:q}"
        " --output {output:q} >{log:q} 2>&1"
