"""Fits to recordings from Python."""

import json

import isocloth
import numpy
import pytest


@pytest.fixture
def plan(sheet, tmp_path, monkeypatch):
    """A sheet that falls and swings from two corners, seen at five nodes, with noise of 1 mm."""
    monkeypatch.chdir(tmp_path)
    sheet.update(duration=1, frame_interval=0.02)
    sheet["garments"][0]["fabric"] = {"density": 1, "gravity_density": 0.6, "mass_damping": 2}
    (tmp_path / "scene.json").write_text(json.dumps(sheet))
    result = isocloth.run(sheet, quiet=True)
    noise = numpy.random.default_rng(1).normal(scale=0.001, size=result.positions[:, ::5].shape)
    seen = result.positions[:, ::5] + noise
    seen[7, 2] = numpy.nan
    isocloth.save_recording("seen.csv", result.times, seen)
    return {"parameters": [{"number": "fabric.mass_damping", "from": 0.2, "to": 8, "scale": "log"}],
            "experiments": [{"name": "swing", "scene": "scene.json", "train": [0, 0.7], "test": [0.7, 1],
                             "positions": {"file": "seen.csv", "noise": 0.001,
                                           "nodes": list(range(0, result.positions.shape[1], 5))}}]}


def test_finds_what_made_the_recording(plan, tmp_path):
    found = isocloth.fit(plan, tmp_path / "out", quiet=True)
    assert found["status"] == "completed"
    alpha, = found["parameters"]
    assert alpha["name"] == "fabric.mass_damping" and alpha["verdict"] == "found" and alpha["unit"] == "kg/(m^2 s)"
    assert alpha["value"] == pytest.approx(2, rel=0.05)
    assert found["experiments"][0]["fitted"]["test"]["mean_distance"] == pytest.approx(0.0016, rel=0.1)
    assert found["rejection"] is None
    training, test = found["channels"]
    assert (training["window"], test["window"]) == ("training", "test")
    assert training["noise_factor"] == pytest.approx(1, abs=0.1) and not training["rejected"]
    assert training["chi_square_p"] > 1e-3 and training["runs_p"] > 1e-3
    assert alpha["inflation"] >= 1 and found["left_out"] == []
    assert (tmp_path / "out" / "fit.html").exists()
    with pytest.raises(isocloth.FileError, match="not empty"):
        isocloth.fit(plan, tmp_path / "out", quiet=True)


def test_rejects_a_model_that_leaves_more_than_noise(plan):
    plan["experiments"][0]["positions"]["noise"] = 0.0004
    found = isocloth.fit(plan, quiet=True)
    assert found["status"] == "model rejected" and "times the stated noise of 0.0004 m" in found["rejection"]
    assert found["parameters"][0]["verdict"] == "model rejected"


def test_simulates_what_will_be_seen(plan, tmp_path):
    plan["parameters"][0]["value"] = 2
    plan["experiments"][0]["positions"]["file"] = "simulated.csv"
    assert isocloth.fit(plan, simulate=True, quiet=True) is None
    rows = numpy.loadtxt(tmp_path / "simulated.csv", delimiter=",")
    seen = numpy.genfromtxt(tmp_path / "seen.csv", delimiter=",")
    assert rows.shape == seen.shape
    assert 0.001 < numpy.nanstd(rows - seen) < 0.002  # two noises


def test_names_what_is_wrong(plan):
    plan["parameters"][0]["to"] = 0.1
    with pytest.raises(isocloth.SceneError, match=r"^fit: parameters\[0\].to: found 0.1"):
        isocloth.fit(plan, quiet=True)
    with pytest.raises(isocloth.ShapeError, match="expected"):
        isocloth.save_recording("x.csv", [0, 1], [[0, 0, 0]])
