"""A study as a Workflow Run RO-Crate: workflow, configuration, results, and the run between them.

https://www.researchobject.org/workflow-run-crate describes the profile. Files keep the paths that
they have in the project; `ro-crate-metadata.json` says what they are.
"""

import hashlib
import mimetypes
from pathlib import Path

from rocrate.rocrate import ROCrate

from pgpd_hf.support.storage import recording

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
LICENSE = "https://spdx.org/licenses/MIT"
PAPER = "https://arxiv.org/abs/2604.19024"
TITLE = "Policy Gradient Primal-Dual Method for Safe Reinforcement Learning from Human Feedback"
WORKFLOW = {"@id": "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"}
_FORMATS = {
    ".cff": "application/yaml",
    ".ipynb": "application/x-ipynb+json",
    ".lock": "text/plain",
    ".npz": "application/x-npz",
    ".parquet": "application/vnd.apache.parquet",
    ".rst": "text/x-rst",
    ".smk": "text/x-snakemake",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}


def write_crate(path, *, study, sources, configuration, results, provenance, period):
    """Write a crate as a zip file.

    Parameters
    ----------
    path : path-like
        The zip file.
    study : str
        Name of the study.
    sources : sequence of str
        Files of the project, `Snakefile` among them, relative to the working directory.
    configuration : str
        File of the resolved configuration, with which the workflow was run.
    results : sequence of str
        Files that the workflow made.
    provenance : dict
        With `versions` and `git`, as in `provenance.json`.
    period : dict
        `started` and `finished`, from :func:`pgpd_hf.support.provenance.period`.
    """
    crate = ROCrate(version="1.1")
    _describe(crate, study, period)
    parameter = crate.add_formal_parameter(
        "configuration", "File", "#configuration", properties={"encodingFormat": _FORMATS[".yaml"]}
    )
    versions = provenance["versions"]
    workflow = crate.add_workflow(
        "Snakefile", main=True, lang="snakemake", lang_version=versions["snakemake"]
    )
    workflow["name"] = "pgpd-hf"
    workflow["version"] = _version(provenance)
    workflow["license"] = {"@id": LICENSE}
    workflow["encodingFormat"] = _FORMATS[".smk"]
    workflow["conformsTo"] = WORKFLOW
    workflow["input"] = parameter
    workflow["softwareRequirements"] = [
        _add(crate, _package(name, version), "SoftwareApplication", name, version=version)
        for name, version in versions.items()
    ]
    for source in sorted({*sources} - {"Snakefile"}):
        _add_file(crate, source)
    crate.get("README.md")["about"] = crate.root_dataset
    used = _add_file(crate, configuration)
    used["exampleOfWork"] = parameter
    crate.root_dataset["mentions"] = crate.add_action(
        workflow,
        identifier="#run",
        object=used,
        result=[_add_file(crate, result) for result in sorted({*results} - {configuration})],
        properties={
            "name": f"Run of study {study}",
            "description": "From the start of the first job to the end of the last, with pauses.",
            "startTime": period["started"],
            "endTime": period["finished"],
            "actionStatus": "http://schema.org/CompletedActionStatus",
        },
    )
    with recording(path) as partial:
        crate.write_zip(partial)


def _describe(crate, study, period):
    """Describe the crate as a whole."""
    crate.name = f"Study {study} of pgpd-hf"
    crate.description = f"Workflow, configuration and results of a replication of: {TITLE}."
    crate.datePublished = period["finished"]
    root = crate.root_dataset
    root["license"] = _add(crate, LICENSE, "CreativeWork", "MIT License")
    root["author"] = _add(crate, "#authors", "Organization", "The pgpd-hf authors")
    root["citation"] = _add(crate, PAPER, "ScholarlyArticle", TITLE)
    root["conformsTo"] = [
        _add(crate, profile, "CreativeWork", name, version=profile.rsplit("/", 1)[1])
        for profile, name in PROFILES.items()
    ]


def _version(provenance):
    """The commit, marked if files differed from it; without one, the version of the package."""
    git = provenance["git"]
    if git["commit"] is None:
        return provenance["versions"]["pgpd-hf"]
    return git["commit"] + "-dirty" * git["dirty"]


def _package(name, version):
    """Identifier of a version of a package, as in https://packageurl.org."""
    return f"pkg:{'generic' if name == 'python' else 'pypi'}/{name}@{version}"


def _add(crate, identifier, kind, name, **properties):
    """Add something that is not a file."""
    return crate.add_jsonld({"@id": identifier, "@type": kind, "name": name, **properties})


def _add_file(crate, path):
    """Add a file under its own path."""
    path = Path(path)
    encoding = _FORMATS.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "text/plain"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    properties = {"name": path.name, "encodingFormat": encoding, "sha256": digest}
    return crate.add_file(path, dest_path=path, properties=properties, record_size=True)
