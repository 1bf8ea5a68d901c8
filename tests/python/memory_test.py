"""Where memory ends Python gets an exception, and goes on."""

import pathlib
import subprocess
import sys

import pytest

SCENES = pathlib.Path(__file__).parents[2] / "bench" / "scenes"
PROGRAM = """
import resource, sys, isocloth
more, what, scene, output = sys.argv[1:]
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (int(more) << 20),) * 2)
try:
    if what == "run":
        isocloth.run(scene, output)
    else:
        isocloth.Simulation(scene).advance(3)
except (MemoryError, isocloth.Error) as error:
    print(type(error).__name__, error)
print("goes on")
"""


@pytest.mark.skipif(not pathlib.Path("/proc/self/statm").exists(), reason="found no /proc")
@pytest.mark.parametrize("what", ["run", "advance"])
@pytest.mark.parametrize("more", [1, 12, 25, 40, 55, 65, 80])
def test_the_end_of_memory_is_an_exception(what, more, tmp_path):
    """A library that ends the process, or an exception in a destructor or thread, would end Python with it."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(more), what, str(SCENES / "free_flight.json"),
                           str(tmp_path / "out")], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("goes on\n")
    assert "std::" not in done.stdout
