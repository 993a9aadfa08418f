"""Statements and readings that cannot be judged are refused in one line."""

import copy
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import worlds
import yaml
from checking import study

from pgpd_hf.core.optima import solve
from replication.statements import arguments as check
from replication.statements import criteria, declaration
from replication.statements.criteria import CRITERIA, Margin
from replication.statements.declaration import load_claims
from replication.statements.verdicts import judge
from replication.study import admission, configuration, readings

ROOT = Path(__file__).parents[2]


def schema(name):
    return admission.load_schema(ROOT, name)


CONTENT = yaml.safe_load((ROOT / "config/claims.yaml").read_text())
CONFIG, HARD = study(), study("hard")
NAMES = sorted(path.stem for path in (ROOT / "config/readings").glob("*.yaml"))
EQUAL = "npgpd-gap-64-256-identical"
RATE = "npgpd-rate-gap"

BAD = [
    (EQUAL, "column", "optimality_gpa", "optimality_gap or constraint_violation expected"),
    (EQUAL, "algorithm", "ppo", "npg_pd or npgpd_hf or"),
    (EQUAL, "statistic", "median", "start or second_tenth or"),
    (EQUAL, "test", "looks_alike", "one of falls_early"),
    (EQUAL, "margin", None, "the key 'margin' is missing"),
    (EQUAL, "margin", -0.1, "at least 0 expected, got -0.1"),
    (EQUAL, "margin", "small", "number expected, got 'small'"),
    (EQUAL, "margin", float("nan"), "number expected, got nan"),
    (EQUAL, "margin", True, "number expected, got True"),
    (EQUAL, "evaluators", [64], "at least 2 entries expected"),
    (EQUAL, "evaluators", [64, 64], "no repetition expected"),
    (EQUAL, "evaluators", 64, "list expected"),
    (EQUAL, "evaluators", ["64", "256"], "integer expected"),
    (EQUAL, "colour", "red", "unknown key 'colour'; allowed are"),
    (RATE, "column", "optimality_gap", "gap or violation or priced_gap expected"),
    (RATE, "algorithm", "pg_pd", "no theorem promises a rate"),
    (RATE, "evaluators", "many", "integer or null expected"),
    (RATE, "evaluators", "256", "integer or null expected"),
    (RATE, "evaluators", True, "integer or null expected"),
    (RATE, "steps", "mine", "study or theorem expected"),
    (RATE, "rate", "fast", "number expected"),
    (
        "npgpd-gap-plateaus",
        "statistics",
        ["whole"],
        "2 entries expected",
    ),
    ("npgpd-gap-plateaus", "statistics", ["whole", "part"], "start or second_tenth or"),
    ("zpgpd-gap-much-slower", "than", "sarsa", "npg_pd or"),
    ("npgpd-gap-most-gain-16-64", "evaluators", [16, 64], "at least 3 entries"),
    ("npgpd-gap-most-gain-16-64", "margin", 0.1, "unknown key 'margin'"),
    ("zpgpd-gap-steady-state", "statistics", ["last_tenth", "whole"], "start or second_tenth or"),
    ("npgpd-fewer-people-first", "outcome", "regret", "gap or priced_gap or late_gap or"),
    ("npgpd-global-convergence", "columns", ["regret"], "gap or violation or priced_gap"),
    ("horizon-bias-decays", "horizons", [10], "at least 2 entries expected"),
    ("zpgpd-larger-bias", "curves", ["μ = 1"], "2 entries expected"),
    ("zpgpd-few-queries", "at", "all", "least or most expected"),
    ("npgpd-gap-most-gain-16-64", "evaluators", [16, 64, 256, 512], "at most 3 entries"),
    ("npgpd-independent-of-sizes", "groups", ["small"], "at least 2 entries expected"),
    ("feedback-bias-decreases", "quantity", "excess over everything", "16 ≤ M ≤ 256 expected"),
]


def test_quantities_are_those_of_the_table_of_effects():
    found = pd.read_csv(ROOT / "reference/hard/effects.csv").query("sweep == 'people'")["quantity"]
    assert set(found) == set(check.ARGUMENTS["quantity"]["enum"])


def write(tmp_path, content):
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.mark.parametrize(("claim", "key", "value", "message"), BAD)
def test_criterion_that_means_nothing_is_refused(tmp_path, claim, key, value, message):
    content = copy.deepcopy(CONTENT)
    criterion = content["claims"][claim]["criterion"]
    criterion[key] = value
    if value is None:
        del criterion[key]
    with pytest.raises(ValueError, match=r".") as refusal:
        load_claims(write(tmp_path, content), schema("claims"))
    line = str(refusal.value)
    assert "\n" not in line
    assert f"claims.{claim}.criterion" in line
    assert message in line


