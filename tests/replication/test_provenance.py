import os
import re
import subprocess

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
    """Two jobs of one rule and one of another, which ended at known times, and leftovers."""
    jobs = [("x/1", 2.5, 1000), ("x/2", 1.5, 1003), ("x/3", 4.0, 1001)]
    for name, seconds, end in [*jobs, ("x/old", 100.0, 10), ("y", 100.0, 5000)]:
        file = tmp_path / f"{name}.tsv"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"s\th:m:s\n{seconds}\t0:00:01\n")
        os.utime(file, (end, end))
    files = {"a": ["x/1", "x/2", "x/gone"], "b": ["x/3"], "c": ["none"]}
    return {rule: [str(tmp_path / f"{name}.tsv") for name in files[rule]] for rule in files}


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


def test_no_benchmark_at_all_is_refused(tmp_path):
    assert provenance.wall_time({"a": [tmp_path / "none.tsv"]}) == {}
    with pytest.raises(ValueError, match=r"^no benchmark file"):
        provenance.period({"a": [tmp_path / "none.tsv"]})


def test_period_reaches_from_the_first_start_to_the_last_end(benchmarks):
    assert provenance.period(benchmarks) == {
        "started": "1970-01-01T00:16:37+00:00",
        "finished": "1970-01-01T00:16:43+00:00",
    }


def test_versions_name_what_results_depend_on():
    assert set(provenance.versions()) == {"python", *provenance.PACKAGES}
    assert all(provenance.machine()[name] for name in ("system", "C library", "processor"))
