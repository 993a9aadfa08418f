# What the paper's statements and proofs bound, computed: bounds.csv and certificates.csv.


rule bound:
    input:
        script="workflow/scripts/bounds.py",
        sources=sources("studies/configuration", "support/storage", "theory/checks"),
        file=lambda wildcards: configuration.bound_environment(config, wildcards.setting)["file"]
        or [],
    output:
        f"{RESULTS}/bounds/{{setting}}.csv",
    log:
        f"{RESULTS}/logs/bounds/{{setting}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/bounds/{{setting}}.tsv"
    resources:
        runtime=runtime("bound"),
        mem_mb=memory("bound"),
    params:
        study=json.dumps({key: config[key] for key in ("environment", "link", "bounds")}),
    message:
        "Every lemma, theorem and corollary, setting {wildcards.setting}"
    shell:
        "python {input.script:q} --study {params.study:q} --setting {wildcards.setting:q}"
        " --output {output:q} >{log:q} 2>&1"


use rule figures as bounds with:
    input:
        script="workflow/scripts/notebook.py",
        template="workflow/templates/page/index.html.j2",
        notebook="notebooks/bounds.ipynb",
        tables=expand(f"{RESULTS}/bounds/{{setting}}.csv", setting=config["bounds"]["settings"]),
        sources=sources("figures/theory", "support/storage"),
    output:
        table=report(
            f"{RESULTS}/bounds.csv",
            caption="../report/bounds.rst",
            category="Theory",
            labels={"result": "Bounds (table)"},
        ),
        notebook=f"{RESULTS}/notebooks/bounds.ipynb",
        page=report(
            f"{RESULTS}/notebooks/bounds.html",
            caption="../report/bounds.rst",
            category="Theory",
            labels={"result": "Bounds"},
        ),
    log:
        notebook=f"{RESULTS}/logs/notebooks/bounds.ipynb",
        messages=f"{RESULTS}/logs/notebooks/bounds.log",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/bounds.tsv"
    params:
        parameters=lambda wildcards, input, output: json.dumps(
            {"results": os.path.dirname(output.table), "tables": input.tables}
        ),
    message:
        "The paper's bounds beside what they bound"


rule certify:
    input:
        script="workflow/scripts/certificates.py",
        sources=lambda wildcards: sources(
            "studies/configuration",
            "support/storage",
            "theory/certificates",
            f"algorithms/{wildcards.algorithm}",
        ),
        environment=f"{RESULTS}/environment.npz",
        steps=steps_of,
    output:
        f"{RESULTS}/certificates/{{algorithm}}.csv",
    log:
        f"{RESULTS}/logs/certificates/{{algorithm}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/certificates/{{algorithm}}.tsv"
    resources:
        runtime=runtime("certify"),
        mem_mb=memory("certify"),
    params:
        study=lambda wildcards: configuration.relevant(
            config, wildcards.algorithm, "evaluators", "certificates"
        ),
        steps=steps_option,
    message:
        "Certificates along runs of {wildcards.algorithm}"
    shell:
        "python {input.script:q} --environment {input.environment:q} --study {params.study:q}"
        " --algorithm {wildcards.algorithm:q} {params.steps:q} --output {output:q} >{log:q} 2>&1"


use rule figures as certificates with:
    input:
        script="workflow/scripts/notebook.py",
        template="workflow/templates/page/index.html.j2",
        notebook="notebooks/certificates.ipynb",
        tables=expand(
            f"{RESULTS}/certificates/{{algorithm}}.csv",
            algorithm=config["certificates"]["iterations"],
        ),
        environment=f"{RESULTS}/environment.npz",
        sources=sources("figures/theory", "support/storage", "theory/certificates"),
    output:
        table=report(
            f"{RESULTS}/certificates.csv",
            caption="../report/certificates.rst",
            category="Theory",
            labels={"result": "Certificates (table)"},
        ),
        notebook=f"{RESULTS}/notebooks/certificates.ipynb",
        page=report(
            f"{RESULTS}/notebooks/certificates.html",
            caption="../report/certificates.rst",
            category="Theory",
            labels={"result": "Certificates"},
        ),
    log:
        notebook=f"{RESULTS}/logs/notebooks/certificates.ipynb",
        messages=f"{RESULTS}/logs/notebooks/certificates.log",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/certificates.tsv"
    params:
        parameters=lambda wildcards, input, output: json.dumps(
            {
                "results": os.path.dirname(output.table),
                "tables": input.tables,
                "seeds": config["certificates"]["seeds"],
                "iterations": config["certificates"]["iterations"]["npgpd_hf"],
            }
        ),
    message:
        "Where the error comes from"
