# Each notebook is run into its log, and copied from there when it has succeeded: of a failed one the
# log shows how far it came, and no output pretends to be a result.


rule figures:
    input:
        script="workflow/scripts/execute_notebook.py",
        notebook="notebooks/figure1.ipynb",
        sources=sources("plotting", "storage"),
        aggregate=f"{RESULTS}/aggregate.parquet",
        optimum=f"{RESULTS}/optimum.json",
    output:
        drawings(),
        notebook=f"{RESULTS}/notebooks/figure1.ipynb",
        page=f"{RESULTS}/notebooks/figure1.html",
    log:
        notebook=f"{RESULTS}/logs/notebooks/figure1.ipynb",
        messages=f"{RESULTS}/logs/notebooks/figure1.log",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/figure1.tsv"
    params:
        parameters=lambda wildcards, input, output: json.dumps(
            {"results": os.path.dirname(input.optimum), "figures": os.path.dirname(output[0])}
        ),
    message:
        "Panels and Figure 1"
    shell:
        "python {input.script:q} --notebook {input.notebook:q} --parameters {params.parameters:q}"
        " --progress {log.notebook:q} --output {output.notebook:q} --page {output.page:q}"
        " >{log.messages:q} 2>&1"


rule rates:
    input:
        script="workflow/scripts/execute_notebook.py",
        notebook="notebooks/rates.ipynb",
        sources=sources("plotting", "rates", "configuration", "theory/bounds", "theory/constants"),
        traces=rate_traces(),
        environment=f"{RESULTS}/environment.npz",
    output:
        table=f"{RESULTS}/rates.csv",
        notebook=f"{RESULTS}/notebooks/rates.ipynb",
        page=f"{RESULTS}/notebooks/rates.html",
    log:
        notebook=f"{RESULTS}/logs/notebooks/rates.ipynb",
        messages=f"{RESULTS}/logs/notebooks/rates.log",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/rates.tsv"
    params:
        parameters=lambda wildcards, input, output: json.dumps(
            {
                "results": os.path.dirname(output.table),
                "study": {key: config[key] for key in ("algorithms", "horizon", "link")},
                "traces": input.traces,
            }
        ),
    message:
        "Rates in T, beside the explicit bounds of both theorems"
    shell:
        "python {input.script:q} --notebook {input.notebook:q} --parameters {params.parameters:q}"
        " --progress {log.notebook:q} --output {output.notebook:q} --page {output.page:q}"
        " >{log.messages:q} 2>&1"
