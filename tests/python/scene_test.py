"""Scenes as dataclasses."""

import json

import isocloth
import pytest
from isocloth import scene


def test_every_scene_of_the_bench_goes_there_and_back(scenes):
    paths = sorted(scenes.glob("*.json"))
    assert len(paths) > 40
    for path in paths:
        keys = json.loads(path.read_text())
        assert scene.Scene.load(path).to_dict() == keys, path.name


def test_a_scene_of_classes_runs(tmp_path):
    made = scene.Scene(step=0.01, duration=0.1, recipe="membrane", garments=[scene.Garment(
        mesh=scene.QuadGrid(nodes=[5, 5], size=[0.3, 0.3]),
        fabric=scene.Fabric(preset="cotton"),
        pins=[scene.Pin(name="corner", select=scene.SelectNearest(nearest=[[0, 0, 0]]),
                        motion=scene.Keyframes(times=[0, 1], translations=[[0, 0, 0], [0, 0, 1]]))])])
    made.save(tmp_path / "scene.json")
    assert scene.Scene.load(tmp_path / "scene.json") == made
    a, b = isocloth.Simulation(made), isocloth.Simulation(tmp_path / "scene.json")
    a.advance(10)
    b.advance(10)
    assert (a.positions() == b.positions()).all()
    assert isocloth.run(made, quiet=True).summary["status"] == "completed"


def test_unknown_and_missing_keys_are_named():
    with pytest.raises(isocloth.SceneError, match=r"garments\[0\].fabric.densty: unknown key, .* is density"):
        scene.Scene.from_dict({"step": 0.1, "duration": 1, "garments": [
            {"mesh": {"generator": "quad_grid", "nodes": [2, 2], "size": [1, 1]}, "fabric": {"densty": 1}}]})
    with pytest.raises(isocloth.SceneError, match="garments: missing"):
        scene.Scene.from_dict({"step": 0.1, "duration": 1})
    with pytest.raises(TypeError, match="kapa"):
        scene.Fabric(kapa=1)


def test_keys_that_are_no_names_have_an_attribute():
    keys = {"kes": {"W": 21, "G": 0.6, "2HG": 0.9, "warp": {"EMT": 5, "LT": 0.62, "B": 0.09, "2HB": 0.04},
                    "weft": {"EMT": 9, "LT": 0.58, "B": 0.06}}}
    made = scene.Fabric.from_dict(keys)
    assert made.kes._2HG == 0.9
    assert made.to_dict() == keys


def test_classes_say_what_the_schema_says():
    assert "[kg/m^2]" in scene.Fabric.__doc__
    assert set(scene.__all__) == {name for name in vars(scene) if name in scene.__all__}
