import json

import pytest

from pgpd_hf import storage


def test_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "folder" / "table.json"

    def fail():
        with storage.replacing(path) as partial:
            partial.write_text("half of it")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(path.parent.iterdir()) == []
    with storage.replacing(path) as partial:
        partial.write_text("all of it")
        assert not path.exists()
    assert path.read_text() == "all of it"
    assert list(path.parent.iterdir()) == [path]


def test_json_keeps_every_bit_and_refuses_what_json_cannot_say(tmp_path):
    number = 0.1 + 0.2
    storage.write_json(tmp_path / "a.json", {"x": number})
    assert storage.read_json(tmp_path / "a.json")["x"] == number
    with pytest.raises(ValueError, match="not JSON compliant"):
        storage.write_json(tmp_path / "b.json", float("nan"))
    assert not (tmp_path / "b.json").exists()


def test_truncated_json_is_named(tmp_path):
    path = tmp_path / "steps.json"
    path.write_text(json.dumps({"primal_step": 1})[:-3])
    with pytest.raises(
        ValueError, match=r"steps\.json: not a JSON file .* delete it and run again"
    ):
        storage.read_json(path)
