"""Questions, methods, searches and tables: identities, and independent formulations."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from answers import methods, problems, questions, runs, safe_rlhf, settings, tables, trajectory_dpo
from answers.search import search
from scipy import optimize, stats
from scipy.special import expit, log_softmax

from pgpd_hf import CMDP, NPGPDHF, ZPGPDHF, random_cmdp, run, solve
from pgpd_hf.optimum import utility_range
from pgpd_hf.tables import read_table

FOLDER = Path(__file__).parents[1]
DECLARED = yaml.safe_load((FOLDER / "config.yaml").read_text())
CONFIG = yaml.safe_load((FOLDER.parents[1] / "config/config.yaml").read_text())
ENVIRONMENT, SIZE = CONFIG["environment"], (10, 4)
SMALL = random_cmdp(4, 3, 1)
STREAM = {"horizon": 30, "random_answers": 0.0, "purpose": "test", "algorithm": "test", "seed": 0}
LEVEL = 1e-6  # chance that a test by random numbers fails although all is right
every_method = pytest.mark.parametrize("method", DECLARED["methods"])


def answers_of(cmdp=SMALL, design="deterministic", pairs=300, evaluators=100, asked=3, **changes):
    return questions.ask(cmdp, design, pairs, evaluators, asked, **STREAM | changes)


# What a number of answers pays for.


@every_method
@pytest.mark.parametrize("budget", [1000, 30_000, 1_000_000])
def test_settings_spend_the_budget_and_no_more(method, budget):
    options = DECLARED["methods"][method]
    found = settings.affordable(DECLARED, method, budget, SIZE)
    assert found
    for setting in found.values():
        spent = settings.answers(method, setting, SIZE)
        once = spent / (
            setting["iterations"] if method in settings.ITERATIVE else setting["rounds"]
        )
        assert spent <= budget < spent + once
        assert setting["iterations"] * setting["rounds"] <= options.get("most_rounds", math.inf)
        if method not in settings.ITERATIVE:
            assert setting["rounds"] <= DECLARED["most_pairs"]


@pytest.mark.parametrize(("method", "kind"), [("npgpd_hf", NPGPDHF), ("zpgpd_hf", ZPGPDHF)])
def test_questions_and_steps_are_those_that_the_library_counts(method, kind):
    options = {"evaluators": 5, "rounds": 2, "horizon": 7, "primal_step": 0, "dual_step": 0}
    last = run(SMALL, kind(**options), seeds=[0], iterations=3).iloc[-1]
    setting, size = options | {"iterations": 3}, (SMALL.states, SMALL.actions)
    assert last["answers"] == settings.answers(method, setting, size)
    assert last["env_steps"] == settings.env_steps(method, setting, size, 7)


def test_zpg_counts_one_question_in_three():
    setting = {"evaluators": 7, "rounds": 1, "iterations": 11}
    asked = [settings.answers(method, setting, SIZE) for method in ("zpg", "zpgpd_hf")]
    assert asked == [77, 231]


FEW = DECLARED["methods"] | {"npgpd_hf": DECLARED["methods"]["npgpd_hf"] | {"most_answers": 1000}}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"random_budgets": [7]}, "^random_budgets: some of 1000, .* expected, got 7$"),
        ({"environments": {"budgets": 3000}}, "^decisions.budgets: .* 1000, 3000 .* got 10000$"),
        ({"methods": {}}, "^decisions.transitions.known: some of  expected, got 'npgpd_hf'$"),
        ({"budgets": [100, *DECLARED["budgets"]]}, "^methods.npgpd_hf: candidates that 100 answ"),
        ({"methods": FEW}, "^methods.npgpd_hf.most_answers: at least one budget "),
    ],
)
def test_a_declaration_that_cannot_be_run_is_refused_in_one_line(changes, told):
    settings.check(DECLARED, SIZE)
    with pytest.raises(ValueError, match=told):
        settings.check(DECLARED | changes, SIZE)


# Environments.


def test_environments_are_the_first_whose_constraint_binds():
    found = {it.number for it in problems.binding(ENVIRONMENT, 1, 5)}
    for number in range(1, max(found) + 1):
        cmdp = random_cmdp(**ENVIRONMENT | {"instance": number})
        binds = solve(cmdp).multiplier > 1e-9 if utility_range(cmdp)[1] > 0.55 else False
        assert binds == (number in found)
    with pytest.raises(ValueError, match="^environment: 2 of 200 .* expected, got 0$"):
        problems.binding(ENVIRONMENT | {"threshold": 9.5}, 1, 2)


def test_environments_for_tuning_are_not_those_of_the_comparison():
    judged, tuning = (
        {it.number for it in problems.binding(ENVIRONMENT, given["first"], given["count"])}
        for given in (DECLARED["environments"], DECLARED["tuning"])
    )
    assert len(judged) == 50
    assert not judged & tuning
    assert ENVIRONMENT["instance"] not in tuning


def test_no_policy_has_a_negative_lagrangian_gap_and_the_optimum_has_none():
    problem = problems.binding(ENVIRONMENT, 1, 1)[0]
    for policy in np.random.default_rng(0).dirichlet(np.full(4, 0.2), (50, 10)):
        gap, violation, loss = problem.loss(policy)
        assert loss == pytest.approx(gap + problem.optimum.multiplier * violation)
        assert loss > 0
    assert problem.loss(problem.optimum.policy)[2] == pytest.approx(0, abs=1e-8)


# Questions.


@pytest.mark.parametrize("design", ["uniform", "deterministic"])
def test_visits_are_those_of_trajectories_from_rho(design):
    visits = answers_of(design=design, pairs=2000).visits
    assert visits.sum(1) == pytest.approx((1 - 0.9**31) / 0.1)
    # Each action is as likely as the others, whether it is drawn once for each state or each time.
    uniform = np.full(SMALL.reward.shape, 1 / SMALL.actions)
    if design == "uniform":
        occupancy = (SMALL.occupancy(uniform)[:, None] * uniform).ravel()
        error = visits.std(0) / math.sqrt(len(visits))
        truncated = 0.9**31 / 0.1
        assert (abs(visits.mean(0) - occupancy) < 6 * error + truncated).all()
    else:
        taken = (visits.reshape(-1, *SMALL.reward.shape) > 0).sum(2)
        assert taken.max() == 1
        chosen = (visits.reshape(-1, *SMALL.reward.shape) > 0).sum(0)
        assert stats.chisquare(chosen, axis=1).pvalue.min() > LEVEL


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_votes_follow_the_returns_of_what_was_visited(share):
    """Each of 3 * 300 numbers of votes is binomial: their squares add up to chi-squared."""
    asked = answers_of(evaluators=400, random_answers=share)
    r, g = (asked.visits @ signal.ravel() for signal in (SMALL.reward, SMALL.utility))
    z = np.stack([r[::2] - r[1::2], g[::2] - g[1::2], g[::2] - SMALL.threshold], axis=1)
    chance = (1 - share) * expit(z) + share / 2
    squares = (asked.votes - 400 * chance) ** 2 / (400 * chance * (1 - chance))
    assert LEVEL < stats.chi2.sf(squares.sum(), squares.size) < 1 - LEVEL


def test_two_questions_are_about_the_same_kind_of_pairs():
    with_two, with_three = answers_of(asked=2), answers_of(asked=3)
    assert with_two.votes.shape == (300, 2)
    assert (with_two.visits == with_three.visits).all()  # words for questions come last


def test_pairs_without_a_difference_are_refused():
    single = CMDP(
        transition=np.ones((1, 1, 1)), reward=[[0.5]], utility=[[0.5]], initial=[1.0],
        discount=0.9, threshold=0.1,
    )  # fmt: skip
    with pytest.raises(ValueError, match="^most_pairs: both trajectories are equal in all 5 pairs"):
        answers_of(single, pairs=5)


# Safe RLHF.


def test_estimates_are_a_logistic_regression():
    """By a general search, from the definition of the likelihood."""
    asked = answers_of()
    found = safe_rlhf.estimate(SMALL, *safe_rlhf.utility_questions(asked, SMALL.threshold), 2.0)
    differences = (asked.visits[::2] - asked.visits[1::2]) * SMALL.scale
    absolute = asked.visits[::2] * SMALL.scale

    def negative(theta):
        total = theta @ theta - theta.sum()  # ridge / 2 times (theta - 1/2)^2, without a constant
        for z, votes in (
            (differences @ theta, asked.votes[:, 1]),
            (absolute @ theta - SMALL.threshold, asked.votes[:, 2]),
        ):
            total += votes @ np.logaddexp(0, -z) + (100 - votes) @ np.logaddexp(0, z)
        return total

    expected = optimize.minimize(negative, np.full(12, 0.5), method="BFGS", options={"gtol": 1e-2})
    np.testing.assert_allclose(found.ravel(), SMALL.scale * expected.x, atol=2e-4 * SMALL.scale)


def test_the_plan_for_the_true_signals_is_the_optimum():
    cmdp = random_cmdp(**ENVIRONMENT)
    found, best = cmdp.evaluate(safe_rlhf.plan(cmdp, cmdp.reward, cmdp.utility)), solve(cmdp)
    assert found == pytest.approx((best.reward_value, best.utility_value), abs=1e-8)


def test_where_no_policy_seems_safe_it_is_the_safest():
    low = SMALL.utility - SMALL.scale
    policy = safe_rlhf.plan(SMALL, SMALL.reward, low)
    safest = np.zeros(SMALL.states)  # by value iteration
    for _ in range(400):
        values = low + 0.9 * SMALL.transition @ safest
        safest = values.max(1)
    assert (policy.argmax(1) == values.argmax(1)).all()


# Trajectory DPO.


def test_gradient_and_hessian_are_derivatives():
    asked = answers_of(pairs=40, asked=2)
    given = (0.2, SMALL.value_bound, SMALL.reward.shape, asked.differences)
    random = np.random.default_rng(1)
    point, along = random.normal(size=(2, 12)) / 10
    # With the expected numbers of votes the information is the Hessian of the votes.
    logits = log_softmax(point.reshape(4, 3) / 0.2, 1)
    shares = expit(SMALL.value_bound * 0.2 * asked.differences @ logits.ravel())
    given = (*given, shares, asked.numbers.astype(float))
    step = 1e-5
    values = [trajectory_dpo.negative(point + sign * step * along, *given) for sign in (1, -1)]
    slope = (values[0][0] - values[1][0]) / (2 * step)
    assert slope == pytest.approx(trajectory_dpo.negative(point, *given)[1] @ along, rel=1e-5)
    change = (values[0][1] - values[1][1]) / (2 * step)
    bent = trajectory_dpo.hessian(point, *given) @ along
    np.testing.assert_allclose(change, bent, rtol=1e-4, atol=1e-4 * abs(bent).max())


def test_where_transitions_are_deterministic_it_is_the_soft_optimal_policy():
    """Soft values by value iteration; all trajectories begin in one state."""
    random = np.random.default_rng(2)
    following = random.integers(4, size=(4, 3))
    cmdp = CMDP(
        transition=np.eye(4)[following], reward=random.random((4, 3)), utility=np.ones((4, 3)),
        initial=np.eye(4)[0], discount=0.5, threshold=1.0, scale=1.0,
    )  # fmt: skip
    temperature = 0.2
    beta, values = temperature * cmdp.value_bound, np.zeros(4)
    for _ in range(100):
        soft = cmdp.reward + 0.5 * cmdp.transition @ values
        values = beta * np.logaddexp.reduce(soft / beta, axis=1)
    asked = answers_of(cmdp, "uniform", pairs=3000, evaluators=10**6, asked=2)
    found = trajectory_dpo.log_policy(
        cmdp, asked.differences, asked.votes[:, 0] / 10**6, asked.numbers, temperature
    )
    np.testing.assert_allclose(
        np.exp(found), np.exp(soft / beta - values[:, None] / beta), atol=0.01
    )


def test_without_weight_the_utility_has_no_effect():
    asked = answers_of(asked=2)
    other = asked._replace(votes=asked.votes * [1, 0])
    policies = [trajectory_dpo.learn(SMALL, it, 0.1, 0.0) for it in (asked, other)]
    assert (policies[0] == policies[1]).all()
    weighted = [trajectory_dpo.learn(SMALL, it, 0.1, 1.0) for it in (asked, other)]
    assert abs(weighted[0] - weighted[1]).max() > 0.01


# All methods.


@every_method
def test_a_method_ends_with_a_policy_that_its_stream_decides(method):
    problem = problems.binding(ENVIRONMENT, 1, 1)[0]
    setting = next(iter(settings.affordable(DECLARED, method, 3000, SIZE).values()))
    given = method, problem.cmdp, problem.optimum, setting
    first, again, other = (
        methods.learn(*given, horizon=80, seed=seed, purpose="test") for seed in (0, 0, 1)
    )
    assert (first == again).all()
    assert abs(first - other).max() > 1e-6
    assert first.sum(1) == pytest.approx(np.ones(10))


@pytest.mark.parametrize("method", settings.ITERATIVE)
def test_iterative_methods_are_those_of_the_library(method):
    options = {"evaluators": 16, "rounds": 2, "primal_step": 0.01, "dual_step": 0.1}
    if method in ("zpg", "zpgpd_hf_softmax"):
        options |= {"parameterization": "softmax"}
    if method == "zpg":
        options |= {"dual_step": 0}
    algorithm = (NPGPDHF if method == "npgpd_hf" else ZPGPDHF)(horizon=20, **options)
    given = {"seeds": [3], "iterations": 40, "purpose": "test"}
    _, expected = run(SMALL, algorithm, return_policies=True, **given)
    setting = options | {"iterations": 40}
    found = methods.learn(method, SMALL, solve(SMALL), setting, horizon=20, seed=3, purpose="test")
    assert (found == expected[0]).all()


# Searches.


def toy(score, candidates, number=18, readable=lambda setting: True):
    options = {"most_answers": 10**6, "most_rounds": 10**6, "candidates": candidates}
    declared = {"methods": {"zpgpd_hf": options}, "tuning": {"runs": number}, "most_pairs": 9}
    return search(declared, "zpgpd_hf", 10**5, score, SIZE, readable)


def test_a_search_finds_the_best_setting_also_beyond_its_grid():
    def score(setting, k):
        noise = np.random.default_rng(k).normal() / 10
        return abs(math.log10(setting["primal_step"]) - 2) + noise

    found = toy(score, {"evaluators": [4], "primal_step": [0.1, 0.3, 1], "dual_step": [1]})
    best = found[found["standing"] == "chosen"].iloc[0]
    assert best["primal_step"] == 100


def test_a_third_goes_on_after_two_and_after_six_of_eighteen_runs():
    steps = [10.0**power for power in range(-10, 17)]

    def score(setting, k):
        place = steps.index(setting["primal_step"])
        return abs(place - 13) / 100 + np.random.default_rng([k, place]).normal() / 100

    found = toy(score, {"evaluators": [4], "primal_step": steps, "dual_step": [1]})
    assert (found["runs"] == 2).sum() == 18
    assert (found["runs"] > 6).sum() <= 3
    assert found.loc[found["standing"] == "chosen", "primal_step"].item() == steps[13]


def test_a_grid_grows_at_most_four_times_and_lists_of_two_not_at_all():
    found = toy(
        lambda setting, k: -setting["primal_step"] - setting["dual_step"] + k % 2,
        {"evaluators": [4], "primal_step": [1, 2, 4], "dual_step": [1, 2]},
    )
    assert sorted(found["primal_step"].unique()) == [1, 2, 4, 8, 16, 32, 64]
    assert sorted(found["dual_step"].unique()) == [1, 2]


def test_evaluators_that_a_grid_adds_are_whole_and_readable_and_paid_for():
    found = toy(
        lambda setting, k: setting["evaluators"] + k % 2,
        {"evaluators": [4, 16, 64], "primal_step": [1], "dual_step": [1]},
        readable=lambda setting: setting["evaluators"] != 16,
    )
    assert sorted(found["evaluators"]) == [1, 4, 64]  # a quarter of one is none
    spent = found["evaluators"] * found["iterations"] * 3
    assert ((spent <= 10**5) & (spent > 10**5 - 3 * found["evaluators"])).all()


def test_a_setting_that_destroys_the_policy_never_wins():
    found = toy(
        lambda setting, k: math.inf if setting["primal_step"] > 1 else 1.0 + k % 3,
        {"evaluators": [4], "primal_step": [1, 3, 10], "dual_step": [1]},
    )
    assert found.loc[found["standing"] == "chosen", "primal_step"].item() <= 1


# Tables.


def test_decisions_name_the_smallest_loss_and_what_is_not_worse():
    random, rows = np.random.default_rng(0), []
    for method, loss, violation in (("a", 1.0, 0.1), ("b", 1.01, 0.0), ("c", 3.0, 0.0)):
        for environment in range(30):
            told = {"method": method, "budget": 10, "environment": environment}
            noisy = loss + random.normal() / 10
            rows.append(told | {"lagrangian_gap": noisy, "violation": violation})
    table = pd.DataFrame(rows)
    found = tables.decisions(table, [10], {"known": ["a", "b", "c"], "unknown": ["c"]})
    assert {found["best"][0], found["not_worse"][0]} == {"a", "b"}
    assert found["safest"].tolist() == ["b", "c"]
    assert found["safest_unsafe"].tolist() == [0, 0]
    assert found["not_worse"][1] == ""


def test_a_summary_counts_violations_above_the_tolerance_alone():
    table = pd.DataFrame({"method": "a", "budget": 1, "violation": [-1, 0.01, 0.02, 0.03]})
    table = table.assign(gap=0.5, lagrangian_gap=0.5, answers=1, env_steps=2)
    found = tables.summary(table).iloc[0]
    assert found["unsafe"] == 0.25
    assert found["violation"] == pytest.approx(-0.235)
    ends = stats.ttest_1samp(table["violation"], 0).confidence_interval()
    assert (found["violation_low"], found["violation_high"]) == pytest.approx(tuple(ends))


def test_an_end_counts_where_three_numbers_were_tried():
    rows = [
        {"evaluators": 4, "iterations": 9, "primal_step": 1, "dual_step": 1, "standing": "tied"},
        {"evaluators": 4, "iterations": 8, "primal_step": 3, "dual_step": 2, "standing": "chosen"},
        {"evaluators": 4, "iterations": 7, "primal_step": 2, "dual_step": 3, "standing": "dropped"},
    ]
    found = tables.setting(pd.DataFrame(rows).reindex(columns=[*tables.PARTS, "standing"]))
    assert found["at_end"] == "primal_step"
    assert (found["tried"], found["tied"]) == (3, 1)


def test_best_policies_without_the_constraint_gain_and_violate():
    found = tables.unconstrained(ENVIRONMENT, {"first": 1, "count": 3})
    assert (found["gap"] < 0).all()
    assert (found["violation"] > 0).all()
    assert (found["lagrangian_gap"] > 0).all()


# The committed tables.


def committed(name):
    return read_table(FOLDER / "tables" / f"{name}.csv")


@pytest.mark.parametrize(("method", "budget"), [("npgpd_hf", 10_000), ("safe_rlhf", 1000)])
def test_a_cell_of_the_committed_table_comes_out_again(method, budget, tmp_path):
    rows = committed("comparison_settings")
    won = rows[(rows["method"] == method) & (rows["budget"] == budget)]
    won.assign(standing="chosen").to_csv(tmp_path / f"{budget}.csv", index=False)
    setting, problem = runs.chosen(str(tmp_path / f"{budget}.csv")), problems.make(ENVIRONMENT)
    setting = {name: value for name, value in setting.items() if name in tables.PARTS}
    given = {"horizon": CONFIG["horizon"], "purpose": "run"}
    made = [
        runs.run(method, problem, setting, seed=seed, **given) for seed in range(DECLARED["seeds"])
    ]
    found = tables.summary(pd.DataFrame(made).assign(method=method, budget=budget)).iloc[0]
    rows = committed("comparison")
    rows = rows[(rows["method"] == method) & (rows["budget"] == budget)]
    expected = rows[rows["units"] == "seeds"].iloc[0]
    for name in ("answers", "gap", "violation", "lagrangian_gap", "lagrangian_gap_low", "unsafe"):
        assert found[name] == pytest.approx(expected[name], abs=1e-8)


def test_a_tenth_and_a_third_of_the_answers_have_npgpd_hf_s_loss():
    found = committed("comparison").query("units == 'environments'")
    found = found.set_index(["method", "budget"])["lagrangian_gap"]
    for method, budget in (("safe_rlhf_uniform", 10**5), ("zpgpd_hf_softmax", 3 * 10**5)):
        assert found[method, budget] == pytest.approx(found["npgpd_hf", 10**6], rel=0.2)


def test_committed_tables_have_every_method_and_budget():
    table, won = committed("comparison"), committed("comparison_settings")
    for method in DECLARED["methods"]:
        for units in ("seeds", "environments"):
            rows = table[(table["method"] == method) & (table["units"] == units)]
            assert [*rows["budget"]] == settings.budgets(DECLARED, method, units)
        assert [*won[won["method"] == method]["budget"]] == settings.budgets(DECLARED, method)
    assert (table["answers"] <= table["budget"]).all()
    assert (table["lagrangian_gap"] > 0).all()
    assert len(committed("misspecification")) == 2 * 3 * len(DECLARED["methods"])
    assert len(committed("decisions")) == 6
