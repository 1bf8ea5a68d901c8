"""Meshes with faults, from files and arrays, and what becomes of them."""

import json
import subprocess
import sys

import isocloth
import numpy
import pytest

SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"


def test_counts_and_mends_what_is_no_choice(tmp_path):
    file = tmp_path / "a.obj"
    file.write_text(SQUARE + "v 9 9 9\nv 1 2 0\nv 0 1 0\nf 1 2 3 4\nf 1 2 3 4\nf 7 3 6\n")
    done = isocloth.repair(file, tmp_path / "b.obj")
    assert [(fault.what, fault.count, fault.first) for fault in done.faults] == [
        ("unused vertices", 1, "vertex 5 (line 5)"), ("vertices on others", 1, "vertex 7 (line 7)"),
        ("faces that repeat another", 1, "face 2 (line 9)")]
    assert done.is_whole and done.positions.shape == (5, 3) and done.faces == [(0, 1, 2, 3), (3, 2, 4)]
    assert done.node_numbers.tolist() == [0, 1, 2, 3, 5] and done.face_numbers.tolist() == [0, 2]
    again = isocloth.repair(tmp_path / "b.obj")
    assert again.report == "no faults" and numpy.array_equal(again.positions, done.positions)
    with pytest.raises(isocloth.FileError, match="expected none"):
        isocloth.repair(file, tmp_path / "b.obj")


def test_arrays(tmp_path):
    positions = [[0, 0, 0], [2, 0, 0], [2, 1, 0], [1, 1, 0], [1, 2, 0], [0, 2, 0]]
    done = isocloth.repair((positions, [range(6)]))
    assert len(done.faces) == 4 and done.uvs is None
    with pytest.raises(isocloth.ShapeError):
        isocloth.repair((positions, 3))
    with pytest.raises(isocloth.ShapeError):
        isocloth.repair((positions, [[2**40, 1, 2]]))
    broken = isocloth.repair((positions, [[0, 1, 2], [0, 1, 77]]))
    assert not broken.is_whole
    with pytest.raises(isocloth.MeshError, match="do not exist"):
        isocloth.repair((positions, [[0, 1, 2], [0, 1, 77]]), tmp_path / "c.obj")


def test_command(tmp_path):
    file = tmp_path / "a.obj"
    file.write_text(SQUARE + "f 1 2 3 4\nf 1 2 3 4\n")

    def command(*words):
        return subprocess.run([sys.executable, "-m", "isocloth", "repair", *map(str, words)], capture_output=True,
                              text=True)

    said = command(file, "--report")
    assert said.returncode == 0 and "1 faces that repeat another (first face 2 (line 6)): left out" in said.stdout
    assert "no output" in command(file).stderr
    said = command(file, "-o", tmp_path / "b.obj")
    assert said.returncode == 0 and said.stdout.endswith("b.obj: 4 vertices, 1 faces\n"), said
    assert command(file, "-o", tmp_path / "b.ply").returncode == 2


def test_scenes_repair_by_a_key(tmp_path):
    (tmp_path / "a.obj").write_text(SQUARE + "f 1 2 3 4\nf 1 2 3 4\n")
    scene = {"step": 0.01, "duration": 0.1, "garments": [{"mesh": {"file": "a.obj"}, "fabric": {"preset": "cotton"}}]}
    path = tmp_path / "scene.json"
    path.write_text(json.dumps(scene))
    with pytest.raises(isocloth.MeshError, match="mesh.repair"):
        isocloth.Simulation(path)
    scene["garments"][0]["mesh"]["repair"] = True
    path.write_text(json.dumps(scene))
    assert isocloth.Simulation(path).positions(0).shape == (4, 3)
