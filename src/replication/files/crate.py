"""A study as a Workflow Run RO-Crate: workflow, configuration, results, and the run between them.

https://www.researchobject.org/workflow-run-crate describes the profile. Files keep the paths that
they have in the project, or below the working directory, and `ro-crate-metadata.json` says what
they are.
"""

import hashlib
import mimetypes
from pathlib import Path

from rocrate.rocrate import ROCrate

from replication.files.storage import named, recording

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
LICENSE = "https://spdx.org/licenses/MIT"
# What Python does not know, in any version; the machine's own list of types is not asked.
FORMATS = {
    ".ipynb": "application/x-ipynb+json",
    ".lock": "text/plain",
    ".parquet": "application/vnd.apache.parquet",
    ".smk": "text/x-python",
    ".toml": "application/toml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
TITLE = "Policy Gradient Primal-Dual Method for Safe Reinforcement Learning from Human Feedback"


def write_crate(path, *, study, sources, configuration, results, provenance, period):
    """Write a crate as a zip file: the project's sources, the configuration that ran, results."""
    crate = ROCrate(version="1.1")
    crate.name = f"Study {study} of pgpd-hf"
    crate.description = f"Workflow, configuration and results of a replication of: {TITLE}."
    if period["finished"]:  # else it is the present day
        crate.datePublished = period["finished"]
    times = {"startTime": period["started"], "endTime": period["finished"]}
    crate.license = LICENSE
    crate.root_dataset["conformsTo"] = [
        crate.add_jsonld(
            {"@id": profile, "@type": "CreativeWork", "name": name, "version": version}
        )
        for profile, (name, version) in PROFILES.items()
    ]
    versions = provenance["versions"]
    paths = {named(path): path for path in {*sources, *results, configuration}}
    workflow = crate.add_workflow(
        paths.pop("Snakefile"),
        "Snakefile",
        main=True,
        lang="snakemake",
        lang_version=versions["snakemake"],
    )
    workflow["name"] = "pgpd-hf"
    workflow["version"] = provenance["commit"] or versions["pgpd-hf"]
    workflow["license"] = LICENSE
    workflow["softwareRequirements"] = [f"{name} {number}" for name, number in versions.items()]
    files = {name: _add_file(crate, path, name) for name, path in sorted(paths.items())}
    files["README.md"]["about"] = crate.root_dataset
    crate.root_dataset["mentions"] = crate.add_action(
        workflow,
        identifier="#run",
        object=files[configuration],
        result=[files[result] for result in sorted({*results} - {configuration})],
        properties={
            "name": f"Run of study {study}",
            "description": "From the start of the first job to the end of the last, with pauses.",
            **{name: time for name, time in times.items() if time},
            "actionStatus": "http://schema.org/CompletedActionStatus",
        },
    )
    with recording(path) as partial:
        crate.write_zip(partial)


def _add_file(crate, path, name):
    """Add a file under a name."""
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    properties = {"name": Path(name).name, "sha256": digest, "encodingFormat": _format(name)}
    return crate.add_file(path, dest_path=name, properties=properties, record_size=True)


def _format(name):
    """Media type of a file, by its name; those without a known ending are text."""
    known = mimetypes.MimeTypes()
    for ending, kind in FORMATS.items():
        known.add_type(kind, ending)
    return known.guess_type(name)[0] or "text/plain"
