# What the paper's statements and proofs bound, computed: bounds.csv and certificates.csv.


rule bound:
    input:
        script="workflow/scripts/bounds.py",
        sources=sources("configuration", "storage", "theory/checks"),
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


rule bounds:
    input:
        notebook="notebooks/bounds.ipynb",
        tables=expand(f"{RESULTS}/bounds/{{setting}}.csv", setting=config["bounds"]["settings"]),
        sources=sources("plotting", "storage"),
    output:
        table=f"{RESULTS}/bounds.csv",
        notebook=f"{RESULTS}/notebooks/bounds.ipynb",
        page=f"{RESULTS}/notebooks/bounds.html",
    log:
        notebook=f"{RESULTS}/logs/notebooks/bounds.ipynb",
        messages=f"{RESULTS}/logs/notebooks/bounds.log",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/bounds.tsv"
    resources:
        runtime=runtime("bounds"),
        mem_mb=memory("bounds"),
    params:
        results=lambda wildcards, output: os.path.dirname(output.table),
    message:
        "The paper's bounds beside what they bound"
    shell:
        "(papermill {input.notebook:q} {log.notebook:q} --no-progress-bar"
        " -r results {params.results:q} -r tables '{input.tables}'"
        " && jupyter nbconvert --to html --output-dir $(dirname {output.page:q}) {log.notebook:q}"
        " && cp {log.notebook:q} {output.notebook:q}) >{log.messages:q} 2>&1"


rule certify:
    input:
        script="workflow/scripts/certificates.py",
        sources=lambda wildcards: sources(
            "configuration",
            "storage",
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
        study=lambda wildcards: relevant(config, wildcards.algorithm, "evaluators", "certificates"),
        steps=steps_option,
    message:
        "Certificates along runs of {wildcards.algorithm}"
    shell:
        "python {input.script:q} --environment {input.environment:q} --study {params.study:q}"
        " --algorithm {wildcards.algorithm:q} {params.steps} --output {output:q} >{log:q} 2>&1"


rule certificates:
    input:
        notebook="notebooks/certificates.ipynb",
        tables=expand(
            f"{RESULTS}/certificates/{{algorithm}}.csv",
            algorithm=config["certificates"]["iterations"],
        ),
        environment=f"{RESULTS}/environment.npz",
        sources=sources("plotting", "storage", "theory/certificates"),
    output:
        table=f"{RESULTS}/certificates.csv",
        notebook=f"{RESULTS}/notebooks/certificates.ipynb",
        page=f"{RESULTS}/notebooks/certificates.html",
    log:
        notebook=f"{RESULTS}/logs/notebooks/certificates.ipynb",
        messages=f"{RESULTS}/logs/notebooks/certificates.log",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/certificates.tsv"
    resources:
        runtime=runtime("certificates"),
        mem_mb=memory("certificates"),
    params:
        results=lambda wildcards, output: os.path.dirname(output.table),
        seeds=config["certificates"]["seeds"],
        iterations=config["certificates"]["iterations"]["npgpd_hf"],
    message:
        "Where the error comes from"
    shell:
        "(papermill {input.notebook:q} {log.notebook:q} --no-progress-bar"
        " -r results {params.results:q} -r tables '{input.tables}'"
        " -p seeds {params.seeds} -p iterations {params.iterations}"
        " && jupyter nbconvert --to html --output-dir $(dirname {output.page:q}) {log.notebook:q}"
        " && cp {log.notebook:q} {output.notebook:q}) >{log.messages:q} 2>&1"
