"""Configurations that cannot be run are refused in one line that names the file or the key."""

import math
import os
import re
import runpy

import pytest
import yaml
from declarations import changed, places

from conftest import ROOT

SCRIPT = ROOT / "workflow/scripts/configuration.py"
CHECKS = runpy.run_path(str(SCRIPT))
DEFAULT = CHECKS["DEFAULT"]
CONFIG = yaml.safe_load(DEFAULT.read_text()) | {"name": "mine"}

TEXTS = ["", "three", "; touch x", "$(touch x)", "`touch x`", "../..", "/etc/passwd", "a b", "x\n"]
SHAPES = [{}, {"a": 1}, [[1]], [None, None], {3: 4}]
NUMBERS = [math.nan, math.inf, -math.inf, -1, 10**30, 10**400, 1e300]
# What no key of a kind may hold, by the type of the default.
BAD = {
    int: [*NUMBERS, 2.5, 3.0, True, None, *TEXTS, *SHAPES],
    float: [*NUMBERS, True, None, *TEXTS, *SHAPES],
    str: [*NUMBERS, 3, 2.5, True, None, *TEXTS, *SHAPES],
    list: [*NUMBERS, 3, 2.5, True, None, *TEXTS, *SHAPES],
    dict: [*NUMBERS, 3, 2.5, True, *TEXTS, [], *SHAPES[1:]],
}
ALLOWED = [("name", "three"), ("purpose", "three"), ("concentration", 2.5), ("concentration", 3)]
ALLOWED += [("threshold", number) for number in (-1, 10**30, 10**400, 1e300)]
STEPS = "iterations: 9, primal_step: 1, dual_step: 1"
OWN = """
from dataclasses import dataclass
from pgpd_hf import NPGPDHF

@dataclass(frozen=True, kw_only=True)
class Mine(NPGPDHF):
    name = "mine"
    far: float = 0.0
    untyped = 0.0

    def UPDATE(self, run, state):
        return state

class Bare(Mine):
    bare: float = 0.0

@dataclass(frozen=True, kw_only=True)
class Paper(Mine):
    name = "npgpd_hf"
    update = Mine.UPDATE

STEP = 3
"""


def refusal(config, files=()):
    """What is said of a configuration."""
    with pytest.raises(ValueError, match=r"^.{1,400}\Z") as refused:
        CHECKS["check"](config, files)
    return str(refused.value)


