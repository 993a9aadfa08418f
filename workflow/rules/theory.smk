# What the paper's statements and proofs bound, computed: bounds.csv and certificates.csv.

BOUND_TABLES = expand(f"{RESULTS}/bounds/{{setting}}.csv", setting=config["bounds"]["settings"])
CERTIFICATES = {key: config["certificates"][key] for key in ("seeds", "iterations")}
CERTIFICATE_TABLES = expand(
    f"{RESULTS}/certificates/{{algorithm}}.csv", algorithm=CERTIFICATES["iterations"]
)


rule bound:
    input:
        # Every theorem is about one of these two; theory/table.py calls them by name.
        code=code("bounds.py", environment_module(), *map(algorithm_file, ("npgpd_hf", "zpgpd_hf"))),
        file=lambda wildcards: bound_file(wildcards) or [],
    output:
        f"{RESULTS}/bounds/{{setting}}.csv",
    log:
        f"{RESULTS}/logs/bounds/{{setting}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/bounds/{{setting}}.tsv"
    resources:
        runtime=runtime(config["bounds"]["seeds"] * resources.BOUND_RUN),
        mem_mb=memory(),
    params:
        study=lambda wildcards: {
            "environment": config["environment"],
            "link": config["link"],
            "bounds": config["bounds"]
            | {"settings": {wildcards.setting: config["bounds"]["settings"][wildcards.setting]}},
        },
    message:
        "Every lemma, theorem and corollary, setting {wildcards.setting}"
    script:
        "../scripts/bounds.py"


use rule figure as bounds with:
    input:
        code=code("bounds.ipynb"),
        tables=BOUND_TABLES,
    output:
        tables("bounds", {"bounds": "Bounds (table)"}),
        notebook=f"{RESULTS}/notebooks/bounds.ipynb",
        page=page("bounds", "Bounds"),
    log:
        messages=f"{RESULTS}/logs/notebooks/bounds.log",
        notebook=f"{RESULTS}/logs/notebooks/bounds.ipynb",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/bounds.tsv"
    params:
        parameters={"results": RESULTS, "tables": BOUND_TABLES},
    message:
        "The paper's bounds beside what they bound"


rule certify:
    input:
        code=lambda wildcards: code("certificates.py", algorithm_file(wildcards.algorithm)),
        environment=f"{RESULTS}/environment.npz",
        steps=lambda wildcards: steps_of(study.certified_cases(config, wildcards.algorithm), ""),
    output:
        f"{RESULTS}/certificates/{{algorithm}}.csv",
    log:
        f"{RESULTS}/logs/certificates/{{algorithm}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/certificates/{{algorithm}}.tsv"
    resources:
        runtime=runtime(lambda wildcards: study.certificate_seconds(config, wildcards.algorithm)),
        mem_mb=memory(
            more=lambda wildcards: study.certificate_megabytes(config, wildcards.algorithm)
        ),
    params:
        cases=lambda wildcards: [
            vars(case) for case in study.certified_cases(config, wildcards.algorithm)
        ],
        draws=config["certificates"]["draws"],
    message:
        "Certificates along runs of {wildcards.algorithm}"
    script:
        "../scripts/certificates.py"


use rule figure as certificates with:
    input:
        code=code("certificates.ipynb", *algorithm_files("npg_pd")),
        tables=CERTIFICATE_TABLES,
        environment=f"{RESULTS}/environment.npz",
    output:
        tables("certificates", {"certificates": "Certificates (table)"}),
        notebook=f"{RESULTS}/notebooks/certificates.ipynb",
        page=page("certificates", "Certificates"),
    log:
        messages=f"{RESULTS}/logs/notebooks/certificates.log",
        notebook=f"{RESULTS}/logs/notebooks/certificates.ipynb",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/certificates.tsv"
    params:
        parameters={"results": RESULTS, "tables": CERTIFICATE_TABLES, **CERTIFICATES},
    message:
        "Where the error comes from"
