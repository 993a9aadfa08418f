"""Sampling alone, with AVX-512, which no whole program can be faster than: see ``limit.c``."""

import ctypes
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from llvmlite.binding import get_host_cpu_features

from benchmarks.peers.compiler import compiled
from pgpd_hf.core.sampling import alias_table

TRAJECTORIES = 64  # that ``limit.c`` samples at once
_ARRAYS = ("cumulative", "keep", "alias", "reward", "utility")


class _Model(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in _ARRAYS),
        *((name, ctypes.c_int) for name in ("states", "actions", "steps")),
        ("discount", ctypes.c_float),
    )


def run(task, seeds, iterations, cores):
    """Take as many steps as the runs would, with the uniform policy; return mean returns."""
    if not get_host_cpu_features().get("avx512f"):
        sys.exit("this processor has no AVX-512")
    library = compiled("limit.c", "-mavx512f")
    arrays = tables(task)
    states, actions = task.reward.shape
    model = _Model(
        **{name: array.ctypes.data for name, array in arrays.items()},
        states=states,
        actions=actions,
        steps=task.horizon + 1,
        discount=task.discount,
    )
    count = iterations * task.steps_per_iteration // (task.horizon + 1)
    groups = -(-count // TRAJECTORIES)
    summary = np.full((len(seeds), 5), np.nan)

    def sample(index):
        random = np.random.default_rng(seeds[index])
        state = random.integers(1, 2**32, 2 * TRAJECTORIES, dtype=np.uint32)
        totals = np.zeros(2)
        pointers = (ctypes.c_void_p(array.ctypes.data) for array in (state, totals))
        state_pointer, totals_pointer = pointers
        library.sample(ctypes.byref(model), state_pointer, ctypes.c_long(groups), totals_pointer)
        summary[index, :2] = totals / (groups * TRAJECTORIES)

    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(sample, range(len(seeds))))
    return summary


def tables(task):
    """Arrays of ``limit.c``'s model, by name."""
    states, actions = task.reward.shape
    entries = np.array([alias_table(row) for row in task.transition.reshape(-1, states)])
    cumulative = np.arange(1, actions + 1) / actions * 2.0**32
    return {
        "cumulative": np.tile(np.minimum(cumulative, 2**32 - 1).astype(np.uint32), (states, 1)),
        "keep": (entries >> np.uint64(32)).astype(np.uint32),
        "alias": (entries & np.uint64(2**32 - 1)).astype(np.int32),
        "reward": task.reward.astype(np.float32),
        "utility": task.utility.astype(np.float32),
    }
