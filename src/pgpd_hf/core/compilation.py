"""Settings of the compiler, shared by all kernels of the package, and their cache on disk.

Kernels release the global interpreter lock, since seeds run in threads. `fastmath` stays off, since
results are promised to the bit.

The cache is not Numba's, which trusts its files: a truncated one ends the program, and a kernel is
not compiled again if only a kernel that it calls has changed. Here a folder is named after the
digest of all files that define kernels and of what compiles them, so copies of the project that
agree in these share it. A file begins with the digest of its content and is believed only if that
is right. Whatever cannot be read is compiled again, and what cannot be written stays in memory.

Several machines must not share a cache on a network file system, where half-written files are
visible. Folders on such a file system are skipped: on a cluster, each node compiles the kernels
once, into its temporary folder.
"""

import hashlib
import logging
import os
import pickle
import shutil
import sys
import tempfile
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

import numba
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

_LOG = logging.getLogger(__name__)
_PACKAGE = Path(__file__).parents[1]
_ROOM = 32 * 2**20  # bytes: several times what all kernels take
_REMOTE = (
    *("9p", "afs", "beegfs", "ceph", "cifs", "fuse.", "gfs", "glusterfs", "gpfs", "lustre", "nfs"),
    *("ocfs2", "orangefs", "panfs", "pvfs2", "smb", "wekafs"),
)


def _cache_folder():
    """Choose $NUMBA_CACHE_DIR or the user's cache or temporary folder: a local, writable one."""
    options = {key: value for key, value in os.environ.items() if key.startswith("NUMBA_")}
    for name in ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS"):  # which do not change what is compiled
        options.pop(name, None)
    compiler = (sys.version, numba.__version__, numba.config.USING_SVML, sorted(options.items()))
    digest = hashlib.sha256(repr(compiler).encode())
    for source in sorted(_PACKAGE.rglob("*.py")):
        # An editor's lock has such a name as well, but is a link to nowhere.
        if source.is_file() and b"@njit" in (content := source.read_bytes()):
            digest.update(source.relative_to(_PACKAGE).as_posix().encode() + content)
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    own = f"pgpd_hf-{os.getuid()}" if hasattr(os, "getuid") else "pgpd_hf"
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
            if not _is_private(base) or shutil.disk_usage(base).free < _ROOM:
                continue
            folder.mkdir(exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return None


def _is_private(folder):
    """Whether nobody else can have put files there: cached code is executed."""
    if not hasattr(os, "getuid"):  # on Windows, where these folders are the user's own
        return True
    status = folder.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


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


class _Cache(NullCache):
    """What has been compiled of a kernel, on disk: a file for each signature and processor."""

    def __init__(self, kernel):
        self._name = f"{kernel.__module__}.{kernel.__qualname__}"
        # The name of the folder stands for the package's own files; a kernel may be from elsewhere.
        self._source = Path(kernel.__code__.co_filename).read_bytes()

    def _place(self, signature, codegen):
        """File, and what is digested before its content: that it is this kernel's."""
        parts = (self._name, signature, codegen.magic_tuple())
        key = repr(parts).encode() + self._source
        return CACHE_FOLDER / f"{self._name}-{hashlib.sha256(key).hexdigest()[:16]}", key

    def load_overload(self, sig, target_context):
        """Compiled code, or None if there is none that can be believed."""
        rtsys.initialize(target_context)  # where kernels allocate; the rest only compiling needs
        path, key = self._place(sig, target_context.codegen())
        try:
            content = path.read_bytes()
            if hashlib.sha256(key + content[32:]).digest() == content[:32]:
                return CompileResult._rebuild(target_context, *pickle.loads(content[32:]))
            _say("damaged")
        except FileNotFoundError:
            pass
        except OSError as error:
            _say(error.strerror)
        except Exception:  # written by something else that calls itself the same version
            _say("unreadable")
        return None

    def save_overload(self, sig, cres):
        """Write compiled code, whole or not at all."""
        if cres.library.has_dynamic_globals:  # addresses, which are of this process alone
            return
        path, key = self._place(sig, cres.codegen)
        content = dumps(cres._reduce())
        unfinished = path.with_name(f"{path.name}.{os.urandom(8).hex()}")
        try:
            unfinished.write_bytes(hashlib.sha256(key + content).digest() + content)
            unfinished.replace(path)
        except OSError as error:
            _say(error.strerror)
            with suppress(OSError):
                unfinished.unlink()


@cache
def _say(reason):
    """Say what is wrong with the cache, once in a process: it is likely to be so for all files."""
    _LOG.warning("warning: %s: %s; kernels are compiled without this cache", CACHE_FOLDER, reason)


def njit(kernel=None, **options):
    """Compile a kernel; options are Numba's."""
    if kernel is None:
        return partial(njit, **options)
    compiled = numba.njit(kernel, nogil=True, error_model="numpy", **options)
    if CACHE_FOLDER is not None:
        compiled._cache = _Cache(kernel)
    return compiled


CACHE_FOLDER = _cache_folder()
