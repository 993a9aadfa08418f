r"""Both algorithms with people in the loop: questions, votes, and the next policy.

An iteration's trajectories are drawn as in a run with the same seed, and its update is that of the
run; the votes come from people. Line numbers in comments are those of Algorithms 1 and 2.
"""

from __future__ import annotations  # help() shows names of types

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from importlib.resources import files
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from pgpd_hf.arguments import require_instance, require_integer, shown
from pgpd_hf.arrays import read_archive
from pgpd_hf.cmdp import CMDP, Array
from pgpd_hf.evaluators import make_evaluators
from pgpd_hf.npgpd_hf import NPGPDHF
from pgpd_hf.policies import project_rows, softmax, unit_direction
from pgpd_hf.primal_dual import Run, normalizer
from pgpd_hf.process import KINDS, Process, cmdp_of, labels, read_table, require_single
from pgpd_hf.trajectories import absorbing_states, action_thresholds, draw, draw_start, table_width
from pgpd_hf.zpgpd_hf import ZPGPDHF

_ALGORITHMS = {kind.name: kind for kind in (NPGPDHF, ZPGPDHF)}
_REQUIRED = "evaluators", "horizon", "primal_step", "dual_step", "multiplier_bound", "perturbation"
_VOTE = {"question": np.int64, "evaluator": np.str_, "answer": np.int64}


