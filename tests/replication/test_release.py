"""What an archive, a reviewer or a package index looks at agrees with the project."""

import datetime
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from replication.verify import tables

ROOT = Path(__file__).parents[2]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TARGETS = set(re.findall(r"^([\w./-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_zenodo_agrees_with_the_citation():
    zenodo = json.loads(text(".zenodo.json"))
    for key in ("title", "version", "license", "keywords"):
        assert zenodo[key] == CITATION[key], key
    assert [{"name": person["name"]} for person in CITATION["authors"]] == zenodo["creators"]
    (paper,) = CITATION["references"]
    (related,) = zenodo["related_identifiers"]
    assert related["identifier"] == paper["identifiers"][0]["value"]
    assert paper["title"] in zenodo["description"]


def test_there_is_one_version():
    newest = re.search(r"^## (\S+)", text("CHANGELOG.md"), re.MULTILINE)[1]
    assert CITATION["version"] == PROJECT["version"] == newest


def test_tag_of_this_commit_is_its_version():
    command = ["git", "-C", str(ROOT), "tag", "--points-at", "HEAD", "--list", "v*"]
    tags = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    assert set(tags) <= {f"v{PROJECT['version']}"}


def test_version_has_a_date_once_it_is_released():
    heading = re.search(r"^## .*", text("CHANGELOG.md"), re.MULTILINE)[0]
    assert isinstance(CITATION.get("date-released"), datetime.date) != ("unreleased" in heading)


def test_page_of_the_reference_lists_its_tables():
    """Those of both studies once, and those of one study in a place of their own."""
    page = text("reference/README.md")
    named = re.findall(r"`(\w+\.csv)`", page)
    paths = [*(ROOT / "reference").glob("*.csv"), *(ROOT / "reference/hard").glob("*.csv")]
    assert sorted(named) == sorted({path.name for path in paths})
    hard = {it.name for it in tables.TABLES if it.name.startswith("hard/")}
    ours = {it.name for it in tables.TABLES} - hard
    hard = {name.removeprefix("hard/") for name in hard}
    parts = [
        page.partition(heading)[2].partition("\n## ")[0]
        for heading in (
            "Of the default study alone:",
            "## What an answer buys, for the default study alone",
        )
    ]
    assert set(re.findall(r"`(\w+)\.csv`", "".join(parts))) == ours - hard
    assert not hard - ours


def test_manifest_of_a_codecheck_lists_files_and_commands_that_exist():
    codecheck = yaml.safe_load(text("codecheck.yml"))
    assert text("codecheck.yml").startswith("---\n")
    assert f'title: "{codecheck["paper"]["title"]}"' in text("article/article.typ")
    assert codecheck["version"] == "https://codecheck.org.uk/spec/config/2.0/"
    for item in codecheck["manifest"]:
        assert (ROOT / item["file"]).is_file(), item
        assert set(re.findall(r"make (\w+)", item["comment"])) <= TARGETS, item
    assert len(codecheck["manifest"]) > 8


@pytest.mark.parametrize("page", ["docs/checklist.md", "CONTRIBUTING.md"])
def test_places_and_commands_of_a_page_exist(page):
    commands = set(re.findall(r"(?:^|`)make ([\w./-]+)", text(page), re.MULTILINE))
    assert len(commands) > 3
    assert commands <= TARGETS
    named = re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text(page), flags=re.DOTALL))
    places = [name for name in named if re.fullmatch(r"[\w./-]+/[\w./-]*|[\w.-]+\.\w+", name)]
    places = [name for name in places if "STUDY" not in name and name != "requirements.in"]
    assert [name for name in places if not (ROOT / name).exists()] == []
    assert len(places) > 1


def test_sections_that_the_checklist_names_exist():
    named = re.findall(r'`([\w./-]+)` \("([^"]+)"\)', text("docs/checklist.md"))
    assert len(named) > 4
    for page, title in named:
        assert f" {title}\n" in text(page), title


def test_containers_copy_files_and_make_targets_that_exist():
    apptainer = text("apptainer.def")
    copied = re.findall(r"^    (\S+) /opt/pgpd-hf/\1$", apptainer, re.MULTILINE)
    assert {"Makefile", "requirements.lock", "src"} <= set(copied)
    assert all((ROOT / name).exists() for name in copied)
    made = re.findall(r"make (?:--directory \S+ )?(\.venv\S*)", apptainer + text("Containerfile"))
    assert len(made) == 2
    assert set(made) <= TARGETS
    written = re.findall(r"--volume \./(\S+):/pgpd-hf/\1(?= )", text("Containerfile"))
    assert written == ["results", "figures"]
    bases = re.findall(
        r"(?i)^from:? (?:docker\.io/library/)?(\S+)$",
        f"{apptainer}\n{text('Containerfile')}",
        re.MULTILINE,
    )
    assert len(bases) == 2
    assert len(set(bases)) == 1
    assert re.fullmatch("python@sha256:[0-9a-f]{64}", bases[0])
    version = re.search(r"python =([\d.]+)", text("environment.yml"))[1]
    assert f"# Python {version}." in text("Containerfile")


def test_hosted_ci_runs_what_exists_and_nothing_of_its_own():
    jobs = yaml.safe_load(text(".github/workflows/ci.yml"))["jobs"]
    ran = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    assert ran == [".ci/run", "python -m pip install .", "python tools/try_library.py"]
    assert (ROOT / ".ci/run").exists()
    assert (ROOT / "tools/try_library.py").exists()


def test_template_of_an_issue_asks_for_provenance_and_code_that_works():
    form = yaml.safe_load(text(".github/ISSUE_TEMPLATE/bug.yml"))
    (asked,) = [field for field in form["body"] if field["id"] == "provenance"]
    assert asked["validations"]["required"]
    (code,) = re.findall(r'python -c "(.*?)"', asked["attributes"]["description"])
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "numpy" in done.stdout
