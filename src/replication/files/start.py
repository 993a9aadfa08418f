"""What a run is started with, settled before Snakemake reads a file: profiles/default asks for it.

Snakemake evaluates templates in the configurations that it is given. Where it cannot read them, or
where a container's user has no name and no home, it ends in a traceback.
"""

import argparse
import getpass
import os
import re
import sys
from itertools import chain
from pathlib import Path

from replication.files import validation


def settle():
    """Make up what the environment lacks; refuse in one line what cannot be started."""
    if sys.flags.optimize > 1:
        sys.exit("error: PYTHONOPTIMIZE=2 drops docstrings, which hold titles; unset it")
    try:
        os.getcwd().encode()
    except UnicodeEncodeError:
        sys.exit("error: this folder's name is not ASCII, but the locale is; set PYTHONUTF8=1")
    os.environ.pop("NUMBA_NUM_THREADS", None)  # the kernels use none of Numba's threads
    if not os.access(Path.home(), os.W_OK | os.X_OK):
        os.environ["HOME"] = str(Path(".snakemake/home").resolve())
    try:
        getpass.getuser()
    except (KeyError, OSError):  # since Python 3.13 an OSError
        os.environ["LOGNAME"] = str(os.getuid())
    with validation.one_line(ValueError):
        _check(*_configuration(sys.argv[1:]))


def _configuration(arguments):
    """Files and entries of a configuration among the arguments of a command."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", action="append", default=[])
    parser.add_argument("--config", "-C", nargs="*", action="append", default=[])
    given, _ = parser.parse_known_args(arguments)
    for name, several in vars(given).items():
        if len(several) > 1:  # of which Snakemake takes the last
            raise ValueError(f"--{name}: stands twice, where it may stand once, before all values")
    return [*chain(*given.configfile)], [*chain(*given.config)]


def _check(files, entries):
    """Refuse files that hold anything but data, and entries that Snakemake cannot take apart."""
    for file in files:
        if not Path(file).exists():
            hint = "" if file == files[0] else " (targets go before --configfile)"
            raise ValueError(f"{file}: no such file here, in {Path.cwd()}{hint}")
        validation.read(file)
    for entry in entries:
        if not re.match(r"[a-zA-Z_][\w-]*\w=", entry):
            raise ValueError(f"--config: name=value expected, got {validation.shown(entry)}")
        name, _, value = entry.partition("=")
        if value.lstrip()[:1] in ("[", "{"):  # whose numbers Snakemake would take for text
            raise ValueError(f"--config: {name}: a list or table is for a file of --configfile")
