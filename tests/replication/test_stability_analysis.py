"""The analysis of stability: its cases, its criterion, and how runs become its tables."""

import copy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from checking import study
from drawn import bars

import pgpd_hf
from pgpd_hf import predict_stability, random_cmdp, run, solve
from pgpd_hf.core.optima import utility_range
from pgpd_hf.runs.traces import values_at
from replication.analyses import stability
from replication.figures import stability as figures
from replication.figures import style

ROOT = Path(__file__).parents[2]
CONFIG = study("hard")
CMDP = random_cmdp()


def changed(**parts):
    """The hard case with other settings of this analysis."""
    config = copy.deepcopy(CONFIG)
    for part, settings in parts.items():
        config["stability"][part] |= settings
    return config


@pytest.mark.parametrize("part", ["long", "fresh"])
def test_instances_that_nobody_can_make_safe_are_named(part):
    config = changed(long={"instances": []}, fresh={"instances": []})
    config["stability"][part]["instances"] = [3]
    config["environment"]["threshold"] = 0.9
    with pytest.raises(ValueError, match=rf"^stability.{part}.instances: threshold: 0.9 leaves no"):
        stability.check(config)


def test_long_runs_of_all_variants_ask_for_the_same_number_of_answers():
    cases = [case for _, cases in stability.plan(CONFIG)["long/zpgpd_hf"] for case in cases]
    asked = {case.setting["iterations"] * case.setting["rounds"] for case in cases}
    assert asked == {CONFIG["stability"]["long"]["iterations"]}


def test_multipliers_are_frozen_above_the_cap_of_a_study_too():
    config = changed(frozen={"multipliers": [0.5, 20], "iterations": 50, "seeds": 1})
    config["algorithms"]["zpgpd_hf"]["multiplier_bound"] = 1.0
    for _, (case,) in stability.plan(config)["frozen/zpgpd_hf"]:
        (_, _), (last, _) = values_of(case)
        assert last == case.labels["frozen"]


def values_of(case):
    """First and last multiplier of a run of one iteration, with its seed."""
    kind = pgpd_hf.algorithms.get_algorithm(case.algorithm)
    options = kind.pick(case.setting)
    trace = run(random_cmdp(), case.algorithm, seeds=[0], iterations=1, **options)
    return [(row.multiplier, row.seed) for row in trace.iloc[[0, -1]].itertuples()]


def test_runs_at_frozen_multipliers_take_the_longer_the_shorter_their_steps_are():
    cases = [case for _, cases in stability.plan(CONFIG)["frozen/zpgpd_hf"] for case in cases]
    for case in cases:
        setting, multiplier = case.setting, case.labels["frozen"]
        how = setting.get("normalize", "none")
        divisor = {"none": 1, "linear": 1 + multiplier, "quadratic": 1 + multiplier**2}[how]
        moved = setting["iterations"] * setting["primal_step"] / divisor
        assert moved == pytest.approx(250_000 * 0.001, rel=1e-5)


def test_frozen_multipliers_stay_and_long_runs_begin_at_zero():
    plan = stability.plan(CONFIG)
    frozen = [case.setting for _, cases in plan["frozen/zpgpd_hf"] for case in cases]
    given = {it["initial_multiplier"] for it in frozen}
    assert given == {*CONFIG["stability"]["frozen"]["multipliers"]}
    assert {it["dual_step"] for it in frozen} == {0.0}
    long = [case.setting for _, cases in plan["long/zpgpd_hf"] for case in cases]
    assert not any("initial_multiplier" in it for it in long)


def test_predictor_is_tested_on_the_first_instances_that_bind_from_8001_on():
    numbers = CONFIG["stability"]["fresh"]["instances"]
    assert len(numbers) == 100
    binding = [
        number
        for number in range(8001, numbers[-1] + 1)
        if utility_range(cmdp := random_cmdp(instance=number))[0] < cmdp.threshold
    ]
    assert numbers == binding


def test_means_between_two_iterations_are_those_of_the_iterates():
    cmdp = random_cmdp(3, 2, 1, threshold=0.5)
    options = {"evaluators": 4, "primal_step": 0.05, "dual_step": 0.1, "horizon": 5}
    trace = run(cmdp, "zpgpd_hf", seeds=[3, 4], iterations=30, checkpoints=[10, 30], **options)
    found = stability.between(trace, 10, 30)
    assert list(found["seed"]) == [3, 4]
    algorithm = stability.get_algorithm("zpgpd_hf")(**options)
    ready = algorithm.prepare(cmdp, solve(cmdp), 30)
    values = values_at(ready, 3, np.arange(11, 31))
    expected = cmdp.threshold - values[1].mean()
    assert found["constraint_violation"][0] == pytest.approx(expected, rel=1e-9)
    assert found["optimality_gap"][0] == pytest.approx(
        solve(cmdp).reward_value - values[0].mean(), rel=1e-9
    )