def test_criterion_whose_region_moves_needs_a_margin(tmp_path):
    used = {claim["criterion"]["test"] for claim in CONTENT["claims"].values()}
    assert used == set(CRITERIA)
    for name, claim in CONTENT["claims"].items():
        if claim["criterion"]["test"] in ("undecided", "most_of_the_gain"):
            continue
        content = copy.deepcopy(CONTENT)
        del content["claims"][name]["criterion"]["margin"]
        with pytest.raises(ValueError, match="the key 'margin' is missing"):
            load_claims(write(tmp_path, content), schema("claims"))


@pytest.mark.parametrize(
    ("margins", "arguments", "message"),
    [
        ([Margin.ALLOWED], {}, "mine: a margin expected, because its parts move with one"),
        ([*Margin], {"margin": 0.1}, "mine: one direction of the margin expected, got both"),
    ],
)
def test_criterion_without_one_margin_that_decides_is_refused(
    registry, margins, arguments, message
):
    def mine(**margin):
        for kind in margins:
            yield criteria.Part("x", criteria.Contrast(), below=0.0, margin=kind)

    registry["mine"] = mine
    with pytest.raises(ValueError, match=f"^{message}$"):
        criteria.make_parts({"test": "mine", **arguments})


@pytest.fixture
def registry(monkeypatch):
    """The criteria; those that a test adds are forgotten after it."""
    monkeypatch.setattr(criteria, "CRITERIA", dict(CRITERIA))
    monkeypatch.setattr(declaration, "CRITERIA", criteria.CRITERIA)
    return criteria.CRITERIA


def test_new_criterion_is_one_function_and_a_new_statement_one_entry(tmp_path, registry):
    @criteria.criterion
    def ends_below(*, algorithm, column, evaluators: check.evaluators(2), limit: check.amount):
        """The curve ends below the limit."""
        for m in evaluators:
            end = criteria._value(algorithm, m, column, "last_quarter")
            yield criteria.Part(f"end({m})", end, below=limit)

    options = {"test": "ends_below", "algorithm": "npgpd_hf", "column": "optimality_gap"}
    options |= {"evaluators": [64, 256], "limit": 0.1}
    entry = {"source": "line 1", "quote": "q", "statement": "s", "criterion": options}
    content = {"level": 0.01, "alternative": 0.05, "claims": {"mine": entry}}
    claims = load_claims(write(tmp_path, content), schema("claims"))
    row = judge(claims, worlds.seed_evidence(worlds.paper())).iloc[0]
    assert row["verdict"] == "reproduced"
    assert row["criterion"] == "end(64) < 0.1; end(256) < 0.1"
    assert np.isnan(row["reproduced_margin"])

    for change, message in (
        ({"limit": -1}, "claims.mine.criterion.limit: at least 0 expected"),
        ({"evaluators": [64]}, "claims.mine.criterion.evaluators: at least 2 entries"),
        ({"column": "gap"}, "claims.mine.criterion.column: optimality_gap or"),
        ({"margin": 0}, "unknown key 'margin'; allowed are algorithm, column"),
    ):
        entry["criterion"] = options | change
        with pytest.raises(ValueError, match=re.escape(message)):
            load_claims(write(tmp_path, content), schema("claims"))


def test_criterion_whose_argument_has_no_check_is_refused(registry):
    with pytest.raises(TypeError, match="criterion mine: 'colour' needs a schema as annotation"):

        @criteria.criterion
        def mine(*, algorithm, colour):
            """Never registered."""

    assert "mine" not in registry


OWN = {"source": "a guess", "statement": "mine", "kind": "ours"}
OWN["criterion"] = CONTENT["claims"][EQUAL]["criterion"]


def test_own_statements_come_from_files_of_ones_own(tmp_path):
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text(yaml.safe_dump({"claims": {"mine": OWN}}))
    second.write_text(yaml.safe_dump({"claims": {"other": OWN | {"statement": "other"}}}))
    claims = load_claims(ROOT / "config/claims.yaml", schema("claims"), [first, second])
    assert list(claims["claims"]) == [*CONTENT["claims"], "mine", "other"]
    table = judge(claims, worlds.seed_evidence(worlds.paper())).set_index("claim")
    assert table.loc["mine", "verdict"] == "reproduced"
    assert table.loc["mine", "estimate"] == table.loc[EQUAL, "estimate"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"level": 0.1, "claims": {"mine": OWN}}, "unknown key 'level'; allowed are claims"),
        ({"alternative": 0.1, "claims": {"mine": OWN}}, "unknown key 'alternative'; allowed are"),
        (
            {"claims": {EQUAL: OWN}},
            f"claims.{EQUAL}: .*claims.yaml already has a statement of this",
        ),
        ({"claims": {"mine": OWN | {"colour": "red"}}}, "claims.mine: unknown key 'colour'"),
        (
            {"claims": {"mine": OWN | {"kind": "measured"}}},
            "claims.mine: the key 'quote' is missing",
        ),
        (
            {"claims": {"mine": OWN | {"kind": "mine", "quote": "q"}}},
            "measured or arithmetic or ours expected",
        ),
        (
            {"claims": {"mine": OWN | {"kind": "arithmetic", "quote": "q"}}},
            "arithmetic is for the test questions",
        ),
        (
            {"claims": {"mine": OWN | {"source": "line 606, experiment"}}},
            "claims.mine: the key 'refuted_by' is missing",
        ),
        (
            {"claims": {"mine": {**OWN, "has_to_fail": {"permuted-m": "It is out of order."}}}},
            "claims.mine: the key 'need_not_fail' is missing",
        ),
        ({}, "the key 'claims' is missing"),
    ],
)
def test_own_statements_that_cannot_be_judged_are_refused_in_one_line(tmp_path, content, message):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(ValueError, match=rf"mine\.yaml: .*{message}") as refusal:
        load_claims(ROOT / "config/claims.yaml", schema("claims"), [path])
    assert "\n" not in str(refusal.value)


