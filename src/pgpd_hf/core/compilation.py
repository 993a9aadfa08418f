"""Settings of the compiler, shared by all kernels of the package.

Kernels release the global interpreter lock, since seeds run in threads, and are cached on disk.
Numba recompiles a cached kernel if the kernel's own file has changed, but not if only the file of a
kernel that it calls has. The cache folder is therefore named after a digest of all files that
define kernels, and copies of the project that agree in these share what one of them has compiled:
Numba alone would keep a cache for every absolute path. `fastmath` stays off, since results are
promised to the bit.

Several machines must not share a cache on a network file system, where locks do not work and
half-written files are visible. Folders on such a file system are skipped: on a cluster, each node
compiles the kernels once, into its temporary folder.
"""

import hashlib
import os
import tempfile
from functools import partial
from pathlib import Path

import numba
from numba.core.caching import UserProvidedCacheLocator

_PACKAGE = Path(__file__).parents[1]
_REMOTE = (
    *("9p", "afs", "beegfs", "ceph", "cifs", "fuse.", "gfs", "glusterfs", "gpfs", "lustre", "nfs"),
    *("ocfs2", "orangefs", "panfs", "pvfs2", "smb", "wekafs"),
)


def _cache_folder():
    """Choose $NUMBA_CACHE_DIR or the user's cache or temporary folder: a local, writable one."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(_PACKAGE.rglob("*.py")):
        content = source.read_bytes()
        if b"@njit" in content:
            digest.update(source.relative_to(_PACKAGE).as_posix().encode() + content)
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    # Cached code is executed, so a folder inside a shared one has to belong to the user.
    own = f"pgpd_hf-{os.getuid()}"
    candidates = [
        Path(base) / "pgpd_hf" for base in (os.environ.get("NUMBA_CACHE_DIR"), home) if base
    ]
    candidates += [Path(base) / own for base in (tempfile.gettempdir(), "/tmp", "/dev/shm")]
    for base in candidates:
        folder = base / digest.hexdigest()[:16]
        try:
            if _is_remote(base):
                continue
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            if base.stat().st_uid != os.getuid():
                continue
            folder.mkdir(exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return str(folder)
        except OSError:
            continue
    return None


def _is_remote(path, mounts="/proc/self/mounts"):
    """Whether a folder is on a network file system; it need not exist. Only Linux can tell."""
    try:
        lines = Path(mounts).read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    kinds = {fields[1]: fields[2] for fields in map(str.split, lines)}
    place = Path(path).resolve()
    kind = next(
        (kinds[str(folder)] for folder in (place, *place.parents) if str(folder) in kinds), ""
    )
    return kind.startswith(_REMOTE)


class PackageLocator(UserProvidedCacheLocator):
    """Tells Numba where a kernel is cached: by the place of its file in the package."""

    @classmethod
    def get_suitable_cache_subpath(cls, py_file):
        """Folder, as text, below the cache folder; for files from elsewhere, what Numba takes."""
        folder = Path(py_file).parent
        if folder.is_relative_to(_PACKAGE):
            return str(folder.relative_to(_PACKAGE))
        return super().get_suitable_cache_subpath(py_file)


CACHE_FOLDER = _cache_folder()
if CACHE_FOLDER is not None:
    numba.config.CACHE_DIR = CACHE_FOLDER
    # Numba 0.61 does not look at this yet, and compiles for every copy of the project.
    numba.config.CACHE_LOCATOR_CLASSES = f"{__name__}.{PackageLocator.__name__}"

njit = partial(numba.njit, nogil=True, cache=CACHE_FOLDER is not None, error_model="numpy")
