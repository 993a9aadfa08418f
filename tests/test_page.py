"""The page on which people vote, in a real browser."""

import re

import numpy as np
import pytest
from browser import CHROMIUM, Browser, wait_until
from panel import STEPS, from_people

import pgpd_hf

ALGORITHM = pgpd_hf.ZPGPDHF(evaluators=5, rounds=4, perturbation=0.3, **STEPS)
HACK = "parent.document.title = 'hacked'"
TRAP = f'</script><img src=x onerror="{HACK}">'
PICTURE = f'<svg xmlns="http://www.w3.org/2000/svg" onload="{HACK}"><script>{HACK}</script></svg>'
NAMES = {"state_names": ["mild", f"high {TRAP}", "&lt;worse", "well"], "action_names": ["-", TRAP]}
COLUMNS = ["question", "evaluator", "answer"]
HABITS = {"ann": 1.0, "Zoë": 4.0, "b-3": 0.25, "41": -0.5, "dee dee": 0.0}  # the last at random


def triage(render):
    """Four states, the last of which ends it, and their rewards."""
    transition = np.zeros((4, 2, 4))
    transition[:3] = [[[0.5, 0.2, 0.1, 0.2], [0.2, 0.1, 0.2, 0.5]]]
    transition[3, :, 3] = 1
    reward, utility = np.zeros((2, 4, 2))
    reward[:3], utility[3], utility[0] = [1, 0], 1, [0.5, 0.2]
    known = {"initial": [0.4, 0.3, 0.3, 0], "discount": 0.9}
    process = pgpd_hf.Process(transition, **known, **NAMES, render=render)
    return process, pgpd_hf.CMDP(transition, reward, utility, threshold=5.0, **known)


@pytest.fixture
def browser(tmp_path):
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed: the page of votes is not tested")
    browser = Browser(tmp_path)
    yield browser
    browser.close()


def vote(browser, page, name, votes, steps, start, stop):
    """Load the page, and answer by clicks and keys in turn, from one place to another."""
    browser.open(page)
    browser.run("document.querySelector('#name').focus()")
    browser("Input.insertText", text=name)
    # A click on a page that is not painted yet is lost.
    wait_until(lambda: browser.run("order.length") or browser.click("form button"))
    assert browser.run("place") == start
    while (place := browser.run("place")) < stop:
        number, _, first, second, *_ = browser.run("order[place]")
        answer = votes["answer"][votes["question"] == number].item()
        cards = browser.run("[...document.querySelectorAll('article')].map(it => it.id)")
        chosen = second if answer == 1 else first
        button = 1 - answer if second is None else cards.index(f"course-{chosen}")
        for card in cards:
            texts = f"[...document.querySelectorAll('#{card} .state')].map(it => it.textContent)"
            states = steps["state"][steps["trajectory"] == int(card.removeprefix("course-"))]
            assert browser.run(texts) == [*states]
        if place == 3:  # the wrong answer first
            browser.click("[aria-pressed]", 1 - button)
            browser.click("#back")
            assert browser.run("document.querySelectorAll('[aria-pressed=true]').length") == 1
        if place % 2:
            browser.key(str(button + 1))
        else:
            browser.click("[aria-pressed]", button)


def test_a_panel_votes_from_the_page_to_the_next_policy(browser, tmp_path):
    """Five people of different habits; each loads the page again in the middle; nothing runs."""
    process, cmdp = triage(lambda state: PICTURE)
    session, twin = (pgpd_hf.Session(it, ALGORITHM, seed=1) for it in (process, cmdp))
    page, path = tmp_path / "vote.html", tmp_path / "votes.csv"
    orders, random = set(), np.random.default_rng(0)
    for iteration in range(2):
        session.write_page(page, title=TRAP, introduction=TRAP)
        asked = session.ask(), twin.trajectories, cmdp, STEPS["horizon"]
        table = from_people(*asked, HABITS, random)[COLUMNS]
        for name, votes in table.groupby("evaluator"):
            for part in ((0, 7), (7, 12)):
                vote(browser, page, name, votes, session.trajectories, *part)
            orders.add(str(browser.run("order")))
            assert browser.run("document.title") == TRAP
            assert browser.run("document.querySelector('#introduction').textContent") == TRAP
            browser.click("#save")
            wait_until(lambda: path.exists() and path.read_text().count("\n") == 13)
            session.tell(path)
            path.unlink()
        twin.tell(table)
        assert session.iteration == iteration + 1
        told, said = (it.votes[COLUMNS].sort_values(COLUMNS) for it in (session, twin))
        assert (told.to_numpy() == said.to_numpy()).all()
    assert (session.policy == twin.policy).all()
    assert (session.policy != 0.5).any()
    assert len(orders) == 10


def test_page_needs_no_network(tmp_path):
    session = pgpd_hf.Session(triage(lambda state: PICTURE)[0], ALGORITHM)
    session.write_page(tmp_path / "vote.html")
    text = (tmp_path / "vote.html").read_text(encoding="utf-8").replace("http://www.w3.org", "")
    assert not re.search(r"(src|href)=[\"']|https?://|@import", text)
    broken = pgpd_hf.Session(triage(lambda state: None)[0], ALGORITHM)
    with pytest.raises(ValueError, match=r"^render: [^\n]+$"):
        broken.write_page(tmp_path / "none.html")
    assert not (tmp_path / "none.html").exists()
