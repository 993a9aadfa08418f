"""Both algorithms with people in the loop. Comments name lines of Algorithms 1 and 2."""

from __future__ import annotations  # help() shows names of types

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from pgpd_hf.arguments import require_instance, require_integer, require_path, shown
from pgpd_hf.cmdp import CMDP, Array, read_archive
from pgpd_hf.evaluators import make_evaluators
from pgpd_hf.npgpd_hf import NPGPDHF
from pgpd_hf.policies import project_rows, softmax, unit_direction
from pgpd_hf.primal_dual import Run, normalizer
from pgpd_hf.process import KINDS, NUMBERS, Process, cmdp_of, labels, read_table, require_single
from pgpd_hf.trajectories import absorbing_states, action_thresholds, draw, draw_start, table_width
from pgpd_hf.zpgpd_hf import ZPGPDHF

_ALGORITHMS = {kind.name: kind for kind in (NPGPDHF, ZPGPDHF)}
_VOTE = {"question": np.int64, "evaluator": np.str_, "answer": np.int64}


class Session:
    r"""An algorithm whose questions people answer.

    Parameters
    ----------
    process : Process or CMDP
        Rewards and utilities of a CMDP only tell which states are absorbing.
    algorithm : NPGPDHF or ZPGPDHF
        With a number for each option that is None by default, since nobody knows rewards. People
        judge what they see: of a value, a share of discount ** (H + 1) is cut off.
    seed : int
        Policies and trajectories are those of :func:`run` with this seed and the same votes.

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
    >>> session.ask()
       question        kind  first  second
    0         0     helpful      0       1
    1         1    harmless      0       1
    2         2  acceptable      0    <NA>
    >>> session.tell(session.ask()[["question"]].assign(evaluator="ann", answer=[1, 0, 1]))
    >>> session
    <Session: zpgpd_hf, iteration 1, 0 of 3 votes>
    """

    def __init__(
        self, process: Process | CMDP, algorithm: NPGPDHF | ZPGPDHF, seed: int = 0
    ) -> None:
        cmdp = cmdp_of(process)
        if process.transition is None:
            raise ValueError("process: transitions expected, got None")
        if type(algorithm) not in _ALGORITHMS.values():
            raise ValueError(f"algorithm: NPGPDHF or ZPGPDHF expected, got {shown(algorithm)}")
        if missing := [name for name, option in vars(algorithm).items() if option is None]:
            raise ValueError(f"algorithm: numbers expected for {', '.join(missing)}, got None")
        if algorithm.random_answers:
            raise ValueError("random_answers: 0 expected, since people answer")
        self.process, self.algorithm = process, algorithm
        self.seed = require_integer("seed", seed, 0)
        # Every option that would need an optimum or T is given.
        setting = algorithm.prepare(cmdp, None, 1)  # type: ignore[arg-type]
        self._ends = absorbing_states(cmdp)
        self._starts, self._plan = _plan_round(algorithm, *cmdp.reward.shape)
        self._votes = pd.DataFrame({name: [] for name in _VOTE}).astype(_VOTE)
        self._paths: list = []  # states and actions of each trajectory
        self._run = Run(algorithm, setting, self.seed, "run")
        self._drawn = self._run.draw(1)  # random numbers of the next iteration
        self._begin(0, algorithm.start(cmdp), 0.0)

    @property
    def policy(self) -> Array:
        """Policy (S, A) that the questions are about."""
        return self._run.cmdp.fold(self.algorithm.policy(self._theta))

    @property
    def trajectories(self) -> pd.DataFrame:
        """Steps of all trajectories so far: H + 1, or fewer where the process is absorbed."""
        rows = [(k, t, *step) for k, path in enumerate(self._paths) for t, step in enumerate(path)]
        table = pd.DataFrame(rows, columns=["trajectory", "time", "state", "action"])
        states, actions = map(pd.Index, labels(self.process))
        return table.assign(state=states[table["state"]], action=actions[table["action"]])

    @property
    def votes(self) -> pd.DataFrame:
        """All votes so far, with what they are about, as :func:`learn_from_votes` takes them."""
        about = self._about(self._votes["question"].to_numpy())
        return about.join(self._votes[["evaluator", "answer"]])

    def ask(self) -> pd.DataFrame:
        """Questions of this iteration: number, kind, first and second trajectory."""
        return self._about(np.array(self._asked))

    def tell(self, votes: pd.DataFrame | str | PathLike[str]) -> None:
        """Take votes, all or none; the iteration ends when M have voted on each question.

        Questions of all sessions are numbered from 0. Files of :meth:`write_page` have a column
        `page`, by which votes on other questions are refused.

        Parameters
        ----------
        votes : DataFrame or path of a CSV file
            `question`, `evaluator` (a pseudonym), and `answer`: 1 if the second trajectory is more
            helpful or less harmful, or if the single trajectory is acceptable; otherwise 0.
        """
        allowed = {"question": self._asked, "evaluator": None, "answer": [0, 1]}
        name = f"votes of iteration {self.iteration}"
        about = {"kind": KINDS, "first": NUMBERS, "second": NUMBERS}  # if it is there
        table = read_table(name, votes, allowed, page=[self._page()], **about)
        table["question"] += self._asked[0]
        self._require_as_asked(name, table)
        every = pd.concat([self._votes, table[[*_VOTE]]], ignore_index=True)
        require_single(every)
        tally, most = self._tally(every), self.algorithm.evaluators
        if (tally["size"] > most).any():
            number, got = tally["size"].idxmax(), tally["size"].max()
            told = f"at most {most} answers to question {number} expected"
            raise ValueError(f"votes: {told}, got {got}")
        if (tally["size"] == most).all():
            self._update(tally)
        self._votes = every

    def close(self) -> None:
        """End the iteration with the votes there are, at least one on each question."""
        tally = self._tally(self._votes)
        if not tally["size"].all():
            number = tally["size"].idxmin()
            told = f"an answer to each question expected, got none to question {number}"
            raise ValueError(f"votes: {told}")
        self._update(tally)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the session to a NumPy archive; an older file is replaced as a whole.

        ``.npz`` is added to a name without it.
        """
        parts = vars(self.process).items()
        arrays = {name: part for name, part in parts if part is not None and name != "render"}
        arrays |= {name: self._votes[name].to_numpy(kind) for name, kind in _VOTE.items()}
        told = self.algorithm.name, asdict(self.algorithm), self.seed, self.iteration
        path = _archive(path)
        unfinished = Path(f"{path}.unfinished")
        try:
            with open(unfinished, "wb") as file:
                np.savez(file, session=json.dumps(told), **arrays)
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
        path = _archive(path)
        saved = read_archive(path)
        try:
            name, options, seed, iteration = json.loads(str(saved.pop("session")))
            votes = pd.DataFrame({column: saved.pop(column) for column in _VOTE})
            process = CMDP(**saved) if "reward" in saved else Process(render=render, **saved)
            session = cls(process, _ALGORITHMS[name](**options), seed)
            for number, told in votes.groupby(votes["question"] // len(session._asked)):
                session.tell(told)
                if session.iteration == number < iteration:
                    session.close()
            if session.iteration != iteration:
                raise ValueError("other votes than it says")
        except Exception as error:  # damaged files raise almost anything
            told = f"an undamaged file of Session.save expected ({' '.join(str(error).split())})"
            raise ValueError(f"{path}: {told}") from error
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
        pictures = [*map(render, range(len(states)))] if render else []
        first = int(self.ask()["first"].min())
        data = {
            "title": require_instance("title", title, str),
            "introduction": require_instance("introduction", introduction, str),
            "page": self._page(),
            "questions": json.loads(self.ask().to_json(orient="values")),
            "trajectories": dict(enumerate(self._paths[first:], first)),
            "ends": self._ends.tolist(),
            "states": [*states],
            "actions": [*actions],
            "pictures": [require_instance("render", picture, str) for picture in pictures],
        }
        text = json.dumps(data).replace("<", "\\u003c")  # no text ends the element that holds it
        page = Path(__file__).with_name("vote.html").read_text(encoding="utf-8")
        require_path("path", path).write_text(page.replace("DATA", text, 1), encoding="utf-8")

    def __repr__(self) -> str:
        numbers, most = self._tally(self._votes)["size"], self.algorithm.evaluators
        told = f"{numbers.sum()} of {numbers.size * most} votes"
        return f"<Session: {self.algorithm.name}, iteration {self.iteration}, {told}>"

    def _page(self):
        """Digest of what is asked in this iteration: answers belong to it."""
        paths = self._paths[-len(self._starts) * self.algorithm.rounds :]
        told = self._asked[0], *map(list, labels(self.process)), paths
        digest = hashlib.sha256(json.dumps(told).encode()).hexdigest()
        return f"p{digest[:11]}"  # which no program reads as a number

    def _about(self, numbers):
        """Questions with these numbers; every round has the same plan."""
        rounds, places = np.divmod(numbers, len(self._plan))
        table = self._plan.iloc[places].reset_index(drop=True)
        for column in ("first", "second"):
            table[column] += rounds * len(self._starts)
        table.insert(0, "question", numbers)
        return table

    def _require_as_asked(self, name, table):
        """Refuse rows that tell another kind or other trajectories than were asked about."""
        asked = self._about(table["question"].to_numpy())
        asked["kind"] = asked["kind"].map(KINDS.index)
        asked["second"] = asked["second"].fillna(asked["first"])
        for column in [it for it in ("kind", "first", "second") if it in table]:
            wrong = table[column] != asked[column]
            if wrong.any():
                told = f"{column} of question {table['question'][wrong.idxmax()]} as asked"
                raise ValueError(f"{name}: {told} expected, got another")

    def _tally(self, votes):
        """Answers of 1 ("sum"), and all answers ("size"), to the questions of this iteration."""
        tally = votes.groupby("question")["answer"].agg(["sum", "size"])
        return tally.reindex(self._asked, fill_value=0)

    def _begin(self, iteration, theta, multiplier):
        """Begin an iteration: draw its trajectories."""
        algorithm, setting, how = self.algorithm, self._run.setting, self._run.setting.perturbation
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
        of_steps, rest = np.split(words, [setting.env_steps])
        of_steps = of_steps.reshape(algorithm.horizon + 1, -1)
        paths = [*self._paths]
        for k, (state, action) in enumerate(self._starts * algorithm.rounds):
            if state is None:
                state = int(draw_start(setting.simulator.tables, rest[k // len(self._starts)]))
            paths.append(self._follow(cuts[k % len(cuts)], state, action, of_steps[:, k]))
        self._paths, self._drawn = paths, self._run.draw(1)
        self._theta, self._direction = theta, direction
        self.iteration, self.multiplier = iteration, multiplier
        self._asked = range(setting.questions * iteration, setting.questions * (iteration + 1))

    def _follow(self, cuts, state, action, words):
        """States and actions of a trajectory, with a random word for each step."""
        successors, width = self._run.setting.simulator.tables.successors, cuts.shape[1]
        path, allowed = [], self._run.cmdp.allowed
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
        algorithm, cmdp, setting = self.algorithm, self._run.cmdp, self._run.setting
        steps, how = setting.steps, setting.perturbation
        reading = algorithm.link, cmdp.return_bound(algorithm.horizon), algorithm.estimator
        differences = [
            make_evaluators(number, *reading).estimate[votes]
            for votes, number in zip(tally["sum"], tally["size"], strict=True)
        ]
        means = sum(np.reshape(differences, (algorithm.rounds, -1)) / algorithm.rounds)
        slopes = means[:-1:2] + self.multiplier * means[1::2]
        if how is None:
            slopes, unit = slopes.reshape(self._theta.shape), 1 - cmdp.discount
        else:
            slopes, unit = how.dimension / how.radius * slopes, 1.0
        primal_step = steps.primal / unit / normalizer(steps.power, self.multiplier)
        theta = self._theta + primal_step * slopes * self._direction
        if algorithm.parameterization == "direct":
            project_rows(theta, theta)
        multiplier = self._run.dual_update(self.multiplier, means[-1])
        self._begin(self.iteration + 1, theta, multiplier)


def _archive(path):
    """Name of an archive, which ends as NumPy's do."""
    path = require_path("path", path)
    return path if path.name.endswith(".npz") else path.with_name(f"{path.name}.npz")


def _plan_round(algorithm, states, actions):
    """Trajectories of a round, and a table of the questions about them.

    A trajectory has its first state and its first action. A state that is None is drawn from rho,
    an action from the policy: in Algorithm 2 from both policies in turn.
    """
    if isinstance(algorithm, ZPGPDHF):  # lines 5-7
        starts, compared, single = [(None, None)] * 2, [(0, 1)], 0
    else:  # lines 4-7, 13 and 14
        pairs = [*np.ndindex(states, actions)]
        starts = [(s, None) for s in range(states)] + pairs + [(None, None)]
        compared = [(s, states + k) for k, (s, _) in enumerate(pairs)]
        single = len(starts) - 1
    questions = [(kind, *both) for both in compared for kind in KINDS[:2]]
    questions += [(KINDS[2], single, None)]
    table = pd.DataFrame(questions, columns=["kind", "first", "second"])
    return starts, table.astype({"second": "Int64"})
