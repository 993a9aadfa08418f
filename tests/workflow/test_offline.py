"""Once the packages are installed, nothing needs a network."""

import sys

import offline
import pytest

CONNECT = """
import errno, socket
print([name for _, name in socket.if_nameindex()])
try:
    socket.create_connection(("192.0.2.1", 80), timeout=5)
except OSError as error:
    print(errno.errorcode[error.errno])
"""


@pytest.mark.skipif(not offline.PREFIX, reason="needs a network namespace")
def test_the_study_was_made_without_a_network(finished):
    """The fixture made figures, claims, theory and grid by a command like this one."""
    project, _ = finished
    code, output = project.call(offline.cut_off([sys.executable, "-c", CONNECT]))
    assert (code, output.split("\n")[:2]) == (0, ["['lo']", "ENETUNREACH"])
