import json
import re
import subprocess
from base64 import urlsafe_b64encode

import pytest

from replication.files import provenance


@pytest.fixture
def repository(tmp_path):
    """A git repository with one file in one commit."""
    (tmp_path / "file").write_text("content")
    options = ["-c", "user.name=someone", "-c", "user.email=", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q"], ["add", "file"], [*options, "commit", "-qm", "message"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    return tmp_path


@pytest.fixture
def benchmarks(tmp_path):
    """Two jobs of one rule and one of another, and leftovers."""
    jobs = [("x/1", 2.5), ("x/2", 1.5), ("x/3", 4.0)]
    for name, seconds in [*jobs, ("x/old", 100.0), ("y", 100.0)]:
        file = tmp_path / f"{name}.tsv"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"s\th:m:s\n{seconds}\t0:00:01\n")
    files = {"a": ["x/1", "x/2", "x/gone"], "b": ["x/3"], "c": ["none"]}
    return [(rule, str(tmp_path / f"{name}.tsv")) for rule in files for name in files[rule]]


def test_commit_is_that_of_the_folder(repository):
    assert re.fullmatch("[0-9a-f]{40}", provenance.commit(repository))


def test_changed_file_makes_it_dirty(repository):
    (repository / "file").write_text("changed")
    assert re.fullmatch("[0-9a-f]{40}-dirty", provenance.commit(repository))


def test_folder_inside_another_repository_has_no_commit(repository):
    inner = repository / "inner"
    inner.mkdir()
    assert provenance.commit(inner) is None


def test_wall_time_is_summed_by_rule(benchmarks):
    assert provenance.wall_time(benchmarks) == {
        "a": {"jobs": 2, "seconds": 4.0, "longest": 2.5},
        "b": {"jobs": 1, "seconds": 4.0, "longest": 4.0},
    }


def test_no_benchmark_at_all_is_no_time(tmp_path):
    assert provenance.wall_time([("a", tmp_path / "none.tsv")]) == {}


def test_period_reaches_from_the_first_start_to_the_last_end(tmp_path):
    """Whatever the times of the files are, and for those files alone."""
    times = {"results/a.csv": (1002.5, 1003), "results/b ü.csv": (997, 1000), "other": (0, 2000)}
    for name, (start, end) in times.items():
        record = tmp_path / urlsafe_b64encode(name.encode()).decode()
        record.write_text(json.dumps({"starttime": start, "endtime": end}))
    files = ["results/a.csv", "results/b ü.csv"]
    assert provenance.period(files, tmp_path) == {
        "started": "1970-01-01T00:16:37+00:00",
        "finished": "1970-01-01T00:16:43+00:00",
    }


def test_period_of_what_was_run_elsewhere_is_unknown(tmp_path):
    """It is not that of the few jobs that have been run here."""
    record = tmp_path / urlsafe_b64encode(b"results/a.csv").decode()
    record.write_text(json.dumps({"starttime": 1, "endtime": 2}))
    found = provenance.period(["results/a.csv", "results/copied.csv"], tmp_path)
    assert found == {"started": None, "finished": None}


@pytest.mark.parametrize("content", [b"", b"garbage\n", b"s\nxx\n", b"s\n", b"\xff\xfe\x00"])
def test_damaged_benchmark_is_named(tmp_path, content):
    (tmp_path / "run.tsv").write_bytes(content)
    named = (
        rf"^{re.escape(str(tmp_path))}/run\.tsv: not a whole benchmark; delete it and run again$"
    )
    with pytest.raises(ValueError, match=named):
        provenance.wall_time([("run", tmp_path / "run.tsv")])


def test_versions_name_what_results_depend_on():
    assert set(provenance.versions()) == {"python", *provenance.PACKAGES}
    assert all(provenance.machine()[name] for name in ("system", "C library", "processor"))
