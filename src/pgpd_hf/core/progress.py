"""Progress of what takes long: a bar, a function that is told, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

from pgpd_hf.core.arguments import shown


class Progress:
    """Counts what is done, from any thread, and tells whoever wants to know.

    Parameters
    ----------
    wanted : bool or callable
        True draws a bar on the error stream; a function is called with what is done so far and with
        all that is known to be needed, which may grow; False tells nobody.
    unit : str
        What is counted.

    Raises
    ------
    ValueError
        If `wanted` is something else.

    Examples
    --------
    >>> from pgpd_hf.core.progress import Progress
    >>> with Progress(lambda done, total: print(done, "of", total), "runs") as progress:
    ...     progress.add(needed=3)
    ...     progress.add(2)
    0 of 3
    2 of 3
    """

    def __init__(self, wanted: bool | Callable[[int, int], Any], unit: str) -> None:
        if not (isinstance(wanted, bool) or callable(wanted)):
            raise ValueError(
                f"progress: True, False or a function of what is done and of what is needed "
                f"expected, got {shown(wanted)}"
            )
        self._wanted, self._unit, self._lock = wanted, unit, Lock()
        self._done = self._total = 0
        self._bar: Any = None

    def __enter__(self) -> Progress:
        if self._wanted is True:
            from tqdm import tqdm  # slow to import, and needed here only

            self._bar = tqdm(total=0, unit=f" {self._unit}")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def add(self, done: int = 0, needed: int = 0) -> None:
        """Say that more is done, or that more is needed."""
        if self._wanted is False or not (done or needed):
            return
        with self._lock:  # so that what is told never decreases
            self._done += done
            self._total += needed
            if self._bar is not None:
                self._bar.total = self._total
                self._bar.update(done)
                if needed:
                    self._bar.refresh()
            else:
                self._wanted(self._done, self._total)  # type: ignore[operator]
