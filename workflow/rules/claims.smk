rule verdicts:
    input:
        script="workflow/scripts/judge.py",
        sources=sources("claims/__init__", "core/cmdp", "statistics", "support/storage"),
        claims=CLAIMS,
        schema="workflow/schemas/claims.schema.yaml",
        environment=lambda wildcards: environment_of(wildcards.case),
        optimum=lambda wildcards: optimum_of(wildcards.case),
        traces=lambda wildcards: traces(wildcards.case),
        rates=lambda wildcards: [] if wildcards.case else f"{RESULTS}/rates.csv",
    output:
        f"{RESULTS}/{{case}}claims.csv",
    log:
        f"{RESULTS}/logs/verdicts/{{case}}claims.log",
    benchmark:
        f"{RESULTS}/benchmarks/verdicts/{{case}}claims.tsv"
    resources:
        runtime=runtime("verdicts"),
        mem_mb=memory("verdicts"),
    params:
        reading=lambda wildcards: json.dumps(cases.look(READINGS, wildcards.case)),
        rates=lambda wildcards, input: ["--rates", input.rates] if input.rates else [],
    message:
        "{wildcards.case}verdicts"
    shell:
        "python {input.script:q} --claims {input.claims:q} --schema {input.schema:q}"
        " --reading {params.reading:q} --environment {input.environment:q}"
        " --optimum {input.optimum:q} --traces {input.traces:q} {params.rates:q}"
        " --output {output:q} >{log:q} 2>&1"


rule instance_verdicts:
    input:
        script="workflow/scripts/judge_instances.py",
        sources=sources("claims/__init__", "statistics", "support/storage"),
        claims=CLAIMS,
        schema="workflow/schemas/claims.schema.yaml",
        optima=lambda wildcards: [
            f"{RESULTS}/instances/{group}/optima.csv"
            for group in cases.judged_together(config, wildcards.group)
        ],
        traces=lambda wildcards: instance_traces(cases.judged_together(config, wildcards.group)),
    output:
        f"{RESULTS}/instances/{{group}}/claims.csv",
    log:
        f"{RESULTS}/logs/verdicts/instances/{{group}}/claims.log",
    benchmark:
        f"{RESULTS}/benchmarks/verdicts/instances/{{group}}/claims.tsv"
    resources:
        runtime=runtime("instance_verdicts"),
        mem_mb=memory("instance_verdicts"),
    params:
        groups=lambda wildcards: cases.judged_together(config, wildcards.group),
    message:
        "instances/{wildcards.group}/verdicts"
    shell:
        "python {input.script:q} --claims {input.claims:q} --schema {input.schema:q}"
        " --groups {params.groups:q} --optima {input.optima:q} --traces {input.traces:q}"
        " --output {output:q} >{log:q} 2>&1"


rule sensitivity:
    input:
        script="workflow/scripts/sensitivity.py",
        sources=lambda wildcards: sources(
            "claims/__init__", "analyses/sensitivity", "analyses/sweeps", f"algorithms/{wildcards.algorithm}"
        ),
        claims=CLAIMS,
        schema="workflow/schemas/claims.schema.yaml",
        environment=f"{RESULTS}/environment.npz",
        steps=steps_of,
    output:
        f"{RESULTS}/sensitivity/{{algorithm}}-{{axis}}/settings{{first}}-{{last}}.csv",
    log:
        f"{RESULTS}/logs/sensitivity/{{algorithm}}-{{axis}}/settings{{first}}-{{last}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/sensitivity/{{algorithm}}-{{axis}}/settings{{first}}-{{last}}.tsv"
    resources:
        runtime=runtime("sensitivity"),
        mem_mb=memory("sensitivity"),
    params:
        study=lambda wildcards: configuration.relevant(config, wildcards.algorithm, "evaluators"),
        options=json.dumps(config["claims"]["sensitivity"]),
        steps=steps_option,
    message:
        "{wildcards.algorithm}: {wildcards.axis} around the study's, "
        "settings {wildcards.first} to {wildcards.last}"
    shell:
        "python {input.script:q} --environment {input.environment:q} --study {params.study:q}"
        " --algorithm {wildcards.algorithm:q} --axis {wildcards.axis:q} {params.steps:q}"
        " --settings {wildcards.first:q} {wildcards.last:q}"
        " --options {params.options:q} --claims {input.claims:q} --schema {input.schema:q}"
        " --output {output:q} >{log:q} 2>&1"


rule verdict_table:
    input:
        script="workflow/scripts/tabulate.py",
        sources=sources("claims/report", "support/storage"),
        tables=expand(f"{RESULTS}/{{case}}claims.csv", case=cases.titles(config, READINGS)),
    output:
        table=report(
            f"{RESULTS}/verdicts.csv",
            caption="../report/verdicts.rst",
            category="Verdicts",
            labels={"result": "All readings (table)"},
        ),
        text=f"{RESULTS}/verdicts.txt",
    log:
        f"{RESULTS}/logs/verdict_table.log",
    benchmark:
        f"{RESULTS}/benchmarks/verdict_table.tsv"
    localrule: True
    params:
        titles=json.dumps(list(cases.titles(config, READINGS).values())),
    message:
        "All verdicts in one table"
    shell:
        "python {input.script:q} {input.tables:q} --titles {params.titles:q}"
        " --table {output.table:q} --text {output.text:q} >{log:q} 2>&1"


use rule figures as claims_notebook with:
    input:
        script="workflow/scripts/notebook.py",
        template="workflow/templates/page/index.html.j2",
        notebook="notebooks/claims.ipynb",
        sources=sources("claims/__init__", "claims/report", "figures/verdicts", "support/storage"),
        table=rules.verdict_table.output.table,
        optimum=f"{RESULTS}/optimum.json",
        claims=CLAIMS,
        sensitivity=sensitivities(),
    output:
        f"{FIGURES}/claims.pdf",
        report(
            f"{FIGURES}/claims.svg",
            caption="../report/verdicts.rst",
            category="Verdicts",
            labels={"result": "All readings"},
        ),
        f"{FIGURES}/claims.png",
        notebook=f"{RESULTS}/notebooks/claims.ipynb",
        page=report(
            f"{RESULTS}/notebooks/claims.html",
            caption="../report/verdicts_page.rst",
            category="Verdicts",
            labels={"result": "Notebook: what the verdicts hang on"},
        ),
    log:
        notebook=f"{RESULTS}/logs/notebooks/claims.ipynb",
        messages=f"{RESULTS}/logs/notebooks/claims.log",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/claims.tsv"
    params:
        parameters=lambda wildcards, input: json.dumps(
            {
                "results": RESULTS,
                "figures": FIGURES,
                "claims": input.claims,
                "readings": {reading["title"]: reading["about"] for reading in READINGS.values()},
                "sensitivity": input.sensitivity,
            }
        ),
    message:
        "The matrix of verdicts, and what it says"


# Has no output, so that it prints the table whenever it is asked for.
rule claims:
    input:
        text=rules.verdict_table.output.text,
        notebook=rules.claims_notebook.output,
    log:
        f"{RESULTS}/logs/claims.log",
    localrule: True
    message:
        "Verdicts on the paper's statements"
    shell:
        "tee {log:q} <{input.text:q}"
