"""C, compiled here with ``-O3 -march=native``: see ``c_loop.c``."""

import ctypes
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from benchmarks.peers.compiler import compiled

_POINTERS = ("transition", "reward", "utility", "initial")
_INTEGERS = ("natural", "states", "actions", "evaluators", "rounds", "horizon")
_DOUBLES = ("discount", "threshold", "bound")
_STEPS = ("primal_step", "dual_step", "multiplier_bound", "perturbation")


class _Task(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in _POINTERS),
        *((name, ctypes.c_int) for name in _INTEGERS),
        *((name, ctypes.c_double) for name in _DOUBLES + _STEPS),
    )


def run(task, seeds, iterations, cores):
    """Run every seed, on several cores in as many threads (ctypes releases the lock)."""
    library = compiled("c_loop.c")
    arrays = {name: np.ascontiguousarray(getattr(task, name), float) for name in _POINTERS}
    states, actions = task.reward.shape
    native = _Task(
        **{name: array.ctypes.data for name, array in arrays.items()},
        natural=task.algorithm == "npgpd_hf",
        states=states,
        actions=actions,
        bound=task.return_bound,
        **{
            name: getattr(task, name)
            for name in ("evaluators", "rounds", "horizon", "discount", "threshold", *_STEPS)
        },
    )
    traces = np.empty((len(seeds), iterations + 1, 3))

    def simulate(index):
        trace = ctypes.c_void_p(traces[index].ctypes.data)
        library.run(ctypes.byref(native), ctypes.c_uint64(seeds[index]), iterations, trace)

    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(simulate, range(len(seeds))))
    return np.concatenate([traces[:, -1], traces[:, :, :2].mean(axis=1)], axis=1)
