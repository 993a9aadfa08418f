"""The page on which people vote, in a real browser."""

import re

import numpy as np
import pytest
from browser import CHROMIUM, Browser, wait_until
from panel import STEPS, from_people

import pgpd_hf

ROUNDS = pgpd_hf.ZPGPDHF(evaluators=5, rounds=4, perturbation=0.3, **STEPS)
TRAP = "</script><img src=x onerror='document.title=`hacked`'>"
NAMES = ["mild", f"high {TRAP}", "&lt;worse", "well"]
COLUMNS = ["question", "evaluator", "answer"]
HABITS = {"ann": 1.0, "Zoë": 4.0, "b-3": 0.25, "41": -0.5, "dee dee": 0.0}  # the last at random


def triage(render=None):
    """Four states with names, of which the last ends it, and its rewards."""
    transition = np.zeros((4, 2, 4))
    transition[:3] = [[[0.5, 0.2, 0.1, 0.2], [0.2, 0.1, 0.2, 0.5]]]
    transition[3, :, 3] = 1
    reward, utility = np.zeros((2, 4, 2))
    reward[:3], utility[3], utility[0] = [1, 0], 1, [0.5, 0.2]
    known = {"initial": [0.4, 0.3, 0.3, 0], "discount": 0.9}
    names = {"state_names": NAMES, "action_names": ["wait", TRAP]}
    process = pgpd_hf.Process(transition, **known, **names, render=render)
    return process, pgpd_hf.CMDP(transition, reward, utility, threshold=5.0, **known)


@pytest.fixture
def browser(tmp_path):
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed: the page of votes is not tested")
    browser = Browser(tmp_path)
    yield browser
    browser.close()


def vote(browser, name, votes, steps, stop=12):
    """Start, and answer by clicks and keys in turn, until so many questions are answered."""
    browser.write("#name", name)
    browser.click("form button")
    browser.wait("!document.querySelector('main').hidden")
    while (place := browser.run("place")) < stop:
        number, _, first, second = browser.run("order[place]")
        answer = votes["answer"][votes["question"] == number].item()
        cards = browser.run("[...document.querySelectorAll('article')].map(it => it.id)")
        chosen = second if answer == 1 else first
        button = 1 - answer if second is None else cards.index(f"course-{chosen}")
        for card in cards:
            texts = f"[...document.querySelectorAll('#{card} .state')].map(it => it.textContent)"
            states = steps["state"][steps["trajectory"] == int(card.removeprefix("course-"))]
            assert browser.run(texts) == [*states]
        if place % 2:
            browser.key(str(button + 1))
        else:
            browser.click("[aria-pressed]", button)


def test_a_panel_votes_from_the_page_to_the_next_policy(browser, tmp_path):
    """Five people of different habits; each reloads in the middle; the session goes on."""
    process, cmdp = triage()
    session = pgpd_hf.Session(process, ROUNDS, seed=1)
    twin, page = pgpd_hf.Session(cmdp, ROUNDS, seed=1), tmp_path / "vote.html"
    orders, sides, random = set(), set(), np.random.default_rng(0)
    for iteration in range(2):
        session.write_page(page)
        asked = session.ask(), twin.trajectories, cmdp, STEPS["horizon"]
        table = from_people(*asked, HABITS, random)[COLUMNS]
        for name, votes in table.groupby("evaluator"):
            browser.open(page)
            vote(browser, name, votes, session.trajectories, stop=7)
            browser.open(page)
            vote(browser, name, votes, session.trajectories)
            orders.add(str(browser.run("order")))
            sides.add(str(browser.run("swapped")))
            browser.click("#save")
            browser.wait("document.querySelector('#told').textContent.startsWith('Saved 12')")
            path = tmp_path / "votes.csv"
            wait_until(lambda path=path: path.exists() and path.read_text().count("\n") == 13)
            session.tell(path)
            path.unlink()
        twin.tell(table)
        assert session.iteration == iteration + 1
        told, said = (it.votes[COLUMNS].sort_values(COLUMNS) for it in (session, twin))
        assert (told.to_numpy() == said.to_numpy()).all()
    assert (session.policy == twin.policy).all()
    assert (session.policy != 0.5).any()
    assert len(orders) == len(sides) == 10


def test_back_changes_an_answer_and_storage_is_not_needed(browser, tmp_path):
    process, _ = triage()
    session = pgpd_hf.Session(process, ROUNDS)
    session.write_page(tmp_path / "vote.html")
    without = "Object.defineProperty(window, 'localStorage', { get() { throw Error(); } })"
    browser("Page.addScriptToEvaluateOnNewDocument", source=without)
    browser.open(tmp_path / "vote.html")
    browser.write("#name", "ann")
    browser.click("form button")
    first = browser.run("order[0][0]")
    for key in "12":
        browser.key(key)
        assert "stores nothing" in browser.run("document.querySelector('#told').textContent")
        assert browser.run("Object.keys(answers).length") == 1
        meant = browser.run(f"answers[{first}]")
        browser.click("#back")
        assert browser.run("meaning(0)") == (meant if key == "1" else 1 - meant)
        assert browser.run("document.querySelectorAll('[aria-pressed=true]').length") == 1


def test_names_and_pictures_run_nothing(browser, tmp_path):
    trap = "<script>parent.document.title = 'hacked'</script>"
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" onload="{trap}">{trap}</svg>'
    process, _ = triage(lambda state: picture)
    session = pgpd_hf.Session(process, ROUNDS)
    session.write_page(tmp_path / "vote.html", title=TRAP, wording={"helpful": TRAP})
    browser.open(tmp_path / "vote.html")
    browser.write("#name", "<b>")
    assert not browser.run("document.querySelector('#name').checkValidity()")
    browser.run("document.querySelector('#name').value = ''")
    vote(browser, "ann", session.ask().assign(answer=1), session.trajectories)
    assert browser.run("document.title") == TRAP
    assert browser.run("document.querySelectorAll('#votes img, #votes script').length") == 0


def test_page_needs_no_network(tmp_path):
    session = pgpd_hf.Session(triage()[0], ROUNDS)
    session.write_page(tmp_path / "vote.html")
    text = (tmp_path / "vote.html").read_text(encoding="utf-8")
    assert not re.search(
        r"(src|href)=[\"']|https?://|@import", text.replace("http://www.w3.org", "")
    )
    for wrong in ({"useful": "?"}, {"helpful": 3}, "Which?"):
        with pytest.raises(ValueError, match=r"^wording: [^\n]+$"):
            session.write_page(tmp_path / "vote.html", wording=wrong)
    broken = pgpd_hf.Session(triage(lambda state: None)[0], ROUNDS)
    with pytest.raises(ValueError, match="^render: "):
        broken.write_page(tmp_path / "none.html")
    assert not (tmp_path / "none.html").exists()
