# What the runs of Figure 1 have learned, as pictures. No part of the figure: `make environments`.


use rule figure as policies with:
    input:
        code=code("policies.ipynb", *algorithm_files()),
        environment=f"{RESULTS}/environment.npz",
        policies=policies_of(""),
        traces=traces(""),
    output:
        [
            picture
            for name in map(evaluators_text, config["evaluators"])
            for picture in pictures(f"policies_M{name}", f"Policies, M = {name}", "", "Policies")
        ],
        notebook=f"{RESULTS}/notebooks/policies.ipynb",
        page=page("policies", "Policies", category="Policies"),
    log:
        messages=f"{RESULTS}/logs/notebooks/policies.log",
        notebook=f"{RESULTS}/logs/notebooks/policies.ipynb",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/policies.tsv"
    params:
        parameters={
            "study": STUDY,
            "results": RESULTS,
            "figures": FIGURES,
            "policies": policies_of(""),
            "evaluators": {evaluators_text(number): number for number in config["evaluators"]},
        },
    message:
        "What the runs have learned"
