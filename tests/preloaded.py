"""Runs Snakemake again and again in forks of one process that has loaded it: seconds less a call.

It has the libraries that the workflow uses, but not the package, which differs between copies of
the project. Requests and answers are lines of JSON on standard input and output.
"""

import gc
import json
import os
import sys


def run(request):
    """Do in this process what the command would do in one of its own; never return."""
    from snakemake import cli

    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.path[0] = request["environment"]["PYTHONPATH"]
    sys.argv = request["command"]
    with open(os.devnull) as nothing, open(request["output"], "w") as output:
        for stream, descriptor in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(stream.fileno(), descriptor)
    sys.exit(cli.main())


def serve():
    """Load what takes long, and answer requests until there are no more."""
    import jsonschema  # noqa: F401
    import nbformat  # noqa: F401
    import numba  # noqa: F401
    import pandas  # noqa: F401
    import scipy.special  # noqa: F401
    from snakemake import cli, workflow  # noqa: F401

    cli.get_argument_parser()  # which finds the plugins
    gc.freeze()  # forks would copy what they look through, of which they can forget nothing
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            run(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    serve()
