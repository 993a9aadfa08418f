"""Result files that appear whole or not at all, and are read only if nothing has altered them.

A hidden file beside every result is its record: its SHA-256 digest, in the format of
`sha256sum -c`, and as comments those of the parameters and inputs that it was made from, and of the
project's own code: the script, and all modules that it had loaded.
Figures have none: git and `make verify` compare them. A result without a record is read all the
same, since it may come from elsewhere.
"""

import hashlib
import json
import os
import pdb
import re
import shutil
import sys
import time
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

_INGREDIENT = re.compile(r"^# (\w*)  (.+)$", re.MULTILINE)
_OURS = ("pgpd_hf.", "replication.")  # begin the names of modules, but for the two lists of names
_CODE = "code: "  # begins the names of code among those of what a result was made from
_CHANGED = "0" * 64  # in place of a digest: code that was edited while a job may have loaded it
_STARTED = time.time()
_made_from = {}  # of the job that this process runs
_PROJECT = Path(__file__).parents[3]


@contextmanager
def job(snakemake):
    """Run a workflow's script: output goes to the log, an error that is expected is one line."""
    # Also what children print. An exception that is not expected keeps its traceback; with
    # `DEBUG_JOB` in the environment it opens the debugger, and output stays on the screen.
    _made_from.update(ingredients(snakemake))
    note_code(loaded_code())
    if "DEBUG_JOB" in os.environ:
        try:
            yield
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
            pdb.post_mortem(error.__traceback__)
            raise
        return
    log = os.open(snakemake.log[0], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    console = os.dup(sys.stderr.fileno())
    for stream in (sys.stdout, sys.stderr):
        os.dup2(log, stream.fileno())
        stream.reconfigure(encoding="utf-8", line_buffering=True)
    try:
        yield
    except (OSError, ValueError) as error:
        line = f"error: {error}\n".encode()
        try:
            os.write(log, line)
        except OSError:  # the disk of the log is full as well
            os.write(console, line)
        sys.exit(1)


@contextmanager
def replacing(path):
    """Write a file under another name and give it its own once it is complete."""
    path = Path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        partial.replace(path)
    except OSError as error:
        reason = error if error.errno is None else os.strerror(error.errno)
        raise OSError(f"{path}: cannot be written: {reason}") from error
    finally:
        with suppress(OSError):
            partial.unlink()


@contextmanager
def recording(path):
    """Write a result as :func:`replacing` does, with its digest beside it."""
    with replacing(path) as partial:
        yield partial
        # First the digest: a result that is there always has one.
        if _made_from:
            note_code(loaded_code())
        with replacing(_record(path)) as record:
            lines = [f"{_digest(partial)}  {Path(path).name}"]
            lines += [f"# {digest}  {name}" for name, digest in _made_from.items()]
            record.write_text("\n".join([*lines, ""]), encoding="utf-8")


def ingredients(job):
    """Digests of what a job is made from, by name, given Snakemake's object of the job."""
    params = json.dumps(dict(job.params.items()), sort_keys=True, default=str)
    files = {named(path): digest(path) for path in job.input}
    return {"parameters": hashlib.sha256(params.encode()).hexdigest(), **files}


def named(path):
    """A file's path as records give it: the project's own files are named alike from everywhere."""
    path = Path(path)
    return str(path.relative_to(_PROJECT) if path.is_relative_to(_PROJECT) else path)


def loaded_code():
    """Files of the project that this process has loaded: its script, and modules of packages."""
    modules = [it for name, it in [*sys.modules.items()] if name.startswith(_OURS)]
    script = Path(getattr(sys.modules["__main__"], "__file__", ""))
    files = {Path(module.__file__) for module in modules}
    files |= {script} if script.is_relative_to(_PROJECT / "workflow") else set()
    return sorted(map(named, files))


def note_code(files):
    """Note code that results of this process are made from, also what a kernel has loaded."""
    for file in files:
        if (name := f"{_CODE}{file}") not in _made_from:
            # Nobody knows which text of a file was loaded if it has changed since.
            path = _PROJECT / file
            changed = not path.exists() or path.stat().st_ctime > _STARTED
            _made_from[name] = _CHANGED if changed else digest(path)


def differences(job):
    """Names of what a job's results were not made from but would be now, and of the reverse."""
    # Code that is new is none: what uses it has changed as well. A kernel of a notebook does not
    # know what its job is made from, but the page says it.
    records = [record for path in job.output if (record := _record(path)).is_file()]
    lines = [_INGREDIENT.findall(record.read_text("utf-8", "replace")) for record in records]
    made_from = [{name: digest for digest, name in pairs} for pairs in lines if pairs]
    now = ingredients(job)
    found = {"record"} if job.output and not made_from else set()
    for then in made_from:
        code = {name for name in then if name.startswith(_CODE)}
        made = {name: digest(_PROJECT / name.removeprefix(_CODE)) for name in code}
        found |= {name for name in code if then[name] != made[name]}
        found |= {name for name, _ in then.items() ^ now.items()} - code
    return found


def made_from(result, paths):
    """Which of some files a result was made from, by its record; all of them without one."""
    # Files of earlier plans stay beside those of the present one.
    record = _record(result)
    text = record.read_text("utf-8", "replace") if record.is_file() else ""
    names = tuple(name for _, name in _INGREDIENT.findall(text))
    return [path for path in paths if not names or os.path.normpath(path).endswith(names)]


@cache
def digest(path):
    """SHA-256 digest of a file: of a result the recorded one, with which it has been compared."""
    record = _record(path)
    if record.is_file():
        return "".join(record.read_text(encoding="utf-8", errors="replace").split()[:1])
    return _digest(Path(path)) if Path(path).is_file() else ""


def find_damaged(folder):
    """List results below a folder that differ from their digests; those deleted do not."""
    paths, seen = [], set()
    for place, folders, files in os.walk(folder, onerror=_refuse, followlinks=True):
        status = os.stat(place)
        if (status.st_dev, status.st_ino) in seen:  # by a link that leads back
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        names = [name for name in (*files, *folders) if name.endswith(".sha256")]
        paths += [Path(place, name[1:].removesuffix(".sha256")) for name in names]
    return sorted(path for path in paths if path.exists() and _is_damaged(path))


def _refuse(error):
    if not isinstance(error, FileNotFoundError):  # nothing has been made yet
        raise OSError(f"{error.filename}: cannot be read: {error.strerror}") from error


def alteration(path):
    """Describe a file of :func:`find_damaged` in one line."""
    return f"{path}: altered since it was written; delete it and run again"


def remove_partial(folder):
    """Remove what writers that were killed have left; no other process may write there."""
    for path in Path(folder).rglob(".*.partial*"):
        path.unlink()


def require_room(folder, least):
    """Refuse a folder that cannot be written to, or whose disk has fewer free bytes."""
    folder = Path(folder).resolve()
    place = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(place, os.W_OK | os.X_OK):
        raise OSError(f"{place}: cannot be written to; a study needs a folder of your own")
    free = shutil.disk_usage(place).free
    if free < least:
        raise OSError(
            f"{place}: its disk is full: {free / 2**20:.0f} MiB are free, a study needs "
            f"{least / 2**20:.0f} MiB"
        )


def write(path, content):
    """Write text in UTF-8, a data frame, or what JSON can hold, without NaN and infinities."""
    # A data frame becomes CSV if the file's name ends so, and Parquet otherwise; JSON is indented
    # and has numbers in full precision.
    with recording(path) as partial:
        if not hasattr(content, "to_parquet"):
            is_text = isinstance(content, str)
            text = content if is_text else json.dumps(content, indent=2, allow_nan=False) + "\n"
            partial.write_text(text, encoding="utf-8")
        elif partial.suffix == ".csv":
            content.to_csv(partial, index=False, lineterminator="\n")
        else:
            content.to_parquet(partial, index=False)


def read_json(path):
    """Read a JSON file that agrees with its digest."""
    with _reading(path):
        return json.loads(Path(path).read_text(encoding="utf-8"))


def read_table(path):
    """Read a data frame of :func:`write` that agrees with its digest."""
    import pandas as pd  # slow to import, and this module is used by jobs that read no table

    with _reading(path):
        return pd.read_csv(path) if Path(path).suffix == ".csv" else pd.read_parquet(path)


def read_tables(paths):
    """Read data frames of one kind below each other; no rows and no columns without any file."""
    import pandas as pd  # slow to import, and this module is used by jobs that read no table

    frames = [read_table(path) for path in paths]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def read_traces(paths):
    """Read the traces of several files as one table, sorted whatever the order of the files."""
    order = ["algorithm", "evaluators", "seed", "iteration"]
    return read_tables(sorted(paths)).sort_values(order, ignore_index=True)


@contextmanager
def _reading(path):
    """Refuse a file that differs from its digest or cannot be read."""
    if _is_damaged(Path(path)):
        raise OSError(alteration(path))
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise OSError(f"{path}: not a whole file; delete it and run again") from error


def _record(path):
    return Path(path).with_name(f".{Path(path).name}.sha256")


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _is_damaged(path):
    record = _record(path)
    try:
        if any(file.exists() and not file.is_file() for file in (path, record)):
            return True  # reading a pipe would wait for ever
        return record.exists() and record.read_bytes().split()[:1] != [_digest(path).encode()]
    except OSError as error:
        raise OSError(f"{path}: cannot be read: {error.strerror}") from error
