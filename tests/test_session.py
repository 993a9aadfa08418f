"""Sessions: the bits of runs, votes in any order, files, and bad input."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from panel import STEPS, absorbed, from_words

import pgpd_hf
from reference import random_process, stream

ZPGPD = pgpd_hf.ZPGPDHF(evaluators=5, perturbation=0.3, **STEPS)
SOFTMAX = {"parameterization": "softmax", "directions": "tangent", "perturbation": 0.3}
ALGORITHMS = [
    pgpd_hf.NPGPDHF(evaluators=5, **STEPS),
    pgpd_hf.NPGPDHF(evaluators=70, rounds=2, normalize="quadratic", link="probit", **STEPS),
    ZPGPD,
    pgpd_hf.ZPGPDHF(evaluators=16, rounds=2, **SOFTMAX, **STEPS),
]


def masked():
    """CMDP in three of whose states an action is not allowed."""
    cmdp, mask = random_process(3, 4, 3), np.arange(12).reshape(4, 3) % 4 > 0
    parts = {"reward": cmdp.reward, "cost": cmdp.utility, "initial": cmdp.initial, "discount": 0.5}
    return pgpd_hf.CMDP.from_costs(cmdp.transition, at_most=0.9, actions=mask, **parts)


@pytest.fixture
def session():
    return pgpd_hf.Session(random_process(1), ZPGPD, seed=0)


def everyone(session, names="abcde"):
    """Votes of these people on all questions, who do not agree."""
    asked = session.ask()["question"]
    rows = [(number, name, (number + k) % 2) for number in asked for k, name in enumerate(names)]
    votes = pd.DataFrame(rows, columns=["question", "evaluator", "answer"])
    return session.ask().astype({"first": float}).merge(votes)  # second is Int64


@pytest.mark.parametrize("cmdp", [random_process(2, 4, 5), absorbed(), masked()])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_same_bits_as_a_run(cmdp, algorithm, tmp_path):
    """Evaluators answer by the words of the run's stream; the session is saved on the way."""
    session, iterations = pgpd_hf.Session(cmdp, algorithm, seed=7), 4
    questions, random = len(session.ask()), np.random.default_rng(0)
    steps = algorithm.effort(cmdp)[0] * (algorithm.horizon + 1)
    count = steps + algorithm.rounds + questions
    axes = {"algorithm": algorithm.name, "seed": 7, "evaluators": algorithm.evaluators}
    words = stream(iterations * count, kind="words", purpose="run", **axes)
    for row in words.reshape(iterations, count):
        votes = from_words(session, cmdp, row[-questions:]).sample(frac=1, random_state=random)
        session.tell(votes[:4])
        session.save(tmp_path / "pilot.npz")
        session = pgpd_hf.Session.load(tmp_path / "pilot.npz")
        session.tell(votes[4:])
    every = {"seeds": [7], "iterations": iterations, "checkpoints": [iterations]}
    trace, policies = pgpd_hf.run(cmdp, algorithm, return_policies=True, **every)
    assert session.iteration == iterations
    assert session.policy.tobytes() == policies[0].tobytes()
    assert session.multiplier == trace["multiplier"].iloc[-1]
    if cmdp.allowed is not None:
        steps = session.trajectories
        assert cmdp.allowed[steps["state"], steps["action"]].all()


def test_trajectories_end_where_the_process_is_absorbed():
    steps = pgpd_hf.Session(absorbed(), ALGORITHMS[0]).trajectories
    ends = steps.groupby("trajectory").last()
    assert ((ends["state"] == 2) | (ends["time"] == STEPS["horizon"])).all()
    assert (steps.query("state == 2").groupby("trajectory").size() == 1).all()


