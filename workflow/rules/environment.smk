rule environment:
    input:
        script="workflow/scripts/environment.py",
        sources=sources("studies/configuration", "core/optima", "support/storage"),
        file=lambda wildcards: CASES[wildcards.case]["environment"]["file"] or [],
    output:
        environment=f"{RESULTS}/{{case}}environment.npz",
        optimum=f"{RESULTS}/{{case}}optimum.json",
    log:
        f"{RESULTS}/logs/environment/{{case}}environment.log",
    benchmark:
        f"{RESULTS}/benchmarks/environment/{{case}}environment.tsv"
    localrule: True
    params:
        options=lambda wildcards: json.dumps(CASES[wildcards.case]["environment"]),
    message:
        "{wildcards.case}environment and its optimum, by linear program and by value iteration"
    shell:
        "python {input.script:q} --options {params.options:q}"
        " --environment {output.environment:q} --optimum {output.optimum:q} >{log:q} 2>&1"
