"""What an installation brings: the wheel, the light dependencies of the library, and the extras."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BUILD = """
from setuptools import build_meta
print(build_meta.build_wheel("dist"), build_meta.build_sdist("dist"))
"""
LIBRARY = (ROOT / "tools/try_library.py").read_text(encoding="utf-8")
LIBRARY += "print(pgpd_hf.__file__, pgpd_hf.__version__)"
GYMNASIUM = """
import pgpd_hf
pgpd_hf.from_gymnasium("FrozenLake-v1", cost="holes", at_most=1)
"""
PESSIMISTIC = """
import pgpd_hf
options = {"evaluators": 1, "iterations": 1}
pgpd_hf.run(pgpd_hf.random_cmdp(), "pessimistic_safe_rlhf", seeds=[0], **options)
"""
EPISODES = """
from pgpd_hf import *
CMDPEnv(random_cmdp())
"""
LACKING = [
    ("import replication", "workflow"),
    (GYMNASIUM, "environments"),
    (EPISODES, "environments"),
    (PESSIMISTIC, "compare"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Folder with a wheel and a source distribution, built without a network."""
    folder = tmp_path_factory.mktemp("build")
    for name in ("LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", folder / "src", ignore=ignore)
    command = [sys.executable, "-W", "error::UserWarning", "-c", BUILD]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "dist"


def closure(needs):
    """The distributions that requirements bring, by name, without those of extras."""
    found, waiting = {}, list(needs)
    while waiting:
        need = Requirement(waiting.pop())
        if need.name not in found and (need.marker is None or need.marker.evaluate({"extra": ""})):
            found[need.name] = distribution(need.name)
            waiting += found[need.name].requires or []
    return found


@pytest.fixture(scope="module")
def light(built, tmp_path_factory):
    """Python that has the wheel and what it needs, as `pip install` would bring it."""
    folder = tmp_path_factory.mktemp("light")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        wheel.extractall(packages)
    for it in closure(PROJECT["dependencies"]).values():
        for top in {path.parts[0] for path in it.files} - {"..", "__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(it.locate_file(top))
    return folder / "bin/python"


def call(python, code, folder):
    command = [python, "-I", "-c", code]
    environment = {**os.environ, "MPLBACKEND": "agg"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def modules_in(folder):
    files = [path for kind in ("py", "pyi", "typed") for path in folder.rglob(f"*.{kind}")]
    return {path.relative_to(folder).as_posix() for path in files}


def test_wheel_and_source_distribution_hold_both_packages_and_nothing_else(built):
    (wheel,) = built.glob("*.whl")
    (source,) = built.glob("*.tar.gz")
    assert wheel.name == f"pgpd_hf-{PROJECT['version']}-py3-none-any.whl"
    modules = modules_in(ROOT / "src")
    assert {"pgpd_hf/runs/traces.py", "replication/__init__.py"} < modules
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        described = archive.read(next(name for name in names if name.endswith("/METADATA")))
    assert {name for name in names if ".dist-info/" not in name} == modules
    assert any(name.endswith("LICENSE") for name in names)
    needs = re.findall(r"^Requires-Dist: ([\w-]+)[^;\n]*$", described.decode(), re.MULTILINE)
    assert needs == [re.match(r"[\w-]+", need)[0] for need in PROJECT["dependencies"]]
    extras = re.findall(r"^Provides-Extra: (\w+)$", described.decode(), re.MULTILINE)
    assert extras == ["workflow", "compare", "environments"]
    shutil.unpack_archive(source, built / "source")
    (unpacked,) = (built / "source").iterdir()
    assert modules_in(unpacked / "src") == modules


def test_light_installation_is_light():
    assert len(closure(PROJECT["dependencies"])) <= 17


def test_light_installation_runs_the_library(light, tmp_path):
    done = call(light, LIBRARY, tmp_path)
    assert done.returncode == 0, done.stderr
    place, version = done.stdout.splitlines()[-1].split()
    assert Path(place).is_relative_to(light.parents[1])
    assert version == PROJECT["version"]


@pytest.mark.parametrize(("code", "extra"), LACKING)
def test_missing_extra_is_named_with_the_command_that_brings_it(light, tmp_path, code, extra):
    done = call(light, code, tmp_path)
    assert done.returncode == 1
    message = done.stderr.splitlines()[-1]
    assert message.endswith(("brings it", "brings them"))
    assert f"not installed; pip install 'pgpd-hf[{extra}]'" in message
