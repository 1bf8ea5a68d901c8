"""Batches of a sweep on several processes, one of which is killed on the way."""

import os
import signal
import threading
import time

import isocloth
import numpy
import pytest

distributed = pytest.importorskip("distributed")
pytest.importorskip("pyarrow")


def swing(run):
    """Way of the last node [m]."""
    return float(numpy.abs(numpy.diff(run.positions[:, -1], axis=0)).sum())


def process_of(log):
    return int(log.stem.rpartition("-")[2])


def test_a_killed_worker_loses_its_batch_only_and_no_bit_of_the_table(sheet, tmp_path):
    sheet |= {"duration": 1, "step": 0.001}
    vary = {"recipe": ["coltraro2022", "membrane"], "garments[0].gravity": [1 + 0.5 * i for i in range(20)]}
    options = {"measures": ["strain_max", "distance_rms", swing], "against": "base", "batch": 4, "quiet": True}
    one = isocloth.sweep(sheet, vary, tmp_path / "one", threads=1, **options)
    killed = []

    def kill():
        folder = tmp_path / "two"
        while not list(folder.glob("log/*")):  # a worker has done a batch, and is in its next one
            time.sleep(0.005)
        killed.append(process_of(next(folder.glob("log/*"))))
        os.kill(killed[0], signal.SIGKILL)
        killed.append({path.name: path.stat().st_mtime_ns for path in folder.glob("table/batch-*")})

    thread = threading.Thread(target=kill, daemon=True)  # a sweep that fails leaves it waiting
    thread.start()
    two = isocloth.sweep(sheet, vary, tmp_path / "two", workers=2, threads=1, **options)
    thread.join()
    for path in (tmp_path / "one" / "table").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / "table" / path.name).read_bytes(), path.name
    assert two["strain_max"].tobytes() == one["strain_max"].tobytes() and one.count("completed") == 40
    # What was whole when it was killed was not run again.
    for name, written in killed[1].items():
        assert (tmp_path / "two" / "table" / name).stat().st_mtime_ns == written
    assert 0 < len(killed[1]) < 10
    others = [path for path in tmp_path.glob("two/log/*") if process_of(path) != killed[0]]
    assert sum(len(path.read_text().splitlines()) for path in others) >= 10 - len(killed[1])


def test_a_batch_that_ends_its_workers_is_left_out_and_named(sheet, tmp_path, monkeypatch):
    import isocloth._distributed

    def exits(run):
        if run.values["garments[0].gravity"] == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return 0

    monkeypatch.setattr(isocloth._distributed, "_LOSSES", 0)
    with pytest.raises(isocloth.DeviceError, match="1 batches ended 1 workers each.*number 1, cases 2 to 3"):
        isocloth.sweep(sheet, {"garments[0].gravity": [1, 2, 3, 4, 5, 6]}, tmp_path / "out", measures=exits, batch=2,
                       workers=2, quiet=True)
    assert isocloth.read_sweep(tmp_path / "out")["case"].tolist() == [0, 1, 4, 5]


def test_schedulers_that_are_not_there_are_named(sheet, tmp_path, monkeypatch):
    import dask

    with dask.config.set({"distributed.comm.timeouts.connect": 0.2}):
        with pytest.raises(isocloth.FileError, match="workers: tcp://127.0.0.1:9"):
            isocloth.sweep(sheet, {"step": [0.01]}, tmp_path / "out", workers="tcp://127.0.0.1:9", quiet=True)
