"""Scenes that are sewn before their time begins."""

import isocloth
import numpy as np
import pytest


def tube(width):
    """Two panels 0.3 m apart around a cylinder of 0.44 m girth, sewn at both sides."""
    outline = [[-width / 2, 0], [width / 2, 0], [width / 2, 0.15], [-width / 2, 0.15]]
    return {
        "step": 0.005, "duration": 0.02, "projection": {"tolerance": 0.005},
        "contact": {"tolerance": 0.00025, "cloth": True}, "sewing": {},
        "garments": [{
            "name": "tube",
            "mesh": {
                "panels": [{"name": "front", "outline": outline, "translation": [0, -0.15, 0]},
                           {"name": "back", "outline": outline, "translation": [0, 0.15, 0], "rotation": [0, 0, 180]}],
                "seams": [{"panel": "front", "edge": 1, "other_panel": "back", "other_edge": 3},
                          {"panel": "front", "edge": 3, "other_panel": "back", "other_edge": 1}],
                "edge_length": 0.03},
            "fabric": {"preset": "cotton", "thickness": 0.001}}],
        "obstacles": [{"name": "body", "shape": {"type": "cylinder", "radius": 0.07, "height": 0.6, "rounding": 0.02}}]}


def test_a_simulation_begins_sewn():
    simulation = isocloth.Simulation(tube(0.24))
    assert simulation.time == 0
    assert simulation.unclosed_seams == []
    assert simulation.measures()[0].seam_opening <= 2e-4
    radii = np.hypot(*simulation.positions()[:, :2].T)
    assert 0.07 < radii.min() and radii.max() < 0.1
    assert simulation.step()[0].status == "converged"


def test_open_seams_are_an_error_or_said():
    scene = tube(0.18)
    with pytest.raises(isocloth.SceneError, match='held by "body"'):
        isocloth.Simulation(scene)
    scene["sewing"]["if_open"] = "continue"
    assert len(isocloth.Simulation(scene).unclosed_seams) == 2


def test_a_result_begins_another_scene(tmp_path):
    scene = tube(0.24)
    isocloth.run(scene, tmp_path / "out")
    scene.pop("sewing")
    scene["garments"][0]["mesh"] = {"file": str(tmp_path / "out" / "sewn.h5"), "garment": "tube"}
    assert isocloth.Simulation(scene).measures()[0].seam_opening <= 2e-4