def test_every_headline_statement_says_what_would_refute_it():
    headline = [it for it in CONTENT["claims"].values() if it["source"].endswith(", experiment")]
    assert len(headline) == 14
    assert all(it["refuted_by"].endswith(".") for it in headline)
    assert not [
        it for it in CONTENT["claims"].values() if "refuted_by" in it and it not in headline
    ]


def test_every_headline_statement_says_on_which_controls_it_has_to_fail_and_why():
    controls = CONFIG["controls"]
    headline = [it for it in CONTENT["claims"].values() if it["source"].endswith(", experiment")]
    for claim in headline:
        assert set(claim["has_to_fail"]) <= set(controls)
        reasons = [*claim["has_to_fail"].values(), claim["need_not_fail"]]
        assert all(reason.endswith(".") for reason in reasons)
        assert len(claim["has_to_fail"]) < len(controls)
    assert not [
        it for it in CONTENT["claims"].values() if "has_to_fail" in it and it not in headline
    ]


@pytest.mark.parametrize("name", ["most_of_the_gain", "improves", "worse", "equivalent"])
def test_permuted_labels_have_to_refute_what_singles_out_an_m(name):
    """An order of all M, or a pair of them; not what is said of each M, or of all alike."""
    for claim in CONTENT["claims"].values():
        options = claim["criterion"]
        if options["test"] == name and "has_to_fail" in claim:
            ordered = name != "equivalent" or options["evaluators"] != [16, 64, 256]
            assert ("permuted-m" in claim["has_to_fail"]) == ordered


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"level": 0.7}, "level"),
        ({"level": None}, "level"),
        ({"alternative": 0}, "alternative"),
        ({"claims": {}}, "claims"),
        ({"extra": 1}, "unknown key 'extra'"),
        ({"claims": {"a": {"source": "x"}}}, "missing"),
    ],
)
def test_file_of_another_shape_is_refused(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        load_claims(write(tmp_path, {**CONTENT, **change}), schema("claims"))


def test_file_that_is_no_yaml_is_refused_in_one_line(tmp_path):
    path = tmp_path / "claims.yaml"
    path.write_text("claims: [1, 2\nlevel: }")
    with pytest.raises(ValueError, match="not YAML") as refusal:
        load_claims(path, schema("claims"))
    assert "\n" not in str(refusal.value)
    with pytest.raises(ValueError, match=r"missing\.yaml"):
        load_claims(tmp_path / "missing.yaml", schema("claims"))


@pytest.mark.parametrize("config", [CONFIG, HARD], ids=["default", "hard"])
def test_every_reading_can_be_run(config):
    studies = [CONFIG, HARD, study("inference"), study("hard", "inference", "hard-inference")]
    listed = set().union(*(it["claims"]["readings"] for it in studies))
    assert sorted(listed) == NAMES
    loaded = {
        name: readings.load_reading(ROOT / "config/readings", name, schema("reading"))
        for name in listed
    }
    titles = [reading["title"] for reading in loaded.values()]
    assert len(set(titles)) == len(titles)
    readings.check(config, loaded, schema("config"))


def test_an_environment_is_solved_once_however_many_readings_have_it(monkeypatch):
    solved = []

    def count(*arguments):
        solved.append(arguments)
        return solve(*arguments)

    monkeypatch.setattr(configuration, "solve", count)
    configuration._optimum.cache_clear()
    configuration.build.cache_clear()
    overlays = [{}, {"horizon": 20}, {"environment": {"instance": 3}}, {"link": "probit"}]
    loaded = {str(index): {"config": overlay} for index, overlay in enumerate(overlays)}
    readings.check(CONFIG, loaded, schema("config"))
    assert len(solved) == 2


def test_studies_have_enough_instances():
    for config in (CONFIG, HARD):
        groups = config["claims"]["instances"]["groups"]
        assert len(groups["binding"]["numbers"]) >= 20
    assert len(groups["slack"]["numbers"]) >= 5
    assert not set(groups["binding"]["numbers"]) & set(groups["slack"]["numbers"])
