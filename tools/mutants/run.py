"""How many small errors in the code do the tests notice? `make mutants` tries 200 of them.

Places are drawn at random, and at each place one change, such as + in place of -. A mutant is
killed if a test fails or takes far longer than it should; only the tests of its own file are asked.
What is drawn depends on the text of a line and its file, so an edit elsewhere draws nothing anew.
"""

import ast
import hashlib
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).parents[2]
SEED = 2026
NUMBER = int(os.environ.get("MUTANTS", "200"))
MINUTES = float(os.environ.get("MINUTES", "60"))
SOURCES = ("src/pgpd_hf/**/*.py", "src/replication/statements/*.py")
# Of files that no file of tests is named after, by the first pattern that fits, and of those whose
# parts have further files of tests.
TESTS = {
    "pgpd_hf/__init__.py": "library/contract",
    "pgpd_hf/plotting.py": "library/policy_figures",
    "pgpd_hf/runs/races.py": "library/calibration library/malformed_calls",
    "pgpd_hf/runs/traces.py": "library/runs library/cautions",
    "pgpd_hf/statistics.py": "replication/statistics",
    "pgpd_hf/core/cmdp.py": "library/integers library/linear",
    "pgpd_hf/core/evaluators.py": "library/votes library/cautions",
    "pgpd_hf/core/optima.py": "library/cautions",
    "pgpd_hf/core/sampling.py": "library/votes",
    "pgpd_hf/core/arguments.py": "library/malformed_calls library/integers",
    "pgpd_hf/core/extras.py": "replication/installation",
    "pgpd_hf/core/options.py": "library/malformed_calls library/integers library/contract",
    "pgpd_hf/environments/gymnasium.py": "library/episodes",
    "pgpd_hf/environments/*": "library/environments",
    "pgpd_hf/algorithms/linear_*": "library/linear library/contract",
    "pgpd_hf/algorithms/*safe_rlhf.py": "replication/inferring_methods library/contract",
    "pgpd_hf/algorithms/trajectory_dpo.py": "replication/inferring_methods library/contract",
    "pgpd_hf/algorithms/zpg.py": "replication/inferring_methods library/contract",
    "pgpd_hf/algorithms/*": "library/algorithms library/contract",
    "replication/statements/*": "statements/verdicts statements/declaration",
}
# Any test would notice bitwise operations on numbers, and numbers that are compared by identity.
# None would notice a missing decorator of a kernel, which is only slower.
DULL = re.compile(
    r"_(Add|Sub|Mul|Div|FloorDiv|Mod|Pow)_(Bit|LShift|RShift)"
    r"|_(Eq|NotEq|Lt|LtE|Gt|GtE)_Is|_Is(Not)?_(?!Is)|RemoveDecorator"
)


class Mutant(NamedTuple):
    """A change of a line; those of lowest rank are drawn."""

    rank: str
    path: str
    place: tuple
    operator: str
    occurrence: int


def annotations(code):
    """Where types stand, which change nothing: mypy is their test."""
    for node in ast.walk(ast.parse(code)):
        for it in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if it is not None:
                yield (it.lineno, it.col_offset), (it.end_lineno, it.end_col_offset)


def mutants(path):
    """All mutants of a file."""
    code = (ROOT / path).read_text(encoding="utf-8")
    lines, nodes, types = code.splitlines(), [*ast_nodes(get_ast(code))], [*annotations(code)]
    for name in filter(lambda name: not DULL.search(name), operator_names()):
        operator = get_operator(name)
        if operator.arguments():
            continue
        places = (start for node in nodes for start, _ in operator().mutation_positions(node))
        for occurrence, (line, column) in enumerate(places):
            if any(start <= (line, column) <= end for start, end in types):
                continue
            text = f"{SEED} {path} {lines[line - 1]} {column} {name}"
            rank = hashlib.sha256(text.encode()).hexdigest()
            kind = name.split("_")[0]
            yield Mutant(rank, path, (path, line, column, kind), name, occurrence)


def draw(number):
    """Mutants of a number of places, one each."""
    paths = sorted(path for pattern in SOURCES for path in ROOT.glob(pattern))
    drawn = {}
    for mutant in sorted(it for path in paths for it in mutants(str(path.relative_to(ROOT)))):
        drawn.setdefault(mutant.place, mutant)
        if len(drawn) == number:
            break
    return list(drawn.values())


