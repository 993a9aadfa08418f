"""The cache of compiled kernels: local, and one's own."""

import os

import pytest

from pgpd_hf.core import compilation

MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/data /data nfs4 rw 0 0
server:/ /data/local xfs rw 0 0
lustre@o2ib:/work /scratch lustre rw 0 0
tmpfs /tmp tmpfs rw 0 0
"""


@pytest.mark.parametrize(
    ("folder", "remote"),
    [
        ("/", False),
        ("/tmp/pgpd_hf", False),
        ("/data", True),
        ("/data/me/.cache/pgpd_hf", True),
        ("/data/local/me", False),
        ("/database", False),
        ("/scratch/me", True),
    ],
)
def test_network_file_systems_are_told_from_local_ones(tmp_path, folder, remote):
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)
    assert compilation._is_remote(folder, mounts) is remote


def test_where_mounts_are_unknown_every_folder_is_local(tmp_path):
    assert not compilation._is_remote("/data", tmp_path / "missing")


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Folders of a user whose temporary folder is empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(compilation.tempfile, "gettempdir", lambda: str(tmp_path / "node"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    return tmp_path / "node" / f"pgpd_hf-{os.getuid()}"


def test_user_cache_is_passed_over_on_a_network(tmp_path, monkeypatch, temporary):
    assert compilation._cache_folder().startswith(str(tmp_path / "home"))
    monkeypatch.setattr(
        compilation, "_is_remote", lambda path: str(path).startswith(str(tmp_path / "home"))
    )
    assert compilation._cache_folder().startswith(str(temporary))
    assert temporary.stat().st_mode & 0o777 == 0o700


def test_folder_of_another_user_is_not_believed(monkeypatch, temporary):
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    monkeypatch.setattr(compilation, "_is_remote", lambda path: path.parent != temporary.parent)
    assert compilation._cache_folder().startswith(str(temporary))
    someone = os.getuid() + 1
    monkeypatch.setattr(compilation.os, "getuid", lambda: someone)
    temporary.with_name(f"pgpd_hf-{someone}").mkdir()
    assert compilation._cache_folder() is None
