"""A job can be run again alone, with its output and a debugger on the screen."""

import subprocess

import pytest

JOB = "workflow/scripts/environment.py"


@pytest.mark.parametrize(
    ("line", "typed", "code"),
    [("breakpoint()", "p 6 * cmdp.states\ncontinue\n", 0), ("1 / 0", "p 6 * cmdp.states\n", 1)],
)
def test_debugger_opens_where_a_job_stops(fresh, line, typed, code):
    script = fresh.folder / JOB
    mark = "    content = {\n"
    script.write_text(script.read_text().replace(mark, f"    {line}\n{mark}"))
    done = subprocess.run(
        fresh.workflow("--cores", "1", "--force", "results/smoke/environment.npz"),
        cwd=fresh.folder,
        env={**fresh.environment(), "DEBUG_JOB": "1"},
        input=typed,
        text=True,
        capture_output=True,
    )
    assert "\n(Pdb) 60\n" in done.stdout, done.stdout + done.stderr
    assert done.returncode == code
    assert ("ZeroDivisionError: division by zero" in done.stdout) == (code == 1)
