"""All methods behind one function: from a setting and a random stream to a policy."""

from collections import deque

from answers import questions, safe_rlhf, settings, trajectory_dpo

from pgpd_hf import NPGPDHF, ZPGPDHF
from pgpd_hf.primal_dual import Run, State
from pgpd_hf.runs import iterates

OPTIONS = ("evaluators", "rounds", "estimator", "perturbation", "primal_step", "dual_step")


def learn(method, cmdp, optimum, setting, *, horizon, seed, purpose, random_answers=0.0):
    """Policy (S, A) with which a method ends.

    `optimum` is where the iterative methods have the largest multiplier from; the others do not use
    it.
    """
    common = {"horizon": horizon, "random_answers": random_answers}
    if method in settings.ITERATIVE:
        options = {name: setting[name] for name in OPTIONS if name in setting} | common
        return iterate(method, cmdp, optimum, options, setting["iterations"], seed, purpose)
    stream = "trajectory_dpo" if method == "trajectory_dpo" else "safe_rlhf"
    answers = questions.ask(
        cmdp,
        "uniform" if method == "safe_rlhf_uniform" else "deterministic",
        setting["rounds"],
        setting["evaluators"],
        settings.questions(method, cmdp.states, cmdp.actions),
        purpose=purpose,
        algorithm=stream,
        seed=seed,
        **common,
    )
    if method == "trajectory_dpo":
        given = setting["temperature"], setting["utility_weight"]
        return trajectory_dpo.learn(cmdp, answers, *given)
    return safe_rlhf.learn(cmdp, answers, setting["ridge"])


def iterate(method, cmdp, optimum, options, iterations, seed, purpose):
    """Last policy of NPGPD-HF, of ZPGPD-HF with either kind of policies, or of ZPG.

    ZPG is the parent of ZPGPD-HF (Zhang and Ying 2024, arXiv 2409.17401): softmax policies, and no
    multiplier.
    """
    if method in ("zpg", "zpgpd_hf_softmax"):
        options = options | {"parameterization": "softmax"}
    if method == "zpg":
        options = options | {"dual_step": 0}
    algorithm = (NPGPDHF if method == "npgpd_hf" else ZPGPDHF)(**options)
    run = Run(algorithm, algorithm.prepare(cmdp, optimum, iterations), seed, purpose)
    # Not `pgpd_hf.run`, which evaluates every iterate: that takes ZPGPD-HF most of its time.
    ((policies, _, _),) = deque(iterates(run, State(algorithm.start(cmdp), 0.0)), maxlen=1)
    return policies[-1]
