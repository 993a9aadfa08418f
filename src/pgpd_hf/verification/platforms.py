"""What decides about the last bits of a number: processor, C library, packages.

Compiled code is made for the processor at hand, NumPy and the linear algebra choose their loops by
it, and logarithms and exponentials come from the C library. Where all of this is as recorded, the
same program gives the same bits.
"""

import platform
from importlib import metadata

import numba
import numpy as np
from llvmlite import binding

from pgpd_hf.support.storage import read_json

PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "pandas", "matplotlib", "pillow")


def describe():
    """Describe this platform.

    Returns
    -------
    dict of str to str
        system, machine, C library, Python, processor (the compiler's name for it), instructions
        (that NumPy uses), and the version of every package that computes or draws.
    """
    instructions = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "C library": " ".join(platform.libc_ver()),
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "processor": numba.config.CPU_NAME or binding.get_host_cpu_name(),
        "instructions": " ".join(instructions),
        **{name: metadata.version(name) for name in PACKAGES},
    }


def differences(path):
    """Compare this platform with a recorded one.

    Parameters
    ----------
    path : pathlib.Path
        JSON file with what :func:`describe` returned.

    Returns
    -------
    list of str
        What differs, such as "processor: znver4 recorded, haswell here".

    Raises
    ------
    DamagedFile
        If the file is not JSON; the message names it.
    """
    recorded, here = read_json(path), describe()
    return [
        f"{name}: {recorded.get(name, 'nothing')} recorded, {here.get(name, 'nothing')} here"
        for name in {**recorded, **here}
        if recorded.get(name) != here.get(name)
    ]