@pytest.mark.parametrize(
    ("late", "initial", "broken"),
    [(0.03, 0.1, True), (0.024, 0.1, False), (0.019, 0.01, False), (0.021, -0.1, True)],
)
def test_run_has_broken_beyond_a_floor_and_a_share_of_the_initial_violation(late, initial, broken):
    assert stability.broke(late, initial, violation=0.02, share=0.25) == broken


def trace_of(seeds, marks, gap, violation, **labels):
    """Traces with constant values."""
    rows = [
        {
            "seed": seed,
            "iteration": mark,
            "multiplier": 1.0,
            "constraint_violation": violation[seed],
            "mean_optimality_gap": gap[seed],
            "mean_constraint_violation": violation[seed],
            **labels,
        }
        for seed in seeds
        for mark in marks
    ]
    return pd.DataFrame(rows)


def test_utility_at_frozen_multipliers_is_a_mean_over_seeds_beside_what_is_predicted(monkeypatch):
    found = SimpleNamespace(utilities=[CMDP.threshold - 0.3, CMDP.threshold + 0.2])
    monkeypatch.setattr(stability.pgpd_hf, "predict_stability", lambda *_, **__: found)
    runs = [
        trace_of([0, 1], [2, 10], [0.1, 0.3], [0.2 * m, 0.4 * m], variant="a", frozen=m)
        for m in (1.0, 2.0)
    ]
    variants = {"a": stability._setting(CONFIG, 16, {})}
    table = stability.frozen(pd.concat(runs), CMDP, variants, [1.0, 2.0])
    assert table["constraint_violation"].tolist() == pytest.approx([0.3, 0.6])
    assert table["predicted_violation"].tolist() == pytest.approx([0.3, -0.2])


def test_long_runs_are_told_what_is_predicted_for_their_own_number_of_people(monkeypatch):
    def predict(cmdp, algorithm):
        return SimpleNamespace(breaks=algorithm.evaluators == 16)

    monkeypatch.setattr(stability.pgpd_hf, "predict_stability", predict)
    runs = pd.concat(
        trace_of([0], [0, 5, 10], [0.1], [0.2], instance=1, evaluators=m, variant="a")
        for m in (16, 64)
    ).assign(answers=lambda rows: rows["iteration"] * rows["evaluators"])
    variants = {"a": stability._setting(CONFIG, 64, {})}
    table = stability.long_runs(runs, CONFIG["environment"], variants)
    found = table[["evaluators", "iteration", "answers", "breaks"]].values.tolist()
    assert found == [
        [16, 5, 80, True],
        [16, 10, 160, True],
        [64, 5, 320, False],
        [64, 10, 640, False],
    ]


def test_steps_of_cures_race_on_seeds_that_do_not_count():
    """The first pair is the better one on the seed that races, and the worse one on the others."""
    lucky = trace_of(
        [0, 1, 2], [5, 10], [0.1, 0.9, 0.7], [0.0] * 3, method="a", primal_step=1.0, dual_step=1.0
    )
    usual = trace_of(
        [0, 1, 2], [5, 10], [0.2, 0.3, 0.3], [-0.5] * 3, method="a", primal_step=2.0, dual_step=1.0
    )
    (row,) = stability.cures(pd.concat([lucky, usual]), race_seeds=1).to_dict("records")
    assert row["primal_step"] == 1.0
    assert row["optimality_gap"] == pytest.approx(0.8)


def test_long_runs_of_npgpd_hf_are_judged_one_by_one():
    """Seed 1 has broken: its late violation is more than a quarter of its first one."""
    runs = trace_of(
        range(2), [0, 6, 8], [0.1, 0.2], [0.02, 0.05], instance=3, evaluators=1, setting="a"
    ).assign(answers=lambda rows: 10 * rows["iteration"])
    runs.loc[runs["iteration"] == 0, "constraint_violation"] = 0.16
    runs.loc[(runs["iteration"] == 6) & (runs["seed"] == 0), "multiplier"] = 7.0
    found = stability.natural(runs, CONFIG["stability"]["broken"])
    assert found["seed"].tolist() == [0, 1]
    assert found["broke"].tolist() == [False, True]
    assert found["largest_multiplier"].tolist() == [7.0, 1.0]
    assert found["multiplier"].tolist() == [1.0, 1.0]
    assert found["initial_violation"].tolist() == [0.16] * 2
    assert found["constraint_violation"].tolist() == pytest.approx([0.02, 0.05])
    assert found["answers"].tolist() == [80, 80]
    none = stability.natural(pd.DataFrame(), CONFIG["stability"]["broken"])
    assert list(none.columns) == list(found.columns)
    assert not len(none)


