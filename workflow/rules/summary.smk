rule summary:
    input:
        script="workflow/scripts/summarize.py",
        sources=sources("figures/panels", "statistics", "support/storage"),
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
    shell:
        "python {input.script:q} --study {params.study:q} --figures {params.figures:q}"
        " --aggregate {input.aggregate:q} --optimum {input.optimum:q} --output {output:q}"
        " >{log:q} 2>&1"


rule provenance:
    input:
        script="workflow/scripts/provenance.py",
        sources=sources("support/pages", "support/provenance", "support/storage"),
        results=[
            rules.figures.output,
            rules.rates.output,
            rules.bounds.output,
            rules.summary.output,
            f"{RESULTS}/claims.csv",
        ],
    output:
        provenance=report(
            f"{RESULTS}/provenance.json",
            caption="../report/provenance.rst",
            category="Provenance",
            labels={"result": "Everything (data)"},
        ),
        config=report(
            f"{RESULTS}/config.yaml",
            caption="../report/provenance.rst",
            category="Provenance",
            labels={"result": "Configuration (data)"},
        ),
        page=report(
            f"{RESULTS}/provenance.html",
            caption="../report/provenance.rst",
            category="Provenance",
            labels={"result": "Versions, machine, commit and time"},
        ),
    log:
        f"{RESULTS}/logs/provenance.log",
    localrule: True
    params:
        config=json.dumps(config),
        benchmarks=lambda wildcards: benchmarks_of("provenance"),
    message:
        "Versions, machine, commit, configuration and wall time"
    shell:
        "python {input.script:q} --config {params.config:q} --benchmarks {params.benchmarks:q}"
        " --resolved {output.config:q} --page {output.page:q} --output {output.provenance:q} >{log:q} 2>&1"
