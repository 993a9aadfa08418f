"""The compiler settings shared by all kernels of the package.

Kernels release the global interpreter lock (seeds run in threads) and are cached on disk. Numba
decides whether a cached kernel is stale by looking at the kernel's own file only, not at the files
of the kernels that it calls; the cache folder is therefore named after a digest of all files that
define kernels, so that an edit of one is an edit of all. No `fastmath`: bits are promised.
"""

import hashlib
import os
import tempfile
from functools import partial
from pathlib import Path

import numba


def _cache_folder():
    """First writable of $NUMBA_CACHE_DIR, the user's cache folder and the temporary folder."""
    digest = hashlib.sha256()
    package = Path(__file__).parent
    for source in sorted(package.rglob("*.py")):
        content = source.read_bytes()
        if b"@njit" in content:
            digest.update(source.relative_to(package).as_posix().encode() + content)
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    candidates = [os.environ.get("NUMBA_CACHE_DIR"), home, tempfile.gettempdir()]
    for base in filter(None, candidates):
        folder = Path(base) / "pgpd_hf" / digest.hexdigest()[:16]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return str(folder)
        except OSError:
            continue
    return None


CACHE_FOLDER = _cache_folder()
if CACHE_FOLDER is not None:
    numba.config.CACHE_DIR = CACHE_FOLDER

njit = partial(numba.njit, nogil=True, cache=CACHE_FOLDER is not None, error_model="numpy")