@pytest.mark.parametrize(
    ("place", "old"),
    [pytest.param(at, old, id=".".join(map(str, at))) for at, old in places(CONFIG) if at],
)
def test_wrong_value_is_refused_by_its_key(place, old):
    for value in BAD[type(old)]:
        infinity = place == ("evaluators", 0) and value is None
        if not infinity and (place[-1], value) not in ALLOWED:
            message = refusal(changed(CONFIG, place, value))
            assert str(next(key for key in reversed(place) if isinstance(key, str))) in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sedes: 3", "configuration: unknown key 'sedes' (did you mean 'seeds'?); allowed are "),
        ("name: -rf", "name: got '-rf'; expected: "),
        ("name: NO", "name: got False; expected: "),
        ("purpose: calibration", "purpose: got 'calibration'; expected: "),
        ("evaluators: [16, 16]", "evaluators: got [16, 16]; expected: "),
        ("seeds: 10001", "seeds: got 10001; expected: number of seeds, from 1 to 10000"),
        ("environment: {concentration: 0}", "environment.concentration: got 0; expected: of D"),
        ("evaluators: []", "evaluators: got []; expected: "),
        ("environment: {no: 3}", "environment: "),
        ("algorithms: {3: {iterations: 3}}", "algorithms: got 3; expected: a name of "),
        ("algorithms: {npgpd_hf: {dual_step: 1e-3}}", "algorithms.npgpd_hf.dual_step: got '1e"),
        ("link: logit", "link: 'logit' is not one of ['logistic', 'probit', 'cauchy']"),
        ("environment: {discount: 1}", "environment.discount: got 1; expected: gamma, from 0 to "),
        ("environment: {file: x.npz}", "environment.file: a file in "),
        ("environment: {file: ../x.npz}", "environment.file: got '../x.npz'; expected: "),
        ("environment: {file: /x.npz}", "environment.file: got '/x.npz'; expected: "),
        ("environment: {file: a/../x.npz}", "environment.file: got 'a/../x.npz'; expected: "),
        ("environment: {file: '{a}.npz'}", "environment.file: got '{a}.npz'; expected: "),
        ("environment: {file: x.npz, states: 3}", "environment: 'states' is not one of ['file']"),
        ("environment: {TAXI, cost: steps, states: 3}", "environment: 'states' is not one of ['gy"),
        ("environment: {TAXI, cost: steps, options: {3: 4}}", "environment.options: 3 is not of "),
        ("environment: {TAXI}", "environment: 'cost' is a required "),
        ("environment: {gymnasium: 'os:A-v1', cost: holes, at_most: 1}", "environment.gymnasium: "),
        ("algorithms: {mine: {class: '../mine.py:Mine', iterations: 9}}", "algorithms.mine"),
        ("algorithms: {Mine: {class: 'mine.py:Mine', iterations: 9}}", "algorithms: got 'Mine'"),
        ("algorithms: {mine: {class: 'no.py:M', STEPS}}", "algorithms.mine.class: a file in "),
        ("algorithms: {npgpd_hf: null, zpgpd_hf: null}", "algorithms: at least one expected"),
        ("algorithms: {sarsa: {iterations: 3}}", "algorithms.sarsa: 'class' is a required prop"),
        ("algorithms: {npgdp_hf: null}", "algorithms.npgdp_hf: got None; expected: npgpd_hf, "),
        ("algorithms: {npgpd_hf: {directions: tangent}}", "algorithms.npgpd_hf: unknown key "),
        ("algorithms: {pg_pd: {primal_step: 1}}", "algorithms.pg_pd: 'iterations' is a required "),
        ("rates: {iterations: {npgpd_hf: [9]}}", "rates.iterations.npgpd_hf: got [9]; expected: "),
        ("rates: {iterations: {npg_pd: [8, 9]}}", "rates.iterations: unknown key 'npg_pd'"),
    ],
)
def test_file_is_refused_by_its_key(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    text = text.replace("TAXI", "gymnasium: Taxi-v4, at_most: 9").replace("STEPS", STEPS)
    path.write_text(f"{text}\n" if text.startswith("name") else f"name: mine\n{text}\n")
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}.*\Z"):
        CHECKS["check_files"]([path])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mine: {class: 'mine.py:Mine', fra: 1, STEPS}", "mine: fra: no option of mine (did you"),
        ("mine: {class: 'mine.py:Mine', STEPS}", "mine: class Mine: a method update expected"),
        ("mine: {class: 'mine.py:Mines', STEPS}", "mine: mine.py: a class Mines expected, got n"),
        ("mine: {class: 'mine.py:STEP', STEPS}", "mine: mine.py: STEP, a subclass of NPGPDHF or"),
        ("mine: {class: 'mine.py:Mine', untyped: 1, STEPS}", "mine: untyped: no option of mine (a"),
        ("mine: {class: 'mine.py:Bare', bare: 1, STEPS}", "mine: bare: @dataclass(frozen=True, kw"),
        ("mine: {class: 'mine.py:Paper', STEPS}", "mine: class Paper: another name than 'npgpd_h"),
        ("mine: {class: 'wrong.py:Mine', STEPS}", "mine: wrong.py, line 1: SyntaxError: exp"),
        ("npgpd_hf: {estimator: unbiased}}\nlink: probit #", "npgpd_hf: estimator: plug-in expec"),
        ("npgpd_hf: {random_answers: 1}", "npgpd_hf in rates: random_answers: 0 expected with in"),
    ],
)
def test_options_that_only_the_library_can_judge_are_refused(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "wrong.py").write_text("class Mine\n")
    path.write_text(f"name: mine\nalgorithms: {{{text.replace('STEPS', STEPS)}}}\n")
    for name in ("mine.py", "wrong.py"):
        message = message.replace(name, os.path.relpath(tmp_path / name))
    with pytest.raises(SystemExit, match=rf"^{re.escape(f'error: algorithms.{message}')}.*\Z"):
        CHECKS["check_files"]([path])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "plain YAML expected: keys and values expected, got None"),
        (b"- a\n- b", "plain YAML expected: keys and values expected, got ['a', 'b']"),
        (b"__use_yte__: true\nname: ?1", "plain YAML expected: no template expected, got "),
        (b"a: 1\nseeds: 3\nseeds: 5", "plain YAML expected: line 3: 'seeds' stands twice"),
        (b"a: &a {x: 1}\nb: *a", "plain YAML expected: no alias expected"),
        (b"seeds: 010", "plain YAML expected: a decimal number expected, got 010"),
        (b"seeds: 1:30", "plain YAML expected: a decimal number expected, got 1:30"),
        (b"seeds: .nan", "plain YAML expected: a decimal number expected, got .nan"),
        (b"seeds: " + 5000 * b"1", "plain YAML expected: Exceeds the limit"),
        (b"a: " + 600 * b"[" + 600 * b"]", "plain YAML expected: maximum recursion depth"),
        (b'name: !!python/object/apply:os.mkdir ["pwned"]', "plain YAML expected: "),
        (b"\x00\x01\xff", "plain YAML expected: "),
    ],
)  # fmt: skip
def test_file_that_holds_anything_but_data_is_refused(tmp_path, content, message):
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"^{re.escape(f'{path}: {message}')}.*\Z"):
        CHECKS["read"](path)
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize(
    "content", [b"\xef\xbb\xbfname: a\r\nseeds: 3\r\n", b'{"name": "a", "seeds": 3}']
)
def test_file_that_holds_data_is_read(tmp_path, content):
    (tmp_path / "mine.yaml").write_bytes(content)
    assert CHECKS["read"](tmp_path / "mine.yaml") == {"name": "a", "seeds": 3}


