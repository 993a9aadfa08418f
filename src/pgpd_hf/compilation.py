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


def _folder():
    """Folder of the cache: the first candidate that is writable and private."""
    # NumPy's options, too, since kernels hold tables that it has computed.
    names = [key for key in os.environ if key.startswith(("NUMBA_", "NPY_"))]
    options = [(key, os.environ[key]) for key in sorted(names) if key != "NUMBA_CACHE_DIR"]
    digest = hashlib.sha256(repr((numba.__version__, sys.version, options)).encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    user = os.getuid() if hasattr(os, "getuid") else None  # which Windows does not have
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    bases = [Path(it, "pgpd_hf") for it in (os.environ.get("NUMBA_CACHE_DIR"), home) if it]
    for base in [*bases, Path(tempfile.gettempdir(), f"pgpd_hf-{user}")]:
        folder = base / digest.hexdigest()[:16]
        try:
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = base.stat()
            private = user is None or (status.st_uid == user and not status.st_mode & 0o022)
            if not private or shutil.disk_usage(base).free < _ROOM:
                continue
            folder.mkdir(exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    warnings.warn("no folder for compiled kernels: each process compiles its own", stacklevel=2)
    return None


def _intact(folder):
    """Whether no file of the cache is cut off: a pickle ends with a full stop."""
    damaged = [it for it in folder.rglob("*.nb[ci]") if not it.read_bytes().endswith(b".")]
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
