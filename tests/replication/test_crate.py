import json
import os
import zipfile

import pytest

from replication.files import crate, storage

COMMIT = "0123456789abcdef0123456789abcdef01234567"


PERIOD = {"started": "2026-01-01T00:00:00+00:00", "finished": "2026-01-02T00:00:00+00:00"}


def make(folder, monkeypatch, commit=None, project="", period=PERIOD):
    """Metadata of the crate of a project of a few files, by identifier."""
    monkeypatch.chdir(folder)
    for name in ("Snakefile", "README.md", "results/s/config.yaml", "results/s/table.csv"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    crate.write_crate(
        folder / "crate.zip",
        study="s",
        sources=[os.path.join(project, name) for name in ("Snakefile", "README.md")],
        configuration="results/s/config.yaml",
        results=["results/s/table.csv", "results/s/config.yaml"],
        provenance={
            "versions": {"pgpd-hf": "0.1", "snakemake": "9.27", "python": "3"},
            "commit": commit,
        },
        period=period,
    )
    with zipfile.ZipFile(folder / "crate.zip") as archive:
        graph = json.loads(archive.read("ro-crate-metadata.json"))["@graph"]
    return {entity["@id"]: entity for entity in graph}


def test_configuration_is_used_and_not_made(tmp_path, monkeypatch):
    graph = make(tmp_path, monkeypatch)
    assert graph["#run"]["object"] == {"@id": "results/s/config.yaml"}
    assert graph["#run"]["result"] == [{"@id": "results/s/table.csv"}]
    assert graph["#run"]["endTime"] == "2026-01-02T00:00:00+00:00"
    assert graph["README.md"]["about"] == {"@id": "./"}
    assert "snakemake 9.27" in graph["Snakefile"]["softwareRequirements"]


def test_times_that_nobody_knows_are_left_out(tmp_path, monkeypatch):
    graph = make(tmp_path, monkeypatch, period=dict.fromkeys(PERIOD))
    assert not {"startTime", "endTime"} & {*graph["#run"]}
    assert graph["./"]["datePublished"] > PERIOD["finished"]  # the day on which it is written


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("results/s/table.csv", "text/csv"),
        ("runs/0000-0019.parquet", "application/vnd.apache.parquet"),
        ("figure1.pdf", "application/pdf"),
        ("notebooks/figure1.ipynb", "application/x-ipynb+json"),
        ("requirements.lock", "text/plain"),
        ("Makefile", "text/plain"),
        ("config.yaml", "application/yaml"),
    ],
)
def test_files_have_the_type_that_their_name_says(name, kind):
    assert crate._format(name) == kind


def test_every_file_of_a_crate_has_a_type(tmp_path, monkeypatch):
    graph = make(tmp_path, monkeypatch)
    files = [it for it in graph.values() if "sha256" in it]
    assert len(files) == 3
    assert all("/" in it["encodingFormat"] for it in files)


def test_files_of_a_project_elsewhere_keep_their_places(tmp_path, monkeypatch):
    graph = make(tmp_path, monkeypatch)
    monkeypatch.setattr(storage, "_PROJECT", tmp_path)
    assert make(tmp_path, monkeypatch, project=tmp_path) == graph


@pytest.mark.parametrize(("commit", "version"), [(COMMIT, COMMIT), (None, "0.1")])
def test_version_is_the_commit_if_there_is_one(tmp_path, monkeypatch, commit, version):
    assert make(tmp_path, monkeypatch, commit)["Snakefile"]["version"] == version
