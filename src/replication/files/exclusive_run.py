"""One run in a folder at a time, and no process left over from a run that was killed.

Snakemake's own lock is a file, which stays behind when Snakemake is killed and then stops the next
run. The lock here belongs to the process, so the kernel releases it however the process ends. Jobs
are processes of their own and may outlive Snakemake. They inherit an environment variable that
identifies the folder, and the next run finds them by it.
"""

import fcntl
import os
import sys
from contextlib import suppress
from pathlib import Path

import psutil

MARK = "PGPD_HF_FOLDER"


def claim(folder="."):
    """Lock a folder until this process ends, unless another process holds the lock."""
    folder = Path(folder).resolve()
    path = folder / ".snakemake" / "run.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    # Only the descriptor's number: a file object would release the lock when it is collected.
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.read(lock, 20).decode().strip() or "unknown"
        os.close(lock)
        raise OSError(
            f"another run works in {folder} (process {owner}); wait until it ends, stop it, or "
            "give this one a folder of its own by --directory"
        ) from None
    except OSError:  # some network file systems have no locks
        print(f"note: {folder} cannot be locked; start one run at a time", file=sys.stderr)
    os.ftruncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())


def mark(folder):
    """Identify a folder by device and inode: in containers, two may have the same path."""
    status = os.stat(folder)
    return f"{status.st_dev}:{status.st_ino}"


def end_orphans(folder="."):
    """Kill jobs of an earlier run that still work in a locked folder, and mark this run's jobs."""
    own = mark(folder)
    # The environment of another user's process is None.
    orphans = [
        process
        for process in psutil.process_iter(["environ"])
        if (process.info["environ"] or {}).get(MARK) == own
    ]
    for orphan in orphans:
        with suppress(psutil.NoSuchProcess):  # it has just ended
            orphan.kill()
    psutil.wait_procs(orphans, timeout=10)
    os.environ[MARK] = own
