rule environment:
    input:
        script="workflow/scripts/environment.py",
        sources=sources("configuration", "optima", "storage"),
        file=config["environment"]["file"] or [],
    output:
        environment=f"{RESULTS}/environment.npz",
        optimum=f"{RESULTS}/optimum.json",
    log:
        f"{RESULTS}/logs/environment.log",
    benchmark:
        f"{RESULTS}/benchmarks/environment.tsv"
    params:
        options=json.dumps(config["environment"]),
    message:
        "Environment and its optimum, by linear program and by value iteration"
    shell:
        "python {input.script:q} --options {params.options:q}"
        " --environment {output.environment:q} --optimum {output.optimum:q} >{log:q} 2>&1"