def test_long_runs_of_npgpd_hf_have_the_instances_and_seeds_of_the_others():
    plan = stability.plan(CONFIG)
    described = {
        part: {
            (case.environment["instance"], case.seeds) for _, cases in plan[part] for case in cases
        }
        for part in ("natural/npgpd_hf", "long/zpgpd_hf")
    }
    assert described["natural/npgpd_hf"] == described["long/zpgpd_hf"]
    cases = [case for _, cases in plan["natural/npgpd_hf"] for case in cases]
    assert {case.algorithm for case in cases} == {"npgpd_hf"}
    raced = cases[0].setting["primal_step"], cases[0].setting["dual_step"]
    chosen = pd.read_csv(ROOT / "reference/hard/steps.csv").query("algorithm == 'npgpd_hf'")
    assert raced == tuple(chosen["value"])
    raced = study()["stability"]["natural"]["settings"]["raced steps"]
    chosen = pd.read_csv(ROOT / "reference/steps.csv").query("algorithm == 'npgpd_hf'")
    assert raced == dict(zip(chosen["entry"], chosen["value"], strict=True))


def test_long_runs_are_those_of_the_own_environment_and_of_others_once():
    for numbers in ([], [3, 1, 5]):
        plan = stability.plan(changed(long={"instances": numbers}))
        found = [case.environment["instance"] for _, of in plan["long/zpgpd_hf"] for case in of]
        assert [*dict.fromkeys(found)] == [1, *(it for it in numbers if it != 1)]
        assert len(found) == len({*found}) * 3 * len(CONFIG["stability"]["variants"])


def test_study_may_have_no_fresh_instances():
    none = stability.fresh(pd.DataFrame(), {}, {}, {})
    assert not len(none)
    assert list(none) == list(pd.read_csv(ROOT / "reference/stability_fresh.csv", nrows=1))
    frozen, long = (
        pd.read_csv(ROOT / f"reference/{name}.csv") for name in ("stability", "stability_long")
    )
    style.use_style()
    figure = figures.stability_figure(frozen, long, none, SimpleNamespace(multiplier=0.3))
    assert len(figure.axes) == 2
    style.plt.close(figure)


def test_fresh_runs_are_judged_early_and_late_beside_what_is_predicted():
    arguments = stability.arguments(CONFIG)
    name, setting = next(iter(arguments["settings"].items()))
    end = setting["iterations"]
    marks = [0, round(0.75 * end), end, round(0.75 * 3 * end), 3 * end]
    runs = trace_of([0], marks, [0.1], [0.15], setting=name, instance=1)
    late = runs["iteration"] > end
    runs.loc[late, "mean_constraint_violation"] = 0.0
    runs.loc[runs["iteration"] == 0, "constraint_violation"] = 0.161
    options = arguments["options"]
    (row,) = stability.fresh(runs, arguments["family"], arguments["settings"], options).to_dict(
        "records"
    )
    expected = predict_stability(random_cmdp(), stability._algorithm(setting))
    assert (row["peak"], row["breaks"]) == (expected.peak, expected.breaks)
    assert (row["broke"], row["late_broke"]) == (True, False)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            {"variants": {"other": {"rouns": 2}}},
            "stability.variants.other: rouns: no option of zpgp",
        ),
        ({"variants": {"other": {"rounds": 0}}}, "stability.variants.other: rounds: an integer of"),
        ({"frozen": {"multipliers": [2, 1]}}, "stability.frozen: multipliers: increasing"),
        (
            {"natural": {"settings": {"other": {"perturbation": 1}}}},
            "stability.natural.other: perturbation: no option of npgpd_hf",
        ),
        (
            {"natural": {"settings": {"other": {"dual_step": -1}}}},
            "stability.natural.other: dual_step: a non-negative number, or None, expected",
        ),
    ],
)
def test_bad_settings_are_refused_in_one_line(parts, message):
    with pytest.raises(ValueError, match=r".") as refusal:
        stability.check(changed(**parts))
    assert str(refusal.value).startswith(message)
    assert "\n" not in str(refusal.value)


def test_study_without_zpgpd_hf_or_of_a_single_environment_is_told_why():
    config = copy.deepcopy(CONFIG)
    del config["algorithms"]["zpgpd_hf"]
    assert stability.why_not(config).startswith("algorithms.zpgpd_hf: the study has none")


