"""Numbers that change while time runs, and what zippers were told, from Python."""

import copy

import isocloth
import numpy as np
import pytest
from isocloth.scene import Scene


def sheet(**scene):
    return {"step": 0.01, "duration": 1, "recipe": "membrane", **scene, "garments": [
        {"name": "sheet", "mesh": {"generator": "quad_grid", "nodes": [4, 4], "size": [0.3, 0.3]},
         "fabric": {"density": 0.2, "gravity_density": 0.2},
         "pins": [{"select": {"nodes": [0, 3]}}]}]}


KEYFRAMES = [{"garment": "sheet", "number": "fabric.density", "times": [0.02, 0.08], "values": [0.2, 0.5]},
             {"number": "gravity", "times": [0.05, 0.05], "values": [9.8, -2]}]


def test_they_are_what_a_program_says_before_each_step():
    found, told = isocloth.Simulation(sheet(keyframes=KEYFRAMES)), isocloth.Simulation(sheet())
    for _ in range(12):
        t = told.time
        told.set_fabric(0, density=float(np.interp(t, [0.02, 0.08], [0.2, 0.5])))
        told.set_gravity(0, 9.8 if t < 0.05 - 1e-9 else -2)
        found.step(), told.step()
    assert np.abs(found.positions() - told.positions()).max() < 1e-9
    other = copy.deepcopy(found)
    other.advance(3), found.advance(3)
    assert (found.positions() == other.positions()).all()


def test_a_scene_has_them_as_dataclasses():
    scene = Scene.from_dict(sheet(keyframes=KEYFRAMES))
    assert scene.keyframes[1].number == "gravity" and scene.keyframes[0].times == [0.02, 0.08]
    assert scene.to_dict()["keyframes"] == KEYFRAMES


def test_what_cannot_change_is_refused_with_its_number():
    wrong = {"garment": "sheet", "number": "fabric.thickness", "times": [0, 1], "values": [0, 0.01]}
    with pytest.raises(isocloth.SceneError, match=r"keyframes\[2\].values\[1\].*thickness"):
        isocloth.Simulation(sheet(keyframes=[*KEYFRAMES, wrong]))


def zipped():
    """Two panels that a zipper joins."""
    outline = [[0, 0], [0.2, 0], [0.2, 0.2], [0, 0.2]]
    return {"step": 0.01, "duration": 1, "recipe": "membrane", "gravity": 0, "garments": [
        {"name": "jacket", "fabric": {"preset": "cotton"}, "mesh": {"panels": [
            {"name": "left", "outline": outline}, {"name": "right", "outline": outline, "translation": [0.22, 0, 0]}],
            "seams": [{"panel": "left", "edge": 1, "other_panel": "right", "other_edge": 3,
                       "zipper": {"times": [0], "closed": [0]}}], "edge_length": 0.1}}]}


def test_what_a_zipper_was_told_is_of_the_state():
    simulation = isocloth.Simulation(zipped())
    start = simulation.snapshot()
    simulation.set_zipper("jacket", 0, 1)
    told = copy.deepcopy(simulation)
    simulation.advance(5), told.advance(5)
    assert (simulation.positions() == told.positions()).all()
    simulation.restore(start)
    before = simulation.positions()
    simulation.advance(5)
    assert np.abs(simulation.positions() - before).max() < 1e-6  # open again
