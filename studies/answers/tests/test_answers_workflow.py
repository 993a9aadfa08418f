"""The study's workflow: what it plans, a small one from end to end, and refusals in one line."""

import pytest

from pgpd_hf.tables import read_table

pytestmark = pytest.mark.workflow
STEPS = {"primal_step": [0.3, 1], "dual_step": [0.1]}
SMALL = {
    "budgets": [1000],
    "seeds": 2,
    "environments": {"first": 1, "count": 2, "budgets": 1000},
    "tuning": {"first": 1001, "count": 1, "runs": 2},
    "most_pairs": 400,
    "random_answers": [0.5],
    "random_budgets": [1000],
    "methods": {
        "npgpd_hf": {
            "most_answers": 1000,
            "most_rounds": 10,
            "candidates": {"evaluators": [4], "rounds": [1], "estimator": ["plug-in"], **STEPS},
        },
        "safe_rlhf": {"most_answers": 1000, "candidates": {"ridge": [10]}},
    },
    "decisions": {"budgets": [1000], "transitions": {"known": ["npgpd_hf", "safe_rlhf"]}},
}


def test_there_is_a_search_for_each_method_and_number_of_answers(jobs):
    assert jobs() == {
        **{"search": 3 * 9 + 4 * 7, "method_runs": 4 * 7, "answers_tables": 1},
        **{"answers_page": 1, "total": 85},
    }


def test_a_small_study_has_its_tables_and_its_page(snakemake, tmp_path):
    code, output = snakemake(declared=SMALL)
    assert code == 0, output
    results = tmp_path / "results/paper/answers"
    table = read_table(results / "comparison.csv")
    assert [*table["method"]] == [*2 * ["npgpd_hf", "safe_rlhf"], "unconstrained"]
    assert [*table["answers"]] == [*2 * [972, 999], 0]
    assert (table["lagrangian_gap"] > 0).all()
    assert len(read_table(results / "misspecification.csv")) == 2
    assert len(read_table(results / "decisions.csv")) == 1
    assert {it.suffix for it in results.glob("answers.*")} > {".png", ".html", ".ipynb"}


def test_what_cannot_be_compared_is_refused_in_one_line_before_any_job(snakemake, tmp_path):
    wrong = SMALL | {"methods": SMALL["methods"] | {"ppo": {}}}
    for told, words, declared in (
        ("declared.yaml: methods: unknown key 'ppo'", (), wrong),
        ("link: logistic expected", ("--config", "link=probit"), None),
    ):
        _, output = snakemake(*words, declared=declared)
        assert any(line.startswith(f"error: {told}") for line in output.splitlines())
        assert not (tmp_path / "results").exists()
