"""A study as a Workflow Run RO-Crate: workflow, configuration and results, and what came of what.

https://www.researchobject.org/workflow-run-crate describes the profile. Files keep the paths that
they have in the project; `ro-crate-metadata.json` says what they are.
"""

import hashlib
import mimetypes
from pathlib import Path

from rocrate.model import ContextEntity
from rocrate.rocrate import ROCrate

from pgpd_hf.support.storage import recording

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
LICENSE = "https://spdx.org/licenses/MIT"
PAPER = "https://arxiv.org/abs/2604.19024"
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
        The resolved configuration, with which the workflow was run.
    results : sequence of str
        Files that it made.
    provenance : dict
        With `versions` and `git`, as in `provenance.json`.
    period : dict
        `started` and `finished`, made by :func:`pgpd_hf.support.provenance.period`.
    """
    crate = ROCrate(version="1.1")
    _describe(crate, study, period)
    parameter = _entity(
        crate,
        "#configuration",
        "FormalParameter",
        "configuration",
        additionalType="File",
        encodingFormat="application/yaml",
        conformsTo={"@id": "https://bioschemas.org/profiles/FormalParameter/1.0-RELEASE"},
    )
    workflow = crate.add_workflow(
        "Snakefile",
        main=True,
        lang="snakemake",
        lang_version=provenance["versions"]["snakemake"],
        properties={
            "name": "pgpd-hf",
            "version": _version(provenance),
            "license": {"@id": LICENSE},
            "encodingFormat": _FORMATS[".smk"],
            "conformsTo": {
                "@id": "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
            },
        },
    )
    workflow["input"] = parameter
    workflow["softwareRequirements"] = [
        _entity(crate, _package_url(name, version), "SoftwareApplication", name, version=version)
        for name, version in provenance["versions"].items()
    ]
    for source in sorted(set(sources) - {"Snakefile"}):
        file = _add_file(crate, source)
        if source == "README.md":
            file["about"] = crate.root_dataset
    used = _add_file(crate, configuration)
    used["exampleOfWork"] = parameter
    made = [_add_file(crate, result) for result in sorted(set(results) - {configuration})]
    action = crate.add_action(
        workflow,
        identifier="#run",
        object=used,
        result=made,
        properties={
            "name": f"Run of study {study}",
            "description": "From the first job's start to the last one's end, with pauses if any.",
            "startTime": period["started"],
            "endTime": period["finished"],
            "actionStatus": "http://schema.org/CompletedActionStatus",
        },
    )
    crate.root_dataset["mentions"] = action
    with recording(path) as partial:
        crate.write_zip(partial)


def _describe(crate, study, period):
    """Say of the crate as a whole what it is."""
    crate.name = f"Study {study} of pgpd-hf"
    crate.description = (
        "Workflow, configuration and results of a replication of Policy Gradient Primal-Dual "
        "Method for Safe Reinforcement Learning from Human Feedback."
    )
    crate.datePublished = period["finished"]
    root = crate.root_dataset
    root["license"] = _entity(crate, LICENSE, "CreativeWork", "MIT License")
    root["author"] = _entity(crate, "#authors", "Organization", "The pgpd-hf authors")
    root["citation"] = _entity(
        crate,
        PAPER,
        "ScholarlyArticle",
        "Policy Gradient Primal-Dual Method for Safe Reinforcement Learning from Human Feedback",
    )
    root["conformsTo"] = [
        _entity(crate, profile, "CreativeWork", name, version=profile.rsplit("/", 1)[1])
        for profile, name in PROFILES.items()
    ]


def _version(provenance):
    """The commit, with a mark if files differed from it, or else the version of the package."""
    commit, dirty = provenance["git"]["commit"], provenance["git"]["dirty"]
    if commit is None:
        return provenance["versions"]["pgpd-hf"]
    return f"{commit}-dirty" if dirty else commit


def _package_url(name, version):
    """What identifies a version of a package wherever it is found (https://packageurl.org)."""
    return f"pkg:{'generic' if name == 'python' else 'pypi'}/{name}@{version}"


def _entity(crate, identifier, kind, name, **properties):
    """Add something that is no file."""
    return crate.add(ContextEntity(crate, identifier, {"@type": kind, "name": name, **properties}))


def _add_file(crate, path):
    """Add a file under its own path."""
    path = Path(path)
    encoding = _FORMATS.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "text/plain"
    return crate.add_file(
        path,
        dest_path=path,
        properties={
            "name": path.name,
            "encodingFormat": encoding,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        },
        record_size=True,
    )
