"""The crate of a study: valid, complete, and about the files that are in it."""

import hashlib
import json
import zipfile

import offline
import pytest
import requests
from rocrate.vocabs import RO_CRATE
from rocrate_validator import models, services
from rocrate_validator.utils.http import HttpRequester

# Terms as RO-Crate 1.1 has them; the context that comes with the rocrate package is a newer one.
DRAFT = "https://bioschemas.org/ComputationalWorkflow"
CONTEXT = {
    **RO_CRATE["@context"],
    "ComputationalWorkflow": DRAFT,
    "FormalParameter": "https://bioschemas.org/FormalParameter",
    "input": f"{DRAFT}#input",
    "output": f"{DRAFT}#output",
}


@pytest.fixture(scope="module")
def crate(finished):
    project, _ = finished
    code, output = project.call(offline.cut_off(project.workflow("crate", "--cores", "2")))
    assert code == 0, output
    return project.results("crate.zip")


@pytest.fixture(scope="module")
def graph(crate):
    with zipfile.ZipFile(crate) as archive:
        content = json.loads(archive.read("ro-crate-metadata.json"))
    return {entity["@id"]: entity for entity in content["@graph"]}


@pytest.mark.filterwarnings("ignore")  # of the validator, and of what it builds on
def test_crate_meets_every_requirement_of_its_profile(crate, monkeypatch):
    def get(self, address, **options):
        assert address == "https://w3id.org/ro/crate/1.1/context"
        answer = requests.Response()
        answer.status_code = 200
        answer.headers["Content-Type"] = "application/ld+json"
        answer._content = json.dumps({"@context": CONTEXT}).encode()
        return answer

    monkeypatch.setattr(HttpRequester, "get", get, raising=False)
    result = services.validate(
        services.ValidationSettings(
            rocrate_uri=str(crate),
            profile_identifier="workflow-run-crate",
            requirement_severity=models.Severity.REQUIRED,
            offline=True,
        )
    )
    assert [issue.message for issue in result.get_issues()] == []


def test_run_used_the_configuration_and_made_the_results(graph):
    run = graph["#run"]
    assert run["instrument"] == {"@id": "Snakefile"}
    assert run["object"] == {"@id": "results/smoke/config.yaml"}
    made = {result["@id"] for result in run["result"]}
    assert {"results/smoke/figures/figure1.pdf", "results/smoke/claims.csv"} <= made
    assert {"results/smoke/certificates.csv", "results/smoke/aggregate.parquet"} <= made
    assert sum(name.startswith("results/smoke/runs/") for name in made) == 6
    assert run["startTime"] < run["endTime"]


def test_files_are_those_of_the_project(finished, crate, graph):
    project, _ = finished
    files = [entity for entity in graph.values() if "sha256" in entity]
    with zipfile.ZipFile(crate) as archive:
        assert set(archive.namelist()) == {
            "ro-crate-metadata.json",
            "Snakefile",
            *(entity["@id"] for entity in files),
        }
        for entity in files:
            content = archive.read(entity["@id"])
            assert content == project.folder.joinpath(entity["@id"]).read_bytes()
            assert hashlib.sha256(content).hexdigest() == entity["sha256"]
    names = set(graph)
    assert {"requirements.lock", "src/pgpd_hf/runs/traces.py", "notebooks/figure1.ipynb"} <= names
    assert not [name for name in names if "__pycache__" in name]
