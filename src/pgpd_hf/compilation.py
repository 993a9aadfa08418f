"""How kernels are compiled, and where Numba keeps compiled kernels.

Numba's cache does not notice that a kernel which another file calls has changed, so its folder is
named after the digest of the package's text. `fastmath` stays off, since results are promised bit
by bit; kernels release the interpreter's lock, since seeds run in threads.
"""

import hashlib
import os
import platform
import sys
import tempfile
import warnings
from functools import cache, partial
from pathlib import Path

import numba
from llvmlite import binding


def _folder():
    """Folder of the cache, beside the source or in the home; None if there is no intact one."""
    # Options of Numba, and of NumPy, since kernels hold tables that it has computed.
    options = [it for it in os.environ.items() if it[0].startswith(("NUMBA_", "NPY_"))]
    digest, here = hashlib.sha256(repr(sorted(options)).encode()), Path(__file__).parent
    for source in sorted(here.glob("*.py")):
        digest.update(source.read_bytes())
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    for base in (here / "__pycache__", Path(home, "pgpd_hf")):
        folder = base / f"kernels-{digest.hexdigest()[:16]}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        # A pickle ends with a full stop.
        if all(it.read_bytes().endswith(b".") for it in folder.rglob("*.nb[ci]")):
            return folder
        warnings.warn(f"{folder}: damaged, so kernels are compiled; remove it", stacklevel=2)
        return None
    warnings.warn("no folder for compiled kernels: each process compiles its own", stacklevel=2)
    return None


FOLDER = _folder()
# Counting references costs a kernel that allocates nothing up to half of its time; this option,
# which Numba does not document, leaves them uncounted. Results are the same without it.
_UNCOUNTED = {"_nrt": False} if numba.version_info.short < (0, 70) else {}


def njit(kernel=None, *, allocates=False, **options):
    """Compile a kernel with Numba; `allocates` says that it makes arrays."""
    if kernel is None:
        return partial(njit, allocates=allocates, **options)
    options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    if not allocates:
        options |= _UNCOUNTED
    users = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(FOLDER)
    try:
        return numba.njit(kernel, cache=FOLDER is not None, **options)
    finally:
        numba.config.CACHE_DIR = users


def machine():
    """Kind of machine; the processor is the one that kernels are compiled for."""
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "C library": " ".join(platform.libc_ver()),
        "processor": numba.config.CPU_NAME or binding.get_host_cpu_name(),
    }


@cache
def announce():
    """Say on the error stream, once, that kernels are being compiled, if none are in the cache."""
    if FOLDER is None or not any(FOLDER.rglob("*.nbi")):
        print("pgpd_hf: compiling kernels, once: about ten seconds", file=sys.stderr)