def test_titles_of_the_figure_say_what_its_panels_show():
    frozen = pd.DataFrame({"variant": "as printed", "multiplier": [1.0, 2.0, 4.0]})
    for violation, told in (
        ([0.2, 0.1, 0.3], r"no $\lambda$ is safe"),
        ([0.2, -0.1, 0], "2"),
        ([-0.1, 0.1, 0.2], r"safe for 1 of 3 $\lambda$"),
    ):
        title = figures._bought(frozen.assign(constraint_violation=violation))
        assert title.startswith("as printed: ")
        assert title.endswith(told)
    long = pd.DataFrame({"variant": ["a", "a", "b"], "multiplier": [1.0, 53.4, 2.0]})
    assert figures._ended(long) == r"a: $\lambda$ ends at 53"
    fresh = pd.DataFrame(
        {
            "late_broke": [True, True, True, False],
            "breaks": [True, False, True, True],
        }
    )
    told = figures._foreseen(fresh)
    assert told == "2 of 3 breaks foreseen\n(red), 1 false alarm"
    assert figures._foreseen(fresh[3:]) == "no run broke"


def test_curves_of_the_figure_can_be_told_apart_without_colour():
    frozen, long, fresh = (
        pd.read_csv(ROOT / f"reference/hard/{name}.csv")
        for name in ("stability", "stability_long", "stability_fresh")
    )
    style.use_style()
    (own_steps,) = stability.parameters(CONFIG).values()
    optimum = SimpleNamespace(multiplier=0.5)
    figure = figures.stability_figure(frozen, long, fresh, optimum, own_steps)
    first, second = figure.axes[:2]
    named = [line for line in first.get_lines() if not line.get_label().startswith("_")]
    marked = [line.get_label()[:-2] for line in named if line.get_label().endswith(" *")]
    assert marked == [it for it in frozen["variant"].unique() if it.startswith("N = ")]
    dashes = {str(line._dash_pattern): line.get_label().removesuffix(" *") for line in named}
    below, above = ([key.get_text() for key in it.get_texts()] for it in figure.legends)
    assert sorted(above) == sorted(line.get_label() for line in named)
    assert below == [*fresh["setting"].unique()]
    assert [*dashes.values()] == [*frozen["variant"].unique()]
    marks = {it.lines[0].get_marker() for it in first.containers}
    assert len(marks) == len(dashes)
    # A marker means one thing in the figure.
    assert marks.isdisjoint(line.get_marker() for line in figure.axes[2].get_lines())
    # A variant looks the same in both panels.
    drawn = [line for line in second.get_lines() if len(line.get_xdata()) > 2]
    for line, variant in zip(drawn, long["variant"].unique(), strict=True):
        assert dashes[str(line._dash_pattern)] == variant
    style.plt.close(figure)


def test_panels_of_the_figure_show_what_is_above_the_threshold_the_multiplier_and_the_breaks():
    """Utility is minus the violation, so that the ends of an interval change places."""
    frozen = pd.DataFrame({
        "variant": "a", "multiplier": [1.0, 2.0], "predicted_violation": [0.5, -0.25],
        "constraint_violation": [0.25, -0.5], "constraint_violation_low": [0.125, -0.75],
        "constraint_violation_high": [0.75, 0.0],
    })  # fmt: skip
    long = pd.DataFrame({
        "variant": "a", "instance": [1, 1, 2], "evaluators": 16, "answers": [1e6, 2e6, 3e6],
        "multiplier": [0.5, 4.0, 9.0], "constraint_violation": 0.1,
    })  # fmt: skip
    fresh = pd.DataFrame({
        "setting": "s", "peak": [0.1, -0.2, 0.3, -0.4], "violation": 0.9,
        "late_violation": [0.01, 0.02, 0.03, 0.04], "late_broke": [True, True, False, False],
        "breaks": [False, True, False, True],
    })  # fmt: skip
    style.use_style()
    figure = figures.stability_figure(frozen, long, fresh, SimpleNamespace(multiplier=0.5))
    bought, followed, foreseen = figure.axes
    assert bought.get_lines()[0].get_ydata().tolist() == [-0.5, 0.25]
    assert bars(bought) == [[(-0.75, -0.125), (0.0, 0.75)]]
    assert followed.get_lines()[0].get_xydata().tolist() == [[1, 0.5], [2, 4.0]]
    points = {}
    for line in foreseen.get_lines():
        for place in line.get_xydata().tolist() if line.get_linestyle() == "None" else ():
            filled = line.get_markerfacecolor() != "none"
            points[tuple(place)] = filled, line.get_color() == figures._TOLD
    assert points == {
        (0.1, 0.01): (True, False),
        (-0.2, 0.02): (True, True),
        (0.3, 0.03): (False, False),
        (-0.4, 0.04): (False, True),
    }
    style.plt.close(figure)