def test_numbers_and_names_run_through_the_session(tmp_path):
    cmdp, names = random_process(1), ["<b>low</b>", "mid", "high"]
    given = {"state_names": names, "action_names": ["go", "stay"]}
    process = pgpd_hf.Process(cmdp.transition, cmdp.initial, 0.5, **given)
    session, twin = pgpd_hf.Session(process, ZPGPD), pgpd_hf.Session(cmdp, ZPGPD)
    people = ["<script>alert(1)</script>", "=cmd()", "3", "Zoë", "a,b"]
    path = tmp_path / "votes.csv"
    for _ in range(3):
        everyone(session, people).to_csv(path, index=False, encoding="utf-8-sig")
        session.tell(path)
        twin.tell(everyone(twin))
    session.save(tmp_path / "pilot")
    session = pgpd_hf.Session.load(tmp_path / "pilot.npz")
    assert (session.policy == twin.policy).all()
    assert [*session.ask()["question"]] == [9, 10, 11]
    assert [*session.votes] == ["question", "kind", "first", "second", "evaluator", "answer"]
    assert session.votes["evaluator"].value_counts().to_dict() == dict.fromkeys(people, 9)
    assert [*session.trajectories["trajectory"].unique()] == [*range(8)]
    assert (session.trajectories["state"].map(names.index) == twin.trajectories["state"]).all()


def test_closing_reads_few_votes_as_those_of_few_evaluators(tmp_path):
    """Unanimous votes of one or two are clipped at the bound; one of three is logit(1/3)."""
    cmdp = random_process(1)
    session = pgpd_hf.Session(cmdp, ALGORITHMS[0])
    session.tell(pd.DataFrame({"question": [12] * 3, "evaluator": [*"abc"], "answer": [1, 0, 0]}))
    with pytest.raises(ValueError, match=r"^votes: an answer to each .* got none to question 0$"):
        session.close()
    first_action = session.ask()["question"][:-1] // 2 % 2 == 0
    votes = session.ask()[["question"]][:-1].assign(answer=first_action.astype(int))
    session.tell(votes.assign(evaluator="a"))
    session.tell(votes[first_action].assign(evaluator="b"))
    session.close()
    session.save(tmp_path / "pilot.npz")
    session = pgpd_hf.Session.load(tmp_path / "pilot")
    bound = cmdp.return_bound(STEPS["horizon"])
    difference = np.log(session.policy[:, 0] / session.policy[:, 1])
    assert np.allclose(difference, 2 * bound * 0.1 / (1 - cmdp.discount), rtol=1e-12)
    assert session.multiplier == pytest.approx(0.1 * np.log(2), rel=1e-12)


GOOD = {"question": [0, 1], "evaluator": ["a", "b"], "answer": [0, 1]}
BAD = [
    *({"question": [0, wrong]} for wrong in (3, -1, 0.5, "zero")),
    *({"answer": [0, wrong]} for wrong in (2, np.nan, [1], 10**400)),
    *({"evaluator": wrong} for wrong in (["a", " "], ["a", None], pd.array([1, None], "Int64"))),
    {"evaluator": ["a", "a "], "question": [1, 1]},
    {"evaluator": ["first", "b"], "question": [2, 1]},
    *({"evaluator": wrong} for wrong in (["Ann", "ann"], ["41", "41.0"], ["a\0", "b"])),
    {"kind": "harmless"},
    {"kind": ["helpful", "harmless"], "first": [1, 0], "second": [0, 1]},
    {"kind": "harmless", "second": [1, 1]},
    {"kind": ["helpful", "harmless"], "first": [1.0, 0.0], "second": pd.array([0, 1], "Int64")},
    {"evaluator": [*"abcdef"], "question": 1, "answer": 1},
]
LINES = "question,evaluator,answer\n"
FILES = [b"", b"question,evaluator\n", bytes(range(256)), f"{LINES}0,José,1\n".encode("latin-1")]
FILES += [(LINES + row).encode() for row in ('0,"a,1\n', "0,a,2\n", "0,a,1,1\n")]


def test_votes_of_a_page_about_other_trajectories_are_refused(session, tmp_path):
    """Also where a single trajectory is possible, in all iterations."""

    def page(session):
        session.write_page(tmp_path / "vote.html")
        return re.search(r'"page": "(\w+)"', (tmp_path / "vote.html").read_text())[1]

    votes = pd.DataFrame(GOOD).assign(page=page(session))
    session.tell(votes)
    other = pgpd_hf.Session(session.process, session.algorithm, seed=99)
    with pytest.raises(ValueError, match="^votes of iteration 0: page one of .* expected, got"):
        session.tell(votes.assign(page=page(other), evaluator="c"))
    assert len(session.votes) == 2
    single = pgpd_hf.Session(pgpd_hf.CMDP([[[1.0]]], [[0.5]], [[0.5]], [1.0], 0.5, 0.0), ZPGPD)
    before = page(single)
    single.tell(everyone(single))
    assert page(single) != before


