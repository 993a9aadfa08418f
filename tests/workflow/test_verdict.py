"""One statement is judged by the runs that it is about as it is judged with all others."""

import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml
from checking import ANALYSES, laid
from projects import ROOT

from replication.files import validation
from replication.study import admission, readings, recorded_races

STATEMENTS = validation.read_yaml(ROOT / "config/claims.yaml")["claims"]
EXPERIMENT = [name for name, it in STATEMENTS.items() if it["source"].endswith("experiment")]


@pytest.fixture
def verdict(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    yield __import__("verdict")
    del sys.modules["verdict"]


@pytest.fixture
def study_of(verdict):
    return verdict.study_of


@pytest.fixture
def own(tmp_path):
    """A study with two statements of its own, of which one has the name of no study."""
    usual = {"source": "mine", "quote": "…", "statement": "mine"}
    test = STATEMENTS["npgpd-gap-64-256-identical"]["criterion"] | {"evaluators": [64, 1000]}
    mine = {it: usual | {"criterion": test} for it in ("first", "../second")}
    (tmp_path / "claims.yaml").write_text(yaml.safe_dump({"claims": mine}))
    study = {"study": "mine", "claims": {"statements": [str(tmp_path / "claims.yaml")]}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(study))
    return str(tmp_path / "mine.yaml")


@pytest.mark.parametrize("name", EXPERIMENT)
def test_study_of_a_statement_has_what_its_criterion_names(study_of, name):
    (study, asked), criterion = study_of(name, "7", ""), STATEMENTS[name]["criterion"]
    assert asked == {}  # the paper's statements are judged wherever there are runs
    named = {criterion["algorithm"], criterion.get("than", criterion["algorithm"])}
    assert {*study["evaluators"]} >= {*criterion["evaluators"]}
    assert {"npgpd_hf", "zpgpd_hf"} - study["algorithms"].keys() == named
    assert study["seeds"] == 7


@pytest.mark.parametrize("name", EXPERIMENT)
@pytest.mark.parametrize("whole", ["", "config/hard.yaml"])
def test_step_sizes_of_a_statement_are_those_of_the_whole_study(study_of, name, whole):
    defaults = admission.load_defaults(ROOT)
    own, _ = study_of(name, "", str(ROOT / whole) if whole else "")
    record = recorded_races.load_record(ROOT)
    found, expected = (
        admission.settle(readings.overlay(defaults, it), ROOT, it, defaults, ANALYSES)[0]
        for it in (own, laid("hard") if whole else {})
    )
    assert found["seeds"] == expected["seeds"]
    for algorithm in found["algorithms"]:
        race = recorded_races.recorded(record, found, algorithm)
        assert race == recorded_races.recorded(record, expected, algorithm)
        assert race is not None


@pytest.mark.parametrize(
    ("name", "seeds", "message"),
    [
        ("npgpd-gap-plateau", "3", "STATEMENT: expected is one of npgpd-gap-plateaus, "),
        ("npgpd-gap-plateaus", "3x", "SEEDS: a whole number expected, got '3x'"),
        ("npgpd-rate-gap", "3", "npgpd-rate-gap: it is about the tables rates, and `make claims`"),
        (
            "zpgpd-depends-on-sizes",
            "3",
            "zpgpd-depends-on-sizes: it is about the instances large, small, and `make claims`",
        ),
        ("no-reward-inference", "3", "no-reward-inference: not asked by any run: "),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_line(study_of, name, seeds, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}") as raised:
        study_of(name, seeds, "")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("study", "message"),
    [
        ("claims:", "claims: keys and values expected, got None"),
        ("algorithms: [npgpd_hf]", "algorithms: keys and values expected, got ['npgpd_hf']"),
        ("evaluators: 8", "evaluators: list expected, got 8"),
        ("evaluators: [8, many]", "evaluators.1: integer or null expected, got 'many'"),
        (
            "algorithms: {npgpd_hf: null}",
            "npgpd-gap-plateaus: it is about npgpd_hf, which the study does not have",
        ),
    ],
)
def test_study_that_cannot_be_run_is_refused_in_one_line(study_of, tmp_path, study, message):
    path = tmp_path / "mine.yaml"
    path.write_text(f"study: mine\n{study}\n")
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        study_of("npgpd-gap-plateaus", "3", str(path))


def test_study_of_a_statement_of_ones_own_has_no_other(study_of, own):
    study, asked = study_of("first", "3", own)
    assert study["evaluators"] == [16, 64, 256, 1000]
    assert [*asked] == ["first"]
    with pytest.raises(
        ValueError, match=r"^STATEMENT: a name of at most 200 letters, digits, - and _ "
    ):
        study_of("../second", "3", own)


def test_statement_of_ones_own_is_written_where_its_study_reads_it(
    verdict, own, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    calls = []
    code = SimpleNamespace(returncode=3)  # as if a run had failed
    monkeypatch.setattr(verdict.subprocess, "run", lambda command: calls.append(command) or code)
    with pytest.raises(SystemExit, match="3"):
        verdict.judge("first", "3", own, "--cores", "1")
    assert calls == [
        "snakemake results/first/claims.csv --cores 1 --configfile results/first/study.yaml".split()
    ]
    study = validation.read("results/first/study.yaml")
    [file] = study["claims"]["statements"]
    criterion = validation.read_yaml(tmp_path / "claims.yaml")["claims"]["first"]["criterion"]
    [(name, written)] = validation.read_yaml(file)["claims"].items()
    assert (name, written["criterion"]) == ("first", criterion)


def test_folder_that_cannot_be_written_to_is_named_in_one_line(verdict, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("results").touch()
    message = "error: results/npgpd-gap-plateaus/study.yaml: cannot be written: Not a directory"
    with pytest.raises(SystemExit, match=f"^{message}$"):
        verdict.judge("npgpd-gap-plateaus", "3", "")


@pytest.mark.long
def test_verdict_is_that_of_the_whole_study(finished):
    project, _ = finished
    name = "npgpd-gap-64-256-identical"
    shutil.copytree(ROOT / "tools", project.folder / "tools")
    tool = [sys.executable, "tools/verdict.py", name, "", "config/smoke.yaml", "--cores", "2"]
    code, output = project.call(tool)
    assert code == 0, output
    tables = [project.folder / "results" / study / "claims.csv" for study in (name, "smoke")]
    alone, among = (pd.read_csv(path).set_index("claim").loc[name] for path in tables)
    pd.testing.assert_series_equal(alone, among)
    assert f"{among['statement']}: {among['verdict']} with 3 seeds" in output.splitlines()
    assert not list(project.folder.glob(f"results/{name}/runs/zpgpd_hf"))
