"""Put as `sitecustomize.py` where Python finds it: notes which files of the packages a job loads.

Python runs it whenever it starts, in jobs and in the kernels of their notebooks.
"""

import atexit
import json
import os
import sys
from pathlib import Path

SOURCES = Path(__file__).parent
NOTES = SOURCES.parent / "loaded"


def note():
    """Write down what this process was, and which files of the packages it has loaded."""
    names = [name for name in sys.modules if name.startswith(("pgpd_hf.", "replication."))]
    files = {sys.modules[name].__file__ for name in names}
    loaded = sorted(Path(file).relative_to(SOURCES).as_posix() for file in files)
    entry = {"parent": os.getppid(), "loaded": loaded}
    job = getattr(sys.modules["__main__"], "snakemake", None)  # of the script directive
    if hasattr(job, "rule"):
        records = [Path(path).with_name(f".{Path(path).name}.sha256") for path in job.output]
        lines = [line for it in records if it.is_file() for line in it.read_text().splitlines()]
        entry |= {"rule": job.rule, "page": hasattr(job.input, "notebook")}
        entry["recorded"] = [it.partition(": src/")[2] for it in lines if "  code: src/" in it]
    (NOTES / f"{os.getpid()}.json").write_text(json.dumps(entry))


if NOTES.is_dir():
    atexit.register(note)