@pytest.mark.parametrize("wrong", [*BAD, *FILES, None, "none.csv"], ids=repr)
def test_bad_votes_are_refused_whole(session, wrong, tmp_path):
    session.tell(pd.DataFrame({"question": [2], "evaluator": ["first"], "answer": [1]}))
    if isinstance(wrong, bytes):
        (tmp_path / "votes.csv").write_bytes(wrong)
        wrong = tmp_path / "votes.csv"
    with pytest.raises(ValueError, match=r"^votes[^:\n]*: [^\n]+$"):
        session.tell(pd.DataFrame(GOOD | wrong) if isinstance(wrong, dict) else wrong)
    assert len(session.votes) == 1
    session.tell(pd.DataFrame(GOOD))
    assert len(session.votes) == 3


def test_ten_million_rows_are_refused(session):
    with pytest.raises(ValueError, match=r"^votes[^:]*: from 1 to 5000000 rows expected[^\n]+$"):
        session.tell(everyone(session).iloc[np.zeros(10**7, int)])


def test_what_nobody_can_be_asked_is_refused():
    with pytest.raises(ValueError, match="^action_names: names expected where transitions are unk"):
        pgpd_hf.Process(None, [1.0], 0.5)
    with pytest.raises(ValueError, match=r"^process: [^\n]+$"):
        pgpd_hf.Session(pgpd_hf.Process(None, [1.0], 0.5, action_names=["a"]), ZPGPD)
    with pytest.raises(ValueError, match="^random_answers: 0 expected, since people answer"):
        pgpd_hf.Session(random_process(1), replace(ZPGPD, random_answers=0.5))


def full(file, **arrays):
    file.write(b"half")
    raise OSError("disk full")


def test_an_interrupt_leaves_the_session_as_it_was(session, monkeypatch):
    twin = pgpd_hf.Session(session.process, session.algorithm, session.seed)
    follow, calls = session._follow, iter([None])

    def interrupted(*given):
        if next(calls, ...) is ...:
            raise KeyboardInterrupt
        return follow(*given)

    monkeypatch.setattr(session, "_follow", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.tell(everyone(session))
    monkeypatch.undo()
    assert session.iteration == len(session.votes) == 0
    for it in (session, twin):
        it.tell(everyone(it))
    assert session.trajectories.equals(twin.trajectories)
    assert session.ask().equals(twin.ask())


def test_a_file_that_cannot_be_written_leaves_the_old_one(session, tmp_path, monkeypatch):
    path = tmp_path / "pilot.npz"
    session.save(path)
    before = path.read_bytes()
    session.tell(everyone(session))
    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="full"):
        session.save(path)
    assert path.read_bytes() == before
    assert [*tmp_path.iterdir()] == [path]


class Trap:
    def __reduce__(self):
        return print, ("executed",)


def test_files_of_strangers_run_nothing(session, tmp_path, capsys):
    path = tmp_path / "pilot.npz"
    session.tell(everyone(session, "ab"))
    session.save(path)
    saved, whole = dict(np.load(path)), path.read_bytes()
    told = str(saved["session"])
    changes = [
        {"evaluator": np.array([Trap()] * 6)},
        {"session": told.replace("zpgpd_hf", "os.system")},
        {"session": told.replace("0, 0]", "-1, 0]")},
        {"session": told.replace("0, 0]", "0, 1000000000000]")},
        {"session": told[1:]},
        {"question": saved["question"] + 1},
        {"question": saved["question"][:-1]},
        {"answer": saved["answer"] - 1},
        {"transition": np.zeros((3, 2, 3))},
        {"__class__": 1},
    ]
    assert all(str(wrong.get("session")) != told for wrong in changes)
    for wrong in (*changes, b"", whole[:-100]):
        if isinstance(wrong, dict):
            np.savez(path, **(saved | wrong))
        else:
            path.write_bytes(wrong)
        with pytest.raises(ValueError, match=r"^[^\n]*pilot.npz: [^\n]+ expected( [^\n]+)?$"):
            pgpd_hf.Session.load(path)
    assert capsys.readouterr().out == ""
