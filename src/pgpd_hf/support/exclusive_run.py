"""One run in a folder at a time, and nothing left of one that was killed.

Snakemake's own lock stays behind when its owner is killed, and then stops the next run. The one
here is held by the process itself, so that the kernel gives it back however the process ends.
Snakemake starts jobs as processes of their own, which survive it. They inherit a variable with the
folder's name, by which the next run finds them.
"""

import fcntl
import os
import sys
from pathlib import Path

import psutil

MARK = "PGPD_HF_FOLDER"


class FolderInUse(ValueError):
    """Another run works in the folder; the message names its process."""


def claim(folder="."):
    """Become the only run in a folder, until this process ends.

    Parameters
    ----------
    folder : path-like
        Where the run writes.

    Raises
    ------
    FolderInUse
        If another run works there; the message names its process.
    OSError
        If the folder cannot be written to.
    """
    folder = Path(folder).resolve()
    path = folder / ".snakemake" / "run.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    # A bare descriptor, which nothing closes but the end of the process.
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.read(lock, 100).decode(errors="replace").strip() or "unknown"
        os.close(lock)
        raise FolderInUse(
            f"another run works in {folder} (process {owner}); wait until it ends, or stop it"
        ) from None
    except OSError:
        # Some network file systems have no locks.
        print(f"warning: {folder} cannot be locked; start one run at a time", file=sys.stderr)
    os.ftruncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())


def end_orphans(folder="."):
    """End jobs of a killed run that still work in a folder, and mark those to come.

    Parameters
    ----------
    folder : path-like
        Where the run writes; it has been claimed.

    Returns
    -------
    int
        How many processes were ended.
    """
    folder = str(Path(folder).resolve())
    orphans = [process for process in psutil.process_iter() if _mark_of(process) == folder]
    for orphan in orphans:
        orphan.kill()
    psutil.wait_procs(orphans, timeout=10)
    os.environ[MARK] = folder
    return len(orphans)


def _mark_of(process):
    try:
        return process.environ().get(MARK)
    except (psutil.Error, OSError):
        return None
