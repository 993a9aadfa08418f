"""Where no Slurm can be started, one line says why."""

import cluster
import pytest


@pytest.fixture
def ready(monkeypatch, tmp_path):
    """A machine on which nothing is in the way."""
    monkeypatch.setattr(cluster.os, "geteuid", lambda: 0)
    monkeypatch.setattr(cluster, "LINK", tmp_path / "slurm.conf")
    monkeypatch.setattr(cluster.shutil, "which", lambda name: f"/usr/sbin/{name}")


def test_nothing_is_in_the_way(ready):
    assert cluster.obstacle() is None


def test_only_root_starts_a_slurm(ready, monkeypatch):
    monkeypatch.setattr(cluster.os, "geteuid", lambda: 1000)
    assert cluster.obstacle() == "a Slurm of one's own needs root"


def test_missing_packages_are_named_with_the_command(ready, monkeypatch):
    there = {"munged", "slurmd", "sbatch", "mariadbd"}
    monkeypatch.setattr(cluster.shutil, "which", lambda name: name if name in there else None)
    assert cluster.obstacle() == (
        "not installed: apt-get install --no-install-recommends slurmctld slurmdbd"
    )


def test_the_slurm_of_the_machine_is_left_alone(ready, tmp_path):
    (tmp_path / "slurm.conf").symlink_to("elsewhere")
    assert cluster.obstacle() == f"{tmp_path / 'slurm.conf'} belongs to another Slurm"