class Session:
    r"""An algorithm whose questions people answer.

    Parameters
    ----------
    process : Process or CMDP
        Rewards and utilities of a CMDP only tell which states are absorbing.
    algorithm : NPGPDHF or ZPGPDHF
        With a number for each option that is None by default: most of these defaults need rewards,
        which nobody knows. People judge what they see: of a value, a share of discount ** (H + 1)
        is cut off. NPGPD-HF asks about every state, also where trajectories hardly differ.
    seed : int
        Of the trajectories, which are those of :func:`run` with this seed and the same votes.

    Attributes
    ----------
    iteration : int
        Completed updates.
    multiplier : float
        :math:`\lambda`.

    Examples
    --------
    >>> import pgpd_hf
    >>> steps = {"primal_step": 0.1, "dual_step": 0.1, "multiplier_bound": 4.0}
    >>> algorithm = pgpd_hf.ZPGPDHF(evaluators=1, horizon=5, perturbation=0.3, **steps)
    >>> session = pgpd_hf.Session(pgpd_hf.random_cmdp(3, 2, 1), algorithm, seed=0)
    >>> questions = session.ask()
    >>> questions
       question        kind  first  second
    0         0     helpful      0       1
    1         1    harmless      0       1
    2         2  acceptable      0    <NA>
    >>> session.tell(questions[["question"]].assign(evaluator="ann", answer=[1, 0, 1]))
    >>> session
    <Session: zpgpd_hf, iteration 1, 0 of 3 votes>
    """

    def __init__(
        self, process: Process | CMDP, algorithm: NPGPDHF | ZPGPDHF, seed: int = 0
    ) -> None:
        if type(algorithm) not in _ALGORITHMS.values():
            raise ValueError(f"algorithm: NPGPDHF or ZPGPDHF expected, got {shown(algorithm)}")
        if missing := [name for name in _REQUIRED if getattr(algorithm, name, 0) is None]:
            raise ValueError(f"algorithm: numbers expected for {', '.join(missing)}, got None")
        if algorithm.random_answers:
            raise ValueError("random_answers: 0 expected, since people answer")
        self._cmdp = cmdp_of(process)
        if process.transition is None:
            raise ValueError("process: transitions expected, got None")
        self.process, self.algorithm = process, algorithm
        self.seed = require_integer("seed", seed, 0)
        # Every option that would need an optimum or T is given.
        self._setting = algorithm.prepare(self._cmdp, None, 1)  # type: ignore[arg-type]
        self._ends = absorbing_states(self._cmdp)
        self._run = Run(algorithm, self._setting, self.seed, "run")
        self._drawn = self._run.draw(1)  # random numbers of the next iteration
        # Trajectories, as lists of states and actions, and questions; an index is a number.
        self._paths: list = []
        self._questions: list = []
        self._votes = pd.DataFrame({name: [] for name in _VOTE}).astype(_VOTE)
        self._begin(0, algorithm.start(self._cmdp), 0.0)

    @property
    def policy(self) -> Array:
        """Policy (S, A) that the questions are about."""
        return self.algorithm.policy(self._theta)

    @property
    def trajectories(self) -> pd.DataFrame:
        """Steps of all trajectories so far: H + 1, or fewer where the process is absorbed."""
        rows = [(k, t, *step) for k, path in enumerate(self._paths) for t, step in enumerate(path)]
        table = pd.DataFrame(rows, columns=["trajectory", "time", "state", "action"])
        for column, names in zip(("state", "action"), labels(self.process), strict=True):
            table[column] = pd.Index(names)[table[column]]
        return table

    @property
    def votes(self) -> pd.DataFrame:
        """All votes so far, with what they are about, as :func:`learn_from_votes` takes them."""
        return _table(self._questions).merge(self._votes, on="question")

    def ask(self) -> pd.DataFrame:
        """Questions of this iteration: number, kind, first and second trajectory."""
        return _table(self._questions[self._asked.start :])

    def tell(self, votes: pd.DataFrame | str | PathLike[str]) -> None:
        """Take votes, all or none; the iteration ends when M have voted on each question.

        Parameters
        ----------
        votes : DataFrame or path of a CSV file
            `question`, `evaluator` (a pseudonym), and `answer`: 1 if the second trajectory is more
            helpful or less harmful, or if the single trajectory is acceptable; otherwise 0.
        """
        allowed = {"question": self._asked, "evaluator": None, "answer": range(2)}
        table = read_table("votes", votes, allowed)
        table["question"] += self._asked.start
        every = pd.concat([self._votes, table], ignore_index=True)
        require_single(every)
        tally, most = self._tally(every), self.algorithm.evaluators
        if (tally["size"] > most).any():
            number, got = tally["size"].idxmax(), tally["size"].max()
            raise ValueError(f"votes: at most {most} answers to {number} expected, got {got}")
        if (tally["size"] == most).all():
            self._update(tally)
        self._votes = every

    def close(self) -> None:
        """End the iteration with the votes there are, at least one on each question."""
        tally = self._tally(self._votes)
        if not tally["size"].all():
            number = tally["size"].idxmin()
            raise ValueError(f"votes: an answer to each question expected, got none to {number}")
        self._update(tally)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the session to a NumPy archive (.npz); an older file is replaced as a whole."""
        arrays = {
            "algorithm": json.dumps([self.algorithm.name, asdict(self.algorithm)]),
            "iteration": self.iteration,
            "seed": self.seed,
            **{name: self._votes[name].to_numpy(kind) for name, kind in _VOTE.items()},
        }
        for name, part in vars(self.process).items():
            if part is not None and name != "render":
                arrays[f"process.{name}"] = part
        unfinished = Path(f"{path}.unfinished")
        try:
            with open(unfinished, "wb") as file:
                np.savez(file, **arrays)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | PathLike[str], render: Callable[[int], str] | None = None) -> Session:
        """Read a session that :meth:`save` has written, and go through its votes again.

        Nothing in the file is executed, and no function is saved: `render` is given again.
        """
        saved = read_archive(path)
        try:
            parts = {name[8:]: it for name, it in saved.items() if name.startswith("process.")}
            process = CMDP(**parts) if "reward" in parts else Process(render=render, **parts)
            name, options = json.loads(str(saved["algorithm"]))
            session = cls(process, _ALGORITHMS[name](**options), int(saved["seed"]))
            votes = pd.DataFrame({name: saved[name] for name in _VOTE})
            for iteration, told in votes.groupby(votes["question"] // session._setting.questions):
                session.tell(told)
                if session.iteration == iteration < saved["iteration"]:
                    session.close()
            if session.iteration != saved["iteration"]:
                raise ValueError(f"votes of {session.iteration} iterations")
        except Exception as error:  # damaged files raise almost anything
            reason = " ".join(str(error).split())
            raise ValueError(f"{path}: {reason}; a file of Session.save expected") from error
        return session

    def write_page(
        self, path: str | PathLike[str], title: str = "Votes", introduction: str = ""
    ) -> None:
        """Write a page on which people vote on the questions of this iteration.

        It is a single file that needs neither a server nor a network, and each person gets a file
        `votes.csv` from it. The introduction says what is helpful and what does harm here.
        """
        states, actions = labels(self.process)
        render = getattr(self.process, "render", None)
        pictures = render and [
            require_instance("render", render(state), str) for state in range(len(states))
        ]
        asked = self._questions[self._asked.start :]
        first = asked[0][2]
        data = {
            "title": require_instance("title", title, str),
            "introduction": require_instance("introduction", introduction, str),
            "questions": asked,
            "trajectories": dict(enumerate(self._paths[first:], first)),
            "ends": self._ends.tolist(),
            "states": [*states],
            "actions": [*actions],
            "pictures": pictures,
        }
        # No text can end the element that holds the data.
        text = json.dumps(data).replace("<", "\\u003c")
        template = files("pgpd_hf").joinpath("vote.html").read_text(encoding="utf-8")
        Path(path).write_text(template.replace("DATA", text, 1), encoding="utf-8")

    def __repr__(self) -> str:
        numbers = self._tally(self._votes)["size"]
        told = f"{numbers.sum()} of {numbers.size * self.algorithm.evaluators} votes"
        return f"<Session: {self.algorithm.name}, iteration {self.iteration}, {told}>"

    def _tally(self, votes):
        """Answers of 1 ("sum"), and all answers ("size"), to the questions of this iteration."""
        tally = votes.groupby("question")["answer"].agg(["sum", "size"])
        return tally.reindex(self._asked, fill_value=0)

    def _begin(self, iteration, theta, multiplier):
        """Draw the trajectories of an iteration, lay out its questions, and begin it."""
        algorithm, setting, how = self.algorithm, self._setting, self._setting.perturbation
        policies, direction = [algorithm.policy(theta)], np.ones_like(theta)
        if not np.isfinite(policies[0]).all():
            raise ValueError("primal_step: a smaller number expected, rounding destroys the policy")
        words, normals = (row[0] for row in self._drawn)
        if how is not None:  # lines 2 and 3 of Algorithm 2
            unit_direction(normals, how.tangent, direction)
            policies.append(theta + how.radius * direction)
            (softmax if how.softmax else project_rows)(policies[1], policies[1])
        cuts = np.empty((len(policies), len(theta), table_width(theta.shape[1])), np.uint64)
        for policy, cut in zip(policies, cuts, strict=True):
            action_thresholds(policy, cut)
        of_steps, of_starts = np.split(words, [setting.env_steps])
        of_steps = of_steps.reshape(algorithm.horizon + 1, algorithm.rounds, -1)
        paths, questions = [*self._paths], [*self._questions]
        for n in range(algorithm.rounds):
            first_state = int(draw_start(setting.simulator.tables, of_starts[n]))
            starts, asked = _plan(algorithm, *theta.shape, first_state, len(paths))
            questions += [(k, *about) for k, about in enumerate(asked, len(questions))]
            for k, start in enumerate(starts):  # of both policies in turn, in Algorithm 2
                paths.append(self._follow(cuts[k % len(cuts)], *start, of_steps[:, n, k]))
        self._asked = range(len(self._questions), len(questions))
        self._paths, self._questions, self._drawn = paths, questions, self._run.draw(1)
        self._theta, self._direction = theta, direction
        self.iteration, self.multiplier = iteration, multiplier

    def _follow(self, cuts, state, action, words):
        """States and actions of a trajectory, with a random word for each step."""
        successors, width = self._setting.simulator.tables.successors, cuts.shape[1]
        path, allowed = [], self._cmdp.allowed
        for word in words:
            if action is None:  # the policy chooses
                action = int(np.searchsorted(cuts[state], word >> 32, "right"))
            if allowed is not None and not allowed[state, action]:
                action = int(allowed[state].argmax())  # of which it is a copy
            path.append((state, action))
            if self._ends[state]:
                break
            pair = np.uint64(state * width + action)
            state, action = int(draw(successors, pair, word, np.uint64(width))) // width, None
        return path

    def _update(self, tally):
        """Both steps: lines 8-23 of Algorithm 1, lines 8-17 of Algorithm 2."""
        algorithm, steps, how = self.algorithm, self._setting.steps, self._setting.perturbation
        options = algorithm.link, self._cmdp.return_bound(algorithm.horizon), algorithm.estimator
        differences = [
            make_evaluators(number, *options).estimate[votes]
            for votes, number in zip(tally["sum"], tally["size"], strict=True)
        ]
        of_rounds = np.reshape(differences, (algorithm.rounds, -1))
        means = sum(of_round / algorithm.rounds for of_round in of_rounds)
        slopes = means[:-1:2] + self.multiplier * means[1::2]
        if how is None:
            slopes, unit = slopes.reshape(self._theta.shape), 1 - self._cmdp.discount
        else:
            slopes, unit = how.dimension / how.radius * slopes, 1.0
        primal_step = steps.primal / unit / normalizer(steps.power, self.multiplier)
        theta = self._theta + primal_step * slopes * self._direction
        if algorithm.parameterization == "direct":
            project_rows(theta, theta)
        multiplier = self._run.dual_update(self.multiplier, means[-1])
        self._begin(self.iteration + 1, theta, multiplier)


def _table(questions):
    table = pd.DataFrame(questions, columns=["question", "kind", "first", "second"])
    return table.astype({"second": "Int64"})


def _plan(algorithm, states, actions, first_state, base):
    """Trajectories of a round, numbered from `base` on, and its questions.

    A trajectory has its first state and its first action; None is drawn from the policy. A question
    has its kind and its trajectories.
    """
    if isinstance(algorithm, ZPGPDHF):  # lines 5-7
        starts, pairs, single = [(first_state, None)] * 2, [(0, 1)], 0
    else:  # lines 4-7, 13 and 14
        actions_from = [*np.ndindex(states, actions)]
        starts = [(s, None) for s in range(states)] + actions_from + [(first_state, None)]
        pairs = [(s, states + k) for k, (s, _) in enumerate(actions_from)]
        single = len(starts) - 1
    questions = [(kind, base + i, base + j) for i, j in pairs for kind in KINDS[:2]]
    return starts, [*questions, (KINDS[2], base + single, None)]
