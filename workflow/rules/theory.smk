# What the paper's statements, their corrections and proofs bound, computed: bounds.csv, lengths.csv,
# seen.csv, proof_steps.csv and certificates.csv.

BOUND_TABLES = expand(f"{RESULTS}/bounds/{{setting}}.csv", setting=config["bounds"]["settings"])
CERTIFICATES = {key: config["certificates"][key] for key in ("seeds", "iterations")}
CERTIFICATE_TABLES = expand(
    f"{RESULTS}/certificates/{{algorithm}}.csv", algorithm=CERTIFICATES["iterations"]
)

# Runs that the default study makes anyway, beside which bounds are shown.
MEASURED = [*traces(""), *analysis_runs("rates")]


rule bound:
    input:
        # Every theorem is about one of these two; theory/table.py calls them by name.
        code=code("bounds.py", environment_module(), *map(algorithm_file, ("npgpd_hf", "zpgpd_hf"))),
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
        archive=lambda wildcards: archive_digest(bound_environment(wildcards)),
    message:
        "Every lemma, theorem and corollary, setting {wildcards.setting}"
    script:
        "../scripts/bounds.py"


rule lengths:
    input:
        code=code("lengths.py", algorithm_file("npgpd_hf")),
        environment=f"{RESULTS}/environment.npz",
    output:
        lengths=for_report(f"{RESULTS}/lengths.csv", "Corrected bounds (table)", "lengths"),
        first=for_report(f"{RESULTS}/first_lengths.csv", "First lengths (table)", "lengths"),
    log:
        f"{RESULTS}/logs/lengths.log",
    benchmark:
        f"{RESULTS}/benchmarks/lengths.tsv"
    resources:
        runtime=runtime(jobs.bound_seconds(config, "lengths")),
        mem_mb=memory(),
    params:
        setting={key: config[key] for key in ("link", "horizon", "evaluators")},
        corrected=config["bounds"]["corrected"],
    message:
        "From which T on bounds are informative"
    script:
        "../scripts/lengths.py"


rule seen:
    input:
        code=code("seen.py", algorithm_file("npgpd_hf")),
        environment=f"{RESULTS}/environment.npz",
    output:
        for_report(f"{RESULTS}/seen.csv", "Data-dependent bounds (table)", "seen"),
    log:
        f"{RESULTS}/logs/seen.log",
    benchmark:
        f"{RESULTS}/benchmarks/seen.tsv"
    resources:
        runtime=runtime(jobs.bound_seconds(config, "seen")),
        mem_mb=memory(),
    params:
        setting={key: config[key] for key in ("link", "horizon", "evaluators")},
        corrected=config["bounds"]["corrected"],
    message:
        "Data-dependent bounds"
    script:
        "../scripts/seen.py"


rule proof_steps:
    input:
        code=code("proof_steps.py", *map(algorithm_file, ("npgpd_hf", "zpgpd_hf"))),
    output:
        for_report(f"{RESULTS}/proof_steps.csv", "Steps of proofs (table)", "proof_steps"),
    log:
        f"{RESULTS}/logs/proof_steps.log",
    benchmark:
        f"{RESULTS}/benchmarks/proof_steps.tsv"
    resources:
        runtime=runtime(config["bounds"]["corrected"]["cases"] * resources.PROOF_CASE),
        mem_mb=memory(),
    params:
        cases=config["bounds"]["corrected"]["cases"],
    message:
        "Every step of the corrected proofs on random CMDPs"
    script:
        "../scripts/proof_steps.py"


use rule figure as bounds with:
    input:
        code=code("bounds.ipynb", *map(algorithm_file, PAPER_ALGORITHMS)),
        tables=BOUND_TABLES,
        lengths=rules.lengths.output,
        environment=f"{RESULTS}/environment.npz",
        runs=MEASURED,
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
        parameters={
            "results": RESULTS,
            "tables": BOUND_TABLES,
            "runs": MEASURED,
            "study": {key: config[key] for key in ("algorithms", "horizon", "link")},
        },
    message:
        "The paper's bounds, the corrected ones, and what they bound"


use rule figure as corrected with:
    input:
        code=code("corrected.ipynb"),
        tables=[*rules.seen.output, *rules.proof_steps.output],
    output:
        pictures("seen", "Data-dependent bounds", "seen"),
        notebook=f"{RESULTS}/notebooks/corrected.ipynb",
        page=page("corrected", "Corrected theorems"),
    log:
        messages=f"{RESULTS}/logs/notebooks/corrected.log",
        notebook=f"{RESULTS}/logs/notebooks/corrected.ipynb",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/corrected.tsv"
    params:
        parameters={"results": RESULTS, "figures": FIGURES},
    message:
        "Data-dependent bounds, and every step of the corrected proofs"


rule certify:
    input:
        code=lambda wildcards: code("certificates.py", algorithm_file(wildcards.algorithm)),
        environment=f"{RESULTS}/environment.npz",
        steps=lambda wildcards: steps_of(jobs.certified_cases(config, wildcards.algorithm), ""),
    output:
        f"{RESULTS}/certificates/{{algorithm}}.csv",
    log:
        f"{RESULTS}/logs/certificates/{{algorithm}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/certificates/{{algorithm}}.tsv"
    resources:
        runtime=runtime(lambda wildcards: jobs.certificate_seconds(config, wildcards.algorithm)),
        mem_mb=memory(
            more=lambda wildcards: jobs.certificate_megabytes(config, wildcards.algorithm)
        ),
    params:
        cases=lambda wildcards: [
            vars(case) for case in jobs.certified_cases(config, wildcards.algorithm)
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