@pytest.mark.parametrize(
    ("named", "order"),
    [
        ("{zpgpd_hf: {iterations: 9}}", ["npgpd_hf", "zpgpd_hf"]),  # as in the default
        ("{zpgpd_hf: {iterations: 9}, npgpd_hf: {iterations: 9}}", ["zpgpd_hf", "npgpd_hf"]),
        ("{npgpd_hf: null}", ["zpgpd_hf"]),
    ],
)
def test_panels_have_the_order_of_the_file_that_names_them_all(tmp_path, named, order):
    (tmp_path / "mine.yaml").write_text(f"name: mine\nalgorithms: {named}\n")
    assert [*CHECKS["check_files"]([tmp_path / "mine.yaml"])[0]["algorithms"]] == order


@pytest.mark.parametrize(
    ("text", "got"), [("name: paper\nseeds: 3", "'paper'"), ("seeds: 3", "none")]
)
def test_file_with_the_default_s_name_would_replace_its_figures(tmp_path, text, got):
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(ValueError, match=f"mine.yaml: name: one of its own expected, got {got}$"):
        CHECKS["check_files"]([tmp_path / "mine.yaml"])
    copy = tmp_path / "config.yaml"  # as a deployed workflow has it
    copy.write_bytes((ROOT / "config/config.yaml").read_bytes())
    assert CHECKS["check_files"]([copy])[0]["name"] == "paper"


def test_missing_keys_are_refused():
    for key in CONFIG:
        config = {name: value for name, value in CONFIG.items() if name != key}
        assert refusal(config).startswith(f"configuration: {key!r} is a required property; ")


@pytest.mark.workflow
def test_workflow_stops_before_any_job(project):
    """Also at what is wrong with the file alone, and is lost where Snakemake has read it."""
    path = project.folder / "config/bad.yaml"
    path.write_text("name: m\nname: m\n")
    output = project.snakemake("--configfile", path, "--cores", "1", code=1)
    line = f"error: {path}: plain YAML expected: line 2: 'name' stands twice"
    assert line in output.splitlines()
    assert "Snakefile" not in output
    assert not (project.folder / "results").exists()