def tests_of(path):
    """Test files of a source, and the source itself, for the examples in its docstrings."""
    folder = "library" if path.startswith("src/pgpd_hf") else "statements"
    own = f"tests/{folder}/test_{Path(path).stem}.py"
    found = [own] if (ROOT / own).exists() else []
    pattern = next((pattern for pattern in TESTS if fnmatch(path, f"src/{pattern}")), "")
    if not (found or pattern):
        sys.exit(f"error: {path}: no tests are declared in {__file__}")
    if pattern and not (found and "*" in pattern):
        found += [f"tests/{'/test_'.join(it.split('/'))}.py" for it in TESTS[pattern].split()]
    return (*found, path)


def run_tests(folder, tests, limit):
    """Whether tests pass in a copy of the project within a number of seconds."""
    command = [ROOT / ".venv/bin/python", "-m", "pytest", "-qx", "-p", "no:cacheprovider"]
    command += ["-m", "not slow and not long and not slurm", *tests]
    own = {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    own["NUMBA_CACHE_DIR"] = str(folder / ".kernels")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        return not subprocess.run(
            command, cwd=folder, env=os.environ | own, timeout=limit, **quiet
        ).returncode
    except subprocess.TimeoutExpired:
        return False


def change(mutant):
    """Code of a file with the change, and the line before and after."""
    code = (ROOT / mutant.path).read_text(encoding="utf-8")
    changed = mutate_code(code, get_operator(mutant.operator)(), mutant.occurrence)
    pairs = zip(code.splitlines(), changed.splitlines(), strict=False)
    before, after = next((old.strip(), new.strip()) for old, new in pairs if old != new)
    return changed, before, after


def main():
    """Try mutants in copies of the project, one for each processor, and say what survived."""
    end = time.monotonic() + 60 * MINUTES
    listed = yaml.safe_load(Path(__file__).with_name("equivalent.yaml").read_text(encoding="utf-8"))
    equivalent = {(it["file"], it["before"], it["after"]) for it in listed}
    parts = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")[:-1]
    folders = queue.Queue()
    with tempfile.TemporaryDirectory(prefix="mutants-") as place:
        for number in range(os.cpu_count() or 1):
            folder = Path(place, str(number))
            for part in parts:
                (folder / part).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / part, folder / part)
            folders.put(folder)

        @cache
        def limit(tests):
            """Seconds that tests may take: many times what they take without a mutant."""
            folder = folders.get()
            start = time.monotonic()
            passed = run_tests(folder, tests, None)
            folders.put(folder)
            if not passed:
                raise RuntimeError(f"without a mutant, tests fail: {' '.join(tests)}")
            return 60 + 5 * (time.monotonic() - start)

        def judge(mutant):
            """What becomes of a mutant, in a word, and its change."""
            changed, before, after = change(mutant)
            if time.monotonic() > end:
                return "left out", mutant, before, after
            tests = tests_of(mutant.path)
            seconds = limit(tests)
            folder = folders.get()
            (folder / mutant.path).write_text(changed, encoding="utf-8")
            survived = run_tests(folder, tests, seconds)
            shutil.copyfile(ROOT / mutant.path, folder / mutant.path)
            folders.put(folder)
            word = "killed"
            if survived:
                known = (mutant.path, before, after) in equivalent
                word = "equivalent" if known else "survived"
            return word, mutant, before, after

        counts = {"killed": 0, "survived": 0, "equivalent": 0, "left out": 0}
        with ThreadPoolExecutor(folders.qsize()) as pool:
            try:
                for word, mutant, before, after in pool.map(judge, draw(NUMBER)):
                    place = f"{mutant.path}:{mutant.place[1]}"
                    counts[word] += 1
                    print(f"{word}: {place}: {before}  ->  {after}", flush=True)
            except RuntimeError as error:
                pool.shutdown(cancel_futures=True)
                sys.exit(f"error: {error}")
    judged = counts["killed"] + counts["survived"]
    print(", ".join(f"{count} {word}" for word, count in counts.items()), end="; ")
    print(f"{counts['killed'] / max(judged, 1):.0%} of those that are not equivalent were killed")


if __name__ == "__main__":
    main()
