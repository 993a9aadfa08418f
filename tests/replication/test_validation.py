"""Files of settings: read as data and nothing else, refused in one line."""

import math
import os
import re

import pytest

from replication.files import validation

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["seeds"],
    "properties": {
        "seeds": {"type": "integer", "minimum": 1, "maximum": 9},
        "rate": {"type": ["number", "null"], "exclusiveMinimum": 0},
        "name": {"type": "string", "pattern": "^[a-z]+$", "expected": "small letters"},
        "kind": {"enum": ["a", "b"]},
        "list": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "uniqueItems": True},
        "either": {"anyOf": [{"type": "integer", "minimum": 0}, {"enum": ["all"]}]},
        "table": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"rate": 0.5},
        {"rate": 1},
        {"rate": None},
        {"name": "abc"},
        {"kind": "b"},
        {"list": [1, 2]},
        {"either": 3},
        {"either": "all"},
        {"table": {"x": 1}},
    ],
    ids=str,
)
def test_what_follows_the_schema_passes(more):
    validation.conform({"seeds": 3, **more}, SCHEMA)


@pytest.mark.parametrize(
    ("value", "schema", "demand"),
    [
        ([], {"minItems": 1}, "at least one entry"),
        ([], {"minItems": 11}, "at least 11 entries"),
        ({}, {"minProperties": 1}, "at least one entry"),
        ("", {"minLength": 1}, "at least one character"),
    ],
)
def test_demands_of_one_are_in_the_singular(value, schema, demand):
    with pytest.raises(ValueError, match=f"^it: {demand} expected, got"):
        validation.conform(value, schema, "it")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"seeds": 0}, "seeds: at least 1 expected, got 0"),
        ({"seeds": 3.0}, "seeds: integer expected, got 3.0"),
        ({"seeds": True}, "seeds: integer expected, got True"),
        ({"rate": math.nan}, "rate: number or null expected, got nan"),
        ({"rate": math.inf}, "rate: number or null expected, got inf"),
        ({"rate": False}, "rate: number or null expected, got False"),
        ({"rate": 0}, "rate: more than 0 expected, got 0"),
        ({"rate": "5e-1"}, "rate: number or null expected, got '5e-1'; write 0.5"),
        ({"rate": "1e-9"}, "rate: number or null expected, got '1e-9'; write 1.0e-09"),
        ({"name": "A"}, "name: small letters expected, got 'A'"),
        ({"name": "a\n"}, r"name: small letters expected, got 'a\n'"),
        ({"kind": "c"}, "kind: a or b expected, got 'c'"),
        ({"list": [1]}, "list: at least 2 entries expected, got [1]"),
        ({"list": [1, 1]}, "list: no repetition expected, got [1, 1]"),
        ({"list": [1, "b"]}, "list.1: integer expected, got 'b'"),
        ({"either": -1}, "either: at least 0 expected, got -1"),
        ({"either": "some"}, "either: integer or all expected, got 'some'"),
        ({"table": {"x": "y"}}, "table.x: integer expected, got 'y'"),
        (
            {"sedes": 3},
            "configuration: unknown key 'sedes' (did you mean 'seeds'?); allowed are either, kind, "
            "list, name, rate, seeds, table",
        ),
        ({"colour": 3}, "configuration: unknown key 'colour'; allowed are either, kind, list, "),
    ],
    ids=str,
)
def test_what_does_not_is_refused_in_one_line(more, message):
    with pytest.raises(ValueError, match=r".") as refusal:
        validation.conform({"seeds": 3, **more}, SCHEMA)
    assert str(refusal.value).startswith(message)
    assert "\n" not in str(refusal.value)


def test_missing_key_is_named():
    with pytest.raises(ValueError, match=r"^configuration: the key 'seeds' is missing$"):
        validation.conform({}, SCHEMA)


def test_place_of_the_content_stands_before_its_keys():
    with pytest.raises(ValueError, match=r"^grid\.mine\.seeds: at least 1"):
        validation.conform({"seeds": 0}, SCHEMA, "grid.mine")
    with pytest.raises(ValueError, match=r"^grid: the key 'seeds' is missing$"):
        validation.conform({}, SCHEMA, "grid")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seeds: 1\nseeds: 2\n", "not YAML: line 2: the key 'seeds' stands twice"),
        ("a:\n  b: 1\n  b: 2\n", "not YAML: line 3: the key 'b' stands twice"),
        ("a: [1\n", "not YAML: line"),
        ("a: !!python/object/apply:os.getcwd []\n", "not YAML: line 1: could not determine"),
        ("- 1\n", "keys and values expected, got a list"),
        ("", "keys and values expected, got None"),
        ("__use_yte__: true\n", "a template (__use_yte__), where only data is allowed"),
    ],
)
def test_file_that_holds_anything_but_data_is_refused(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r".") as refusal:
        validation.read(path)
    assert str(refusal.value).startswith(f"{path}: {message}")
    assert "\n" not in str(refusal.value)


def test_file_that_is_missing_or_no_text_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"none\.yaml: No such file or directory$"):
        validation.read(tmp_path / "none.yaml")
    (tmp_path / "mine.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"mine\.yaml: not YAML: "):
        validation.read(tmp_path / "mine.yaml")


def test_equal_keys_of_different_tables_and_kinds_are_read(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text('a: {x: 1}\nb: {x: 2}\n1: c\n"1": d\n')
    assert validation.read(path) == {"a": {"x": 1}, "b": {"x": 2}, 1: "c", "1": "d"}


def test_errors_for_people_are_one_line_and_others_keep_their_traceback():
    with pytest.raises(SystemExit) as end, validation.one_line(OSError):
        raise OSError("a.csv: altered")
    assert end.value.code == "error: a.csv: altered"
    with pytest.raises(KeyError), validation.one_line(OSError):
        raise KeyError("a mistake of ours")


BOMB = "\n".join(["- &a0 [x]", *(f"- &a{k + 1} [{', '.join([f'*a{k}'] * 10)}]" for k in range(40))])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: " + "[" * 2_000, "not YAML: tables and lists nested more than 100 levels deep"),
        (BOMB, "keys and values expected, got a list"),
        ("study: &mine\n  again: *mine\n", "not YAML: 'mine' holds itself"),
    ],
    ids=["deep", "bomb", "recursive"],
)
def test_file_that_would_take_all_memory_is_refused(tmp_path, text, message):
    path = tmp_path / "study.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^{path}: {message}$"):
        validation.read(path)


def test_link_to_nothing_is_named(tmp_path):
    path = tmp_path / "study.yaml"
    path.symlink_to("nowhere.yaml")
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: No such file or directory$"):
        validation.read(path)


def test_pipe_is_refused_where_reading_it_would_wait_for_ever(tmp_path):
    os.mkfifo(tmp_path / "mine.yaml")
    with pytest.raises(ValueError, match=r"mine\.yaml: a file expected, got a pipe$"):
        validation.read(tmp_path / "mine.yaml")
