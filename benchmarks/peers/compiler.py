"""Peers in C: compiled here with the system's compiler."""

import ctypes
import os
import shlex
import subprocess
import tempfile
from functools import cache
from pathlib import Path


@cache
def compiled(name, *flags):
    """Compile a C file of this folder with ``-O3 -march=native``, by $CC or cc, and load it."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    source = Path(__file__).with_name(name)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "peer.so"
        options = ["-O3", "-march=native", *flags, "-shared", "-fPIC", "-o", str(target)]
        subprocess.run([*compiler, *options, str(source), "-lm"], check=True)
        return ctypes.CDLL(str(target))
