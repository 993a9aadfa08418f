"""Calibration: how pairs of step sizes are scored, and how they race."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pgpd_hf import ALGORITHMS, choose_steps, random_cmdp, run
from pgpd_hf.runs import races
from pgpd_hf.runs.races import CHOSEN, DROPPED, TIED, race

CMDP = random_cmdp()
SETTING = {"iterations": 50, "horizon": 10, "rounds": 1}
CANDIDATES = {"primal_step": [1.0], "dual_step": [0.1, 3.0]}
CROWDS = [16, None]


@pytest.fixture(scope="module")
def table():
    return race([CMDP], "npgpd_hf", SETTING, CROWDS, CANDIDATES, seeds=2)


def traces(row, evaluators, purpose="calibration", cmdp=CMDP, **options):
    """Runs with the steps of a row, where the score looks at them."""
    steps = {name: row[name] for name in ("primal_step", "dual_step")}
    settings = {"seeds": range(2), **SETTING, **steps, **options}
    return run(
        cmdp,
        "npgpd_hf",
        checkpoints=np.rint(np.linspace(0, 50, 101)).astype(int),
        purpose=purpose,
        evaluators=evaluators,
        **settings,
    )


# Scores of real runs.


def test_score_is_mean_positive_gap_plus_mean_positive_violation_over_all_evaluators(table):
    safest = math.inf
    for _, row in table.iterrows():
        parts = [traces(row, number) for number in CROWDS]
        signed = [trace["constraint_violation"] for trace in parts]
        safest = min(safest, *(part.min() for part in signed))
        gap = np.mean([trace["optimality_gap"].clip(lower=0).mean() for trace in parts])
        violation = np.mean([part.clip(lower=0).mean() for part in signed])
        assert row["positive_gap"] == pytest.approx(gap, abs=1e-15)
        assert row["positive_violation"] == pytest.approx(violation, abs=1e-15)
        assert row["score"] == pytest.approx(gap + violation, abs=1e-15)
    assert safest < -0.01  # where |violation| would be another score


def test_long_runs_are_scored_at_a_hundred_even_places_and_at_the_start():
    setting = SETTING | {"iterations": 250}
    row = race([CMDP], "npgpd_hf", setting, [16], CANDIDATES, seeds=1).iloc[0]
    places = {"checkpoints": np.rint(np.linspace(0, 250, 101)).astype(int), "seeds": [0]}
    steps = {name: row[name] for name in races.STEPS}
    runs = run(CMDP, "npgpd_hf", **setting, **steps, **places, evaluators=16, purpose="calibration")
    gap = runs["optimality_gap"].clip(lower=0).mean()
    assert row["positive_gap"] == pytest.approx(gap, abs=1e-15)


def test_candidates_may_be_a_range():
    steps = {"primal_step": range(1, 2), "dual_step": [0.1]}
    given = {"evaluators": 16, "iterations": 5, "seeds": 1}
    plain = choose_steps(CMDP, "npgpd_hf", candidates=steps | {"primal_step": [1]}, **given)
    assert choose_steps(CMDP, "npgpd_hf", candidates=steps, **given) == plain


def test_policies_that_are_safer_than_asked_for_are_not_punished():
    """Where every policy is safe, the violation counts nothing: only the gap chooses."""
    found = race([random_cmdp(threshold=0.1)], "npgpd_hf", SETTING, [16], CANDIDATES, seeds=1)
    assert (found["positive_violation"] == 0).all()
    assert (found["positive_gap"] > 0).all()
    assert found["score"].tolist() == found["positive_gap"].tolist()


def test_policies_that_earn_more_than_the_optimum_are_not_punished_for_that():
    """Without a dual step, runs end in the most rewarding policy, whose gap is negative."""
    steps = {"primal_step": [10.0], "dual_step": [0.0]}
    row = race([CMDP], "npgpd_hf", SETTING | {"horizon": 200}, [None], steps, seeds=1).iloc[0]
    gap = traces(row, None, seeds=[0], horizon=200)["optimality_gap"]
    assert gap.iloc[-1] < -0.02
    assert row["positive_gap"] == pytest.approx(gap.clip(lower=0).mean())


@pytest.mark.parametrize("late", [0.25, 1.0])
def test_last_quarter_of_a_run_has_the_weight_that_is_asked_for(table, late):
    found = race([CMDP], "npgpd_hf", SETTING, CROWDS, CANDIDATES, seeds=2, late=late).iloc[0]
    start = pd.merge(table, found.to_frame().T[[*races.STEPS]].astype(float)).iloc[0]
    parts = [traces(found, number) for number in CROWDS]
    ends = [part[part["iteration"] >= 0.75 * SETTING["iterations"]] for part in parts]
    gap = np.mean([end["optimality_gap"].clip(lower=0).mean() for end in ends])
    expected = late * gap + (1 - late) * start["positive_gap"]
    assert found["positive_gap"] == pytest.approx(expected, abs=1e-15)
    assert abs(found["positive_gap"] - start["positive_gap"]) > 1e-4


def test_races_use_no_random_number_of_a_reported_run(table):
    row = table.iloc[0]
    others = [traces(row, number, "run")["optimality_gap"].clip(lower=0) for number in CROWDS]
    assert abs(row["positive_gap"] - np.mean([gap.mean() for gap in others])) > 1e-6


def test_seeds_take_turns_among_environments():
    cmdps = [random_cmdp(instance=3), random_cmdp(instance=4)]
    found = race(cmdps, "npgpd_hf", SETTING, [16], CANDIDATES, seeds=3).iloc[0]
    parts = [
        traces(found, 16, cmdp=cmdps[seed % 2], seeds=[seed])["optimality_gap"].clip(lower=0).mean()
        for seed in range(3)
    ]
    assert found["positive_gap"] == pytest.approx(np.mean(parts), abs=1e-15)


def test_threads_and_the_steps_of_the_setting_change_nothing(table):
    setting = SETTING | {"primal_step": "calibrated", "dual_step": "calibrated", "evaluators": 3}
    again = race([CMDP], "npgpd_hf", setting, CROWDS, CANDIDATES, seeds=2, threads=3)
    assert again.equals(table)


def test_step_that_destroys_the_policy_has_an_infinite_score_and_is_dropped(monkeypatch):
    monkeypatch.setattr(races.Grid, "grow", lambda *_: set())
    steps = {"primal_step": [1.0, 1e308], "dual_step": [0.1]}
    found = race([CMDP], "npgpd_hf", SETTING, [16], steps, seeds=8).set_index("primal_step")
    assert found.loc[1e308, "score"] == math.inf
    assert found.loc[1e308, "standing"] == DROPPED
    assert CHOSEN in found["standing"].to_numpy()


def test_race_whose_runs_all_fail_says_why():
    steps = {"primal_step": [1e200], "dual_step": [0.1]}
    with pytest.raises(ValueError, match=r"^candidates: all runs with them fail \(policy: prob"):
        choose_steps(CMDP, "zpgpd_hf", evaluators=16, iterations=5, candidates=steps)

    class Single(ALGORITHMS["npg_pd"]):
        name = "single"

        def update(self, run, state, policy, words, normals):
            return state._replace(theta=state.theta.astype(np.float32))

    steps = {"primal_step": [0.1, 1], "dual_step": [0.1, 1]}
    with pytest.raises(ValueError, match=r"^candidates: .* returned theta as float32 of shape"):
        choose_steps(CMDP, Single(), iterations=5, candidates=steps)


def test_candidate_that_is_given_twice_races_once():
    twice = CANDIDATES | {"dual_step": [0.1, 3.0, 0.1]}
    found = race([CMDP], "npgpd_hf", SETTING, [16], twice, seeds=2)
    pd.testing.assert_frame_equal(found, race([CMDP], "npgpd_hf", SETTING, [16], CANDIDATES, 2))


# Races of made-up scores.


def raced(monkeypatch, score, grid, seeds=64):
    """Race with scores that a function of pair and seed gives."""

    def scored(self, task):
        return score(*task), 0.0

    monkeypatch.setattr(races._Runs, "score", scored)
    candidates = dict(zip(("primal_step", "dual_step"), grid, strict=True))
    return race([CMDP], "npgpd_hf", SETTING, [16], candidates, seeds)


def standings(table):
    return {(row.primal_step, row.dual_step): row.standing for row in table.itertuples()}


def test_clearly_worse_pairs_are_dropped_early_and_others_run_on(monkeypatch):
    """Noise that all pairs share is no noise: streams are paired."""
    level = {1.0: 1.0, 2.0: 1.04, 3.0: 2.0}
    monkeypatch.setattr(races.Grid, "grow", lambda *_: set())

    def score(pair, seed):
        shared, own = np.random.default_rng(seed), np.random.default_rng([seed, int(pair[0])])
        return level[pair[0]] + 10 * shared.normal() + 0.1 * own.normal()

    table = raced(monkeypatch, lambda pair, seed: 100 + score(pair, seed), ([1, 2, 3], [1]), 16)
    found = table.set_index("primal_step")
    assert found["standing"].to_dict() == {1.0: CHOSEN, 2.0: TIED, 3.0: DROPPED}
    assert found["seeds"].to_dict() == {1.0: 16, 2.0: 16, 3.0: 8}
    assert found.loc[3.0, "behind"] == pytest.approx(1.0, abs=0.2)
    assert found.loc[3.0, "behind_low"] < found.loc[3.0, "behind"] < found.loc[3.0, "behind_high"]
    assert found.loc[1.0, "behind"] == 0


def test_race_ends_when_one_pair_is_left(monkeypatch):
    table = raced(monkeypatch, lambda pair, seed: pair[0] + 1e-3 * seed, ([1, 2, 3], [1]))
    assert table["seeds"].max() == 8
    assert (table["standing"] == DROPPED).sum() == len(table) - 1


@pytest.mark.parametrize("best", [(0.3, 0.1), (10.0, 0.003), (0.01, 3.0)])
def test_grid_grows_where_its_edge_leads(monkeypatch, best):
    def score(pair, seed):
        distance = np.abs(np.log(pair) - np.log(best)).sum()
        return 1 + distance + 0.01 * np.random.default_rng([seed, hash(pair) % 97]).normal()

    table = raced(monkeypatch, score, ([0.1, 0.3, 1], [0.03, 0.1, 0.3]))
    assert standings(table)[best] == CHOSEN
    for name, value in zip(("primal_step", "dual_step"), best, strict=True):
        assert table[name].min() < value < table[name].max()  # seen from both sides


def test_two_values_are_continued_with_their_ratio_and_more_with_the_spacing_of_the_last():
    assert races.reach([0.1, 0.5])[3:7] == [0.02, 0.1, 0.5, 2.5]
    assert races.reach([0.1, 0.3, 1])[3:8] == [0.03, 0.1, 0.3, 1, 3]


def test_grid_grows_by_four_values_at_most_and_a_single_value_not_at_all(monkeypatch):
    table = raced(monkeypatch, lambda pair, seed: 1 / pair[0] + pair[1], ([1, 10], [7]))
    assert table["primal_step"].tolist() == [1, 10, 100, 1000, 1e4, 1e5]
    assert set(table["dual_step"]) == {7}
    assert "WARNING: the grid ends at this primal_step" in races.describe_race(table)
    assert "dual_step" not in races.describe_race(table)


def test_of_pairs_that_are_as_good_the_smallest_steps_are_chosen(monkeypatch):
    level = {1.0: 1.02, 2.0: 1.009, 3.0: 1.0}

    def score(pair, seed):
        return level.get(pair[0], 2) + np.random.default_rng([seed, int(pair[0])]).normal()

    table = raced(monkeypatch, lambda pair, seed: 100 * score(pair, seed) + 1e4, ([3, 2, 1], [1]))
    tied = table[table["standing"] != DROPPED]
    assert len(tied) == 3
    best = table["score"].min()
    assert table.loc[table["standing"] == CHOSEN, "score"].iloc[0] <= 1.01 * best
    assert races.chosen_steps(table)["primal_step"] == tied["primal_step"].min()


@pytest.mark.parametrize(("score", "chosen"), [(1.0099, 1.0), (1.0101, 2.0)])
def test_as_good_means_within_one_percent_of_the_best_score(monkeypatch, score, chosen):
    monkeypatch.setattr(races.Grid, "grow", lambda *_: set())
    scores = {1.0: score, 2.0: 1.0}
    table = raced(monkeypatch, lambda pair, seed: scores[pair[0]], ([1, 2], [1]), seeds=1)
    assert (table["standing"] != DROPPED).all()  # one seed decides nothing
    assert races.chosen_steps(table)["primal_step"] == chosen


@pytest.mark.parametrize("seeds", [64])
def test_best_pair_is_dropped_no_more_often_than_the_level_allows(monkeypatch, seeds):
    """Nine pairs whose scores have one law: any one of them may count as the best."""
    tries, dropped = 300, 0
    scores = 100 + np.random.default_rng(0).normal(size=(tries, 3, 3, seeds))
    for own in scores:

        def score(pair, seed, own=own):
            return own[int(pair[0]) - 1, int(pair[1]) - 4, seed]

        monkeypatch.setattr(races.Grid, "grow", lambda *_: set())
        table = raced(monkeypatch, score, ([1, 2, 3], [4, 5, 6]), seeds)
        dropped += standings(table)[1.0, 4.0] == DROPPED
    # Binomial: one correct procedure in a thousand fails here.
    assert dropped <= stats.binom.ppf(0.999, tries, races.LEVEL)


def test_worse_pair_is_dropped_with_enough_seeds(monkeypatch):
    """Half a standard deviation behind: 64 seeds are four standard errors."""

    def score(pair, seed):
        return 10 + 0.5 * (pair[0] > 1) + np.random.default_rng([seed, int(pair[0])]).normal()

    monkeypatch.setattr(races.Grid, "grow", lambda *_: set())
    assert standings(raced(monkeypatch, score, ([1, 2], [1]), 128)) == {
        (1.0, 1.0): CHOSEN,
        (2.0, 1.0): DROPPED,
    }


@pytest.mark.parametrize(
    ("seeds", "ends"), [(1, [1]), (8, [8]), (9, [8, 9]), (64, [8, 16, 32, 64])]
)
def test_stages_double_and_end_at_the_largest_number_of_seeds(seeds, ends):
    assert races._ends_of_stages(seeds) == ends


def test_pairs_are_compared_by_a_one_sided_paired_t_test():
    differences = np.random.default_rng(6).normal(0.5, 1, 8)
    expected = stats.ttest_1samp(differences, 0, alternative="greater").pvalue
    assert races._p_value(differences) == pytest.approx(expected)
    assert races._p_value(-differences) == races._p_value(np.zeros(8)) == 1
    assert races._p_value(np.ones(8)) == races._p_value(np.array([1, math.inf])) == 0


def test_one_seed_chooses_but_drops_nobody(table):
    found = race([CMDP], "npgpd_hf", SETTING, [16], CANDIDATES, seeds=1)
    assert sorted(found["standing"]) == [CHOSEN, *[TIED] * (len(found) - 1)]
    assert found["behind_low"].isna().all()


def test_race_is_described_in_a_sentence(table):
    text = races.describe_race(table)
    steps = races.chosen_steps(table)
    pair = f"eta_1 = {steps['primal_step']:g}, eta_2 = {steps['dual_step']:g}"
    assert text.startswith(f"{pair} (of {len(table)} pairs, 2 seeds)")
    assert "; runner-up (" in text
    only = table[table["standing"] == CHOSEN]
    assert "runner-up" not in races.describe_race(only)


def test_description_of_a_race_names_ties_and_says_if_they_reach_the_end_of_the_grid():
    columns = ["primal_step", "dual_step", "seeds", "score", "behind", "standing"]
    rows = [
        (1, 0.1, 8, 2.0, 0.0, CHOSEN),
        (3, 0.1, 8, 2.0, -0.01, TIED),
        (0.3, 0.1, 8, 3.0, 1.0, DROPPED),
        (1, 0.01, 8, 3.0, 1.0, DROPPED),
        (1, 1, 8, 3.0, 1.0, DROPPED),
        (10, 1, 8, 3.0, 1.0, DROPPED),
    ]
    text = races.describe_race(pd.DataFrame(rows, columns=columns))
    assert text.endswith("; runner-up (3, 0.1), -0.5% in the score; tied with it: (3, 0.1).")
    free = pd.DataFrame(rows, columns=columns).assign(score=0.0)
    assert races.describe_race(free).endswith("; runner-up (3, 0.1); tied with it: (3, 0.1).")
    text = races.describe_race(pd.DataFrame(rows[:-1], columns=columns))
    assert text.endswith("; WARNING: ties reach the end of the grid, primal_step 3.")
    text = races.describe_race(pd.DataFrame([rows[0], *rows[2:]], columns=columns))
    assert text.endswith("; tied with it: none.")
    many = [(step, 0.1, 8, 2.0, 0.0, TIED) for step in range(2, 15)]
    text = races.describe_race(pd.DataFrame([rows[0], *many], columns=columns))
    assert "; tied with it: (2, 0.1), (3, 0.1)," in text
    assert "(11, 0.1), and 3 more; WARNING" in text


def test_perturbation_radius_races_with_the_steps(monkeypatch):
    """In a grid of triples, which grows towards the best mu, too."""
    best = {"primal_step": 0.3, "dual_step": 0.1, "perturbation": 10.0}

    def scored(self, task):
        triple, _ = task
        return 1 + np.abs(np.log(triple) - np.log([*best.values()])).sum(), 0.0

    monkeypatch.setattr(races._Runs, "score", scored)
    candidates = {"primal_step": [0.3], "dual_step": [0.1, 0.3], "perturbation": [1, 3.1622776602]}
    table = race([CMDP], "zpgpd_hf", SETTING, [16], candidates, 1)
    assert races.chosen_steps(table) == pytest.approx(best)
    text = races.describe_race(table)
    assert text.startswith(f"eta_1 = 0.3, eta_2 = 0.1, mu = 10 (of {len(table)} triples, 1 seed)")


def test_raced_radius_is_that_of_the_runs():
    steps = {"primal_step": 0.01, "dual_step": 0.1, "perturbation": 0.5}
    candidates = {name: [value] for name, value in steps.items()}
    row = race([CMDP], "zpgpd_hf", SETTING, [16], candidates, 1).iloc[0]
    settings = {"evaluators": 16, "seeds": [0], "checkpoints": range(51), **SETTING, **steps}
    trace = run(CMDP, "zpgpd_hf", purpose="calibration", **settings)
    gap = trace["optimality_gap"].clip(lower=0).mean()
    assert row["positive_gap"] == pytest.approx(gap, abs=1e-15)


def test_radius_of_a_method_without_one_is_refused():
    candidates = CANDIDATES | {"perturbation": [1.0]}
    with pytest.raises(ValueError, match=r"^perturbation: no option of npgpd_hf"):
        races.choose_steps(CMDP, "npgpd_hf", evaluators=16, iterations=5, candidates=candidates)


def test_method_without_steps_is_refused():
    with pytest.raises(ValueError, match=r"^algorithm: safe_rlhf has no step sizes$"):
        races.choose_steps(CMDP, "safe_rlhf", evaluators=16, iterations=1, candidates=CANDIDATES)


def test_what_cannot_be_run_is_refused_before_any_run(monkeypatch):
    monkeypatch.setattr("pgpd_hf.runs.traces.values_at", None)
    usual = {"evaluators": [16], "candidates": CANDIDATES, "iterations": 5}
    zero = CANDIDATES | {"primal_step": [0.1, 0]}
    with pytest.raises(ValueError, match=r"^evaluators: "):
        races.choose_steps(CMDP, "npgpd_hf", **usual | {"evaluators": [16, 0]})
    with pytest.raises(ValueError, match=r"^candidates.primal_step: positive numbers expected"):
        races.choose_steps(CMDP, "npgpd_hf", **usual | {"candidates": zero})


class Counted:
    """Scores that are known, and what the runs behind them would have cost."""

    def __init__(self, monkeypatch, best):
        self.best, self.cost = np.log(best), 0.0
        monkeypatch.setattr(races._Runs, "score", lambda runs, task: self.score(runs, task))

    def score(self, runs, task):
        self.cost += runs.iterations / SETTING["iterations"]
        pair, seed = task
        return 1 + np.abs(np.log(pair) - self.best).sum() + 1e-3 * np.sin(seed), 0.0


GRID = {"primal_step": [0.1, 0.3, 1], "dual_step": [0.1, 0.3, 1]}


@pytest.mark.parametrize("limit", [3, 7, 18, 24, 60, 1000])
@pytest.mark.parametrize("radii", [{}, {"perturbation": [0.5, 1, 2]}])
def test_race_with_a_limit_stays_within_it_and_finds_what_is_best(monkeypatch, limit, radii):
    best = [0.3, 1.0, *[1.0] * bool(radii)]
    counted = Counted(monkeypatch, best)
    table = race([CMDP], "zpgpd_hf", SETTING, [16], GRID | radii, 32, runs=limit)
    assert counted.cost <= limit
    assert list(races.chosen_steps(table).values()) == pytest.approx(best)
    assert len(table) >= 9 * 3 ** bool(radii)
    assert table["iterations"].max() <= SETTING["iterations"]
    dropped = table[table["standing"] == DROPPED]
    assert (dropped["behind"] > 0).all()
    if limit < 2 * 9 * 3 ** bool(radii):  # all pairs make short runs first, in half of the limit
        shortest, each = table["iterations"].min(), limit / 2 / (9 * 3 ** bool(radii))
        assert shortest <= max(1, each * SETTING["iterations"]) < shortest + 1


def test_grid_of_a_race_with_a_limit_grows_while_half_of_it_lasts(monkeypatch):
    Counted(monkeypatch, [100.0, 0.3])
    sizes = {
        limit: race([CMDP], "zpgpd_hf", SETTING, [16], GRID, 32, runs=limit)["primal_step"].max()
        for limit in (18, 24, 30, 1000)
    }
    assert sizes == {18: 1.0, 24: 3.0, 30: 10.0, 1000: 100.0}


def test_radii_of_a_race_with_a_limit_end_where_all_policies_are_within_reach(monkeypatch):
    Counted(monkeypatch, [0.3, 0.3, 1000.0])
    candidates = {"primal_step": [0.3], "dual_step": [0.3], "perturbation": [1, 2]}
    arguments = [CMDP], "zpgpd_hf", SETTING, [16], candidates, 32
    widest = math.sqrt(2 * CMDP.states)
    assert widest / 2 < race(*arguments, runs=1000)["perturbation"].max() <= widest
    assert race(*arguments)["perturbation"].max() > widest
    # Logits have no largest distance, and methods that have nothing else need not say so.
    softmax = [CMDP], "zpg", SETTING, [16], candidates, 32
    assert race(*softmax, runs=1000)["perturbation"].max() > widest


def test_race_without_a_limit_has_no_column_for_it():
    table = race([CMDP], "npgpd_hf", SETTING, [16], {"primal_step": [1], "dual_step": [1]}, 1)
    assert "iterations" not in table


@pytest.mark.parametrize("kind", [np.array, pd.Series])
def test_candidates_and_evaluators_may_be_arrays(kind):
    lists = {"primal_step": [0.1, 1.0], "dual_step": [0.1]}
    arrays = {name: kind(values) for name, values in lists.items()}
    cmdp, setting = random_cmdp(), {"iterations": 20, "seeds": 2}
    steps = choose_steps(cmdp, "npgpd_hf", candidates=lists, evaluators=[16, 64], **setting)
    assert steps == choose_steps(
        cmdp, "npgpd_hf", candidates=arrays, evaluators=kind([16, 64]), **setting
    )
