# Each notebook is run by papermill into its log, and copied from there when it has succeeded: of a
# failed one the log shows how far it came, and no output pretends to be a result.


rule figures:
    input:
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
    resources:
        runtime=runtime("figures"),
        mem_mb=memory("figures"),
    params:
        results=lambda wildcards, input: os.path.dirname(input.optimum),
        figures=lambda wildcards, output: os.path.dirname(output[0]),
    message:
        "Panels and Figure 1"
    shell:
        "(papermill {input.notebook:q} {log.notebook:q} --no-progress-bar"
        " -r results {params.results:q} -r figures {params.figures:q}"
        " && jupyter nbconvert --to html --output-dir $(dirname {output.page:q}) {log.notebook:q}"
        " && cp {log.notebook:q} {output.notebook:q}) >{log.messages:q} 2>&1"


rule rates:
    input:
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
    resources:
        runtime=runtime("rates"),
        mem_mb=memory("rates"),
    params:
        results=lambda wildcards, output: os.path.dirname(output.table),
        study=json.dumps({key: config[key] for key in ("algorithms", "horizon", "link")}),
    message:
        "Rates in T, beside the explicit bounds of both theorems"
    shell:
        "(papermill {input.notebook:q} {log.notebook:q} --no-progress-bar"
        " -r results {params.results:q} -r study {params.study:q} -r traces '{input.traces}'"
        " && jupyter nbconvert --to html --output-dir $(dirname {output.page:q}) {log.notebook:q}"
        " && cp {log.notebook:q} {output.notebook:q}) >{log.messages:q} 2>&1"
