import os
import pathlib
import signal
import threading

import pytest

SCENES = pathlib.Path(__file__).parents[2] / "bench" / "scenes"


@pytest.fixture
def scenes():
    """Folder of the scenes of the bench."""
    return SCENES


@pytest.fixture
def sheet():
    """A sheet that hangs by two corners and swings."""
    return {"step": 0.01, "duration": 0.2, "frame_interval": 0.05, "garments": [
        {"name": "sheet", "mesh": {"generator": "quad_grid", "nodes": [7, 5], "size": [0.3, 0.2]},
         "pins": [{"name": "corners", "select": {"nearest": [[0, 0, 0], [0.3, 0, 0]]}}]}]}


@pytest.fixture
def batch(sheet):
    """Six of them, three to a vector lane and more, of fabrics of their own."""
    sheet["garments"][0] |= {"replicas": 6, "vary": {"fabric.bending_stiffness": {"from": 1e-6, "to": 1e-4}}}
    return sheet


@pytest.fixture
def interrupt_when():
    """Ctrl-C from a thread as soon as something holds, however fast the machine is: ``interrupt_when(holds)``."""
    is_over = threading.Event()

    def wait(holds):
        while not is_over.wait(1e-3):
            if holds():
                return os.kill(os.getpid(), signal.SIGINT)

    threads = []

    def begin(holds):
        threads.append(threading.Thread(target=wait, args=(holds,)))
        threads[-1].start()

    yield begin
    is_over.set()
    for thread in threads:
        thread.join()
