"""How kernels are compiled, and where compiled kernels are kept.

Numba's cache does not notice that a kernel which another file calls has changed, and it believes
whatever it finds. So the cache's folder is named after the digest of the package's text, lies where
nobody else can write, and is left aside if a file in it is cut off. `fastmath` stays off, since
results are promised bit by bit; kernels release the interpreter's lock, since seeds run in threads.
"""

import hashlib
import os
import shutil
import sys
import tempfile
import warnings
from functools import cache, partial
from pathlib import Path

import numba

_ROOM = 32 * 2**20  # bytes that the cache's disk has to have left
_PACKAGE = Path(__file__).parent


def _candidates():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    bases = [Path(base) for base in (os.environ.get("NUMBA_CACHE_DIR"), home) if base]
    own = f"{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    return [base / "pgpd_hf" for base in bases] + [Path(tempfile.gettempdir(), f"pgpd_hf-{own}")]


def _folder():
    """Folder of the cache: the first candidate that is writable and private."""
    # NumPy's, too, since kernels hold tables that it has computed.
    prefixes = ("NUMBA_", "NPY_")
    options = {key: value for key, value in os.environ.items() if key.startswith(prefixes)}
    options.pop("NUMBA_CACHE_DIR", None)
    compiler = (numba.__version__, sys.version, sorted(options.items()))
    digest = hashlib.sha256(repr(compiler).encode())
    for source in sorted(_PACKAGE.glob("*.py")):
        digest.update(source.read_bytes())
    for base in _candidates():
        folder = base / digest.hexdigest()[:16]
        try:
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = base.stat()
            own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
            if not own or status.st_mode & 0o022 or shutil.disk_usage(base).free < _ROOM:
                continue
            folder.mkdir(exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    warnings.warn("no folder for compiled kernels: each process compiles its own", stacklevel=2)
    return None


def _is_whole(path):
    """Whether a file of the cache is not cut off: a pickle ends with a full stop."""
    content = path.read_bytes()
    return content.endswith(b".")


def _intact(folder):
    damaged = [path for path in folder.rglob("*.nb[ci]") if not _is_whole(path)]
    if damaged:
        warnings.warn(f"{folder}: damaged, so kernels are compiled; remove it", stacklevel=2)
    return not damaged


FOLDER = _folder()
_CACHED = FOLDER is not None and _intact(FOLDER)
# Counting references costs a kernel that allocates nothing up to half of its time; this option,
# which Numba does not document, leaves them uncounted. Results are the same without it.
_UNCOUNTED = {"_nrt": False} if numba.version_info.short < (0, 70) else {}


def njit(kernel=None, *, allocates=False, **options):
    """Compile a kernel with Numba; those that make arrays say so by `allocates`."""
    if kernel is None:
        return partial(njit, allocates=allocates, **options)
    options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    if not allocates:
        options |= _UNCOUNTED
    users = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(FOLDER)
    try:
        return numba.njit(kernel, cache=_CACHED, **options)
    finally:
        numba.config.CACHE_DIR = users


@cache
def announce():
    """Say on the error stream, once, that kernels are being compiled, if none are in the cache."""
    if not (_CACHED and any(FOLDER.rglob("*.nbi"))):
        print("pgpd_hf: compiling kernels, once: about ten seconds", file=sys.stderr)
