"""An algorithm of one's own, in plain Python: NPGPD-HF with momentum, and ZPGPD-HF step by step."""

import textwrap
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import pgpd_hf
from pgpd_hf import primal_dual
from pgpd_hf.primal_dual import PrimalDual
from pgpd_hf.runs import load_class

STEPS = {"primal_step": 0.1, "dual_step": 0.1}
CMDP = pgpd_hf.random_cmdp(instance=42)
VALUES = ["reward_value", "utility_value", "multiplier", "answers", "env_steps"]


def documented():
    """The example in the docstring of `primal_dual`, as code."""
    lines = primal_dual.__doc__.splitlines()
    code = [line for line in lines[lines.index("NPGPD-HF with momentum::") :] if line[:4] == "    "]
    return textwrap.dedent("\n".join(code))


EXAMPLE = {"__name__": __name__}
exec(documented(), EXAMPLE)
Momentum = EXAMPLE["Momentum"]


@dataclass(frozen=True, kw_only=True)
class SoftmaxSteps(pgpd_hf.ZPGPDHF):
    name: ClassVar[str] = "softmax_steps"
    streams: ClassVar[str] = "zpgpd_hf"

    def update(self, run, state):
        answers = run.ask(state.theta)
        slope = answers.reward + state.multiplier * answers.utility
        theta = state.theta + run.primal_step(state.multiplier) * slope
        return state.next(theta, run.dual_update(state.multiplier, answers.excess))


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        *((Momentum, {"normalize": how}) for how in ("none", "linear", "quadratic")),
        (SoftmaxSteps, {"parameterization": "softmax"}),
    ],
)
def test_one_iteration_at_a_time_is_what_the_paper_s_algorithm_does(kind, changes):
    """With no momentum to the bit; elsewhere products are made in another order."""
    options = STEPS | {"evaluators": 64, "rounds": 2} | changes
    setting = {"seeds": [0, 3], "iterations": 60}
    own = pgpd_hf.run(CMDP, kind(**options), **setting)
    paper = pgpd_hf.run(CMDP, kind.streams, **options, **setting)
    exact = changes == {"normalize": "none"}
    pd.testing.assert_frame_equal(own[VALUES], paper[VALUES], check_exact=exact, rtol=1e-9)
    assert set(own["algorithm"]) == {kind.name}


def test_with_momentum_it_differs_and_learns():
    trace, given = EXAMPLE["trace"], {"primal_step": 0.01, "dual_step": 0.1, "evaluators": 64}
    curve = pgpd_hf.aggregate(trace)
    assert curve["optimality_gap"].iloc[-1] < 0.3 * curve["optimality_gap"].iloc[0]
    assert pgpd_hf.plot_curves(curve).axes[0].get_ylabel() == "NPGPD-HF with momentum"
    without = pgpd_hf.run(pgpd_hf.random_cmdp(), "npgpd_hf", seeds=[0], iterations=1000, **given)
    same = trace.query("seed == 0")["reward_value"].to_numpy() == without["reward_value"]
    assert same.tolist() == [True, True] + [False] * (len(same) - 2)  # no momentum at first


@pytest.mark.parametrize(
    ("kind", "wrong", "message"),
    [
        (Momentum, lambda run, theta: run.ask(theta[[*range(10)] * 2]), r"theta .*: shape \(10, 4"),
        (Momentum, lambda run, theta: run.ask(theta[0]), r"theta of run.ask: shape \(10, 4\)"),
        (SoftmaxSteps, lambda run, theta: run.ask(3 * theta), "theta of run.ask: probabilities"),
        (Momentum, lambda run, theta: run.dual_update(0.0, theta), "excess: a number expected"),
    ],
)
def test_what_an_update_gives_is_checked(kind, wrong, message):
    """In a kernel, another shape would end the process."""

    class Asking(kind):
        name = "asking"

        def update(self, run, state):
            wrong(run, state.theta)

    with pytest.raises(ValueError, match=f"^{message}"):
        pgpd_hf.run(CMDP, Asking(**STEPS, evaluators=4), seeds=[0], iterations=3)


def test_random_numbers_of_an_unknown_algorithm_are_refused():
    class Misspelt(Momentum):
        name = "misspelt"
        streams = "npgd_hf"

    with pytest.raises(ValueError, match="^class Misspelt: streams: one of npgpd_hf, zpgpd_hf, "):
        pgpd_hf.run(CMDP, Misspelt(**STEPS, evaluators=4), seeds=[0], iterations=3)


def test_class_of_a_file_asks_twice_and_annotations_may_be_text(tmp_path):
    """Answers are counted as they are asked."""
    file = tmp_path / "mine.py"
    definition = documented().split("algorithm =")[0]
    twice = definition.replace("answers = run.ask", "run.ask(state.theta); answers = run.ask")
    file.write_text(f"from __future__ import annotations\n{twice}")
    options = STEPS | {"evaluators": 5}
    once, double = (
        pgpd_hf.run(CMDP, kind(**options), seeds=[0], iterations=4)[["answers", "env_steps"]]
        for kind in (Momentum, load_class(f"{file}:Momentum"))
    )
    assert (double == 2 * once).all(axis=None)
    assert once.iloc[-1].min() > 0


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda run, state: None, "returned None; a State expected"),
        (lambda run, state: state.next(np.zeros(3), 0.0), r"theta of float64 \(3,\); float64 \("),
        (lambda run, state: state.next(state.theta.astype(int), 0.0), "theta of int64"),
        (lambda run, state: state.next(state.theta, -1.0), "multiplier -1.0"),
        (lambda run, state: state.next(state.theta, None), "multiplier None"),
        (lambda run, state: state.next(state.theta, np.zeros(1)), "multiplier array"),
        (lambda run, state: state.next(state.theta, np.nan), "multiplier nan"),
        (lambda run, state: state.next(state.theta * np.nan, 0.0), "led to no policy"),
        (lambda run, state: run.ask(state.theta), "broken has no questions to ask"),
    ],
)
def test_what_an_update_returns_is_checked(returned, message):
    @dataclass(frozen=True, kw_only=True)
    class Broken(PrimalDual):
        name: ClassVar[str] = "broken"

        def update(self, run, state):
            return returned(run, state)

    with pytest.raises(ValueError, match=rf"^algorithm: .*{message}.*\Z"):
        pgpd_hf.run(CMDP, Broken(**STEPS), seeds=[0], iterations=3)
    with pytest.raises(ValueError, match="numbers expected, since there is no theorem"):
        pgpd_hf.run(CMDP, Broken(), seeds=[0], iterations=3)
