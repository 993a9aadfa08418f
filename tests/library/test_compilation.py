"""The cache of compiled kernels: local, one's own, and believed only if nothing has altered it."""

import os
import shutil
import subprocess
import sys

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
    assert compilation._cache_folder().is_relative_to(tmp_path / "home")
    monkeypatch.setattr(
        compilation, "_is_remote", lambda path: str(path).startswith(str(tmp_path / "home"))
    )
    assert compilation._cache_folder().is_relative_to(temporary)
    assert temporary.stat().st_mode & 0o777 == 0o700


def test_folder_of_another_user_is_not_believed(monkeypatch, temporary):
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    monkeypatch.setattr(compilation, "_is_remote", lambda path: path.parent != temporary.parent)
    assert compilation._cache_folder().is_relative_to(temporary)
    someone = os.getuid() + 1
    monkeypatch.setattr(compilation.os, "getuid", lambda: someone)
    temporary.with_name(f"pgpd_hf-{someone}").mkdir()
    assert compilation._cache_folder() is None


def test_folder_that_others_may_write_to_or_that_is_full_is_passed_over(monkeypatch, temporary):
    home = temporary.parents[1] / "home" / "pgpd_hf"
    home.mkdir(parents=True)
    home.chmod(0o775)
    assert compilation._cache_folder().is_relative_to(temporary)
    home.chmod(0o755)
    assert compilation._cache_folder().is_relative_to(home)
    usage = shutil.disk_usage(home)
    full = usage._replace(free=2**20)
    monkeypatch.setattr(
        compilation.shutil, "disk_usage", lambda path: full if path == home else usage
    )
    assert compilation._cache_folder().is_relative_to(temporary)


def test_options_of_the_compiler_have_a_cache_each(monkeypatch, temporary):
    folder = compilation._cache_folder()
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert compilation._cache_folder() == folder
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert compilation._cache_folder() != folder


def double(number):
    return 2 * number


def triple(number):
    return 3 * number


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """The folder of a cache with two kernels."""
    compilation._say.cache_clear()
    monkeypatch.setattr(compilation, "CACHE_FOLDER", tmp_path)
    assert (compiled(double), compiled(triple)) == ((4, 0), (6, 0))
    assert (compiled(double), compiled(triple)) == ((4, 1), (6, 1))
    return tmp_path


def compiled(function):
    """Twice or three times two, and how often the code came from the cache."""
    kernel = compilation.njit(function)
    return kernel(2), sum(kernel.stats.cache_hits.values())


def flip(path, other):
    content = path.read_bytes()
    path.write_bytes(content[:-99] + bytes([content[-99] ^ 1]) + content[-98:])


def replace_by_folder(path, other):
    path.unlink()
    path.mkdir()


DAMAGES = {
    "a flipped bit": (flip, "damaged"),
    "cut short": (lambda path, other: os.truncate(path, 500), "damaged"),
    "empty": (lambda path, other: os.truncate(path, 0), "damaged"),
    "another kernel's": (lambda path, other: shutil.copy(other, path), "damaged"),
    "a folder": (replace_by_folder, "Is a directory"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_cache_is_no_cache_and_heals(cached, caplog, damage):
    paths = [next(cached.glob(f"*{function.__name__}*")) for function in (double, triple)]
    alter, reason = DAMAGES[damage]
    alter(*paths)
    assert compiled(double) == (4, 0)
    line = f"warning: {cached}: {reason}; kernels are compiled without this cache"
    assert caplog.messages == [line]
    if paths[0].is_file():
        assert compiled(double) == (4, 1)
    assert sorted(cached.iterdir()) == sorted(paths)


def test_full_disk_leaves_kernels_in_memory(cached, caplog, monkeypatch):
    def fill(path, content):
        open(path, "w").close()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compilation.Path, "write_bytes", fill)
    shutil.rmtree(cached)
    cached.mkdir()
    assert (compiled(double), compiled(triple)) == ((4, 0), (6, 0))
    assert caplog.messages == [
        f"warning: {cached}: No space left on device; kernels are compiled without this cache"
    ]
    assert list(cached.iterdir()) == []


OTHER_SYSTEM = """
import os, sys
import numba, scipy.stats, pandas
del os.getuid
sys.modules["fcntl"] = None

import pgpd_hf

options = {"evaluators": 4, "iterations": 3}
pgpd_hf.random_cmdp(2, 2, 1).save("cmdp.npz")
cmdp = pgpd_hf.CMDP.load("cmdp.npz")
steps = pgpd_hf.choose_steps(cmdp, "zpgpd_hf", seeds=1, threads=2, **options)
trace, policies = pgpd_hf.run(
    cmdp, "zpgpd_hf", seeds=[0, 1], threads=2, return_policies=True, **options, **steps
)
pgpd_hf.certify(cmdp, policies[0], answers=10, seed=0)
print(trace["iteration"].max(), pgpd_hf.core.compilation.CACHE_FOLDER)
"""


def test_library_runs_on_other_systems_and_beside_locks_of_an_editor(tmp_path):
    package = tmp_path / "pgpd_hf"
    shutil.copytree(compilation._PACKAGE, package)
    (package / "core/.#cmdp.py").symlink_to("me@machine.1234:567")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)
    environment["NUMBA_DISABLE_JIT"] = "1"  # to compile everything again takes long
    command = [sys.executable, "-c", OTHER_SYSTEM]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"3 {tmp_path}")
