"""Scenes read from the tree of their own folder, unless somebody allows more."""

import json

import isocloth
import pytest

TRIANGLE = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nf 1 2 3\n"
REFUSED = r"garments\[0\]\.mesh\.file: found .* --allow .*, in Python allow="


@pytest.fixture
def scene(tmp_path):
    """A scene that names a file beside its folder, and its keys with the file's whole path."""
    (tmp_path / "scenes").mkdir()
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes/t.obj").write_text(TRIANGLE)
    content = {"step": 0.01, "duration": 0.02, "garments": [{"mesh": {"file": "../meshes/t.obj"}}]}
    path = tmp_path / "scenes/scene.json"
    path.write_text(json.dumps(content))
    content["garments"][0]["mesh"]["file"] = str(tmp_path / "meshes/t.obj")
    return path, content


def test_files_outside_are_refused_unless_allowed(scene, tmp_path):
    path, _ = scene
    allowed = tmp_path / "meshes"
    for function, arguments in ((isocloth.Simulation, {}), (isocloth.check, {}), (isocloth.run, {"quiet": True}),
                                (isocloth.sweep, {"vary": {"fabric.bending_stiffness": [1e-6]}, "quiet": True})):
        for refused in ({}, {"allow": tmp_path / "scenes"}, {"allow": []}):
            with pytest.raises(isocloth.SceneError, match=REFUSED):
                function(path, **arguments, **refused)
        for allow in (allowed, str(tmp_path), "/", [tmp_path / "none", allowed]):
            function(path, **arguments, allow=allow)


def test_what_a_program_made_reads_what_it_names(scene, tmp_path, monkeypatch):
    _, content = scene
    assert isocloth.run(content, quiet=True).summary["status"] == "completed"
    with pytest.raises(isocloth.SceneError, match=REFUSED):
        isocloth.run(content, quiet=True, allow=())
    monkeypatch.chdir(tmp_path)
    isocloth.run(content, quiet=True, allow=())
    content["garments"][0]["mesh"]["file"] = "meshes/t.obj"
    isocloth.run(content, quiet=True, allow=())


def test_fits_and_plans_are_asked(scene, tmp_path):
    path, _ = scene
    plan = {"parameters": [{"number": "fabric.mass_damping", "from": 1, "to": 2}],
            "experiments": [{"name": "a", "scene": "../scenes/scene.json", "train": [0, 1],
                             "positions": {"file": "seen.csv"}}]}
    (tmp_path / "fits").mkdir()
    fit = tmp_path / "fits/fit.json"

    def refused(match, **options):
        fit.write_text(json.dumps(plan))
        with pytest.raises(isocloth.Error, match=match):
            isocloth.fit(fit, quiet=True, **options)

    refused(r"fit\.json: experiments\[0\]\.scene: found .* --allow")
    refused(REFUSED, allow=tmp_path / "scenes")
    refused("seen.csv: cannot read", allow=tmp_path)
    plan["experiments"][0]["positions"]["file"] = "../seen.csv"
    refused(r"experiments\[0\]\.positions\.file: found .* --allow", allow=tmp_path / "scenes")
    refused(r"experiments\[0\]\.positions\.file: found .* --allow", allow=tmp_path / "scenes", simulate=True)
    assert not (tmp_path / "seen.csv").exists()
    (tmp_path / "sweep.json").write_text(json.dumps({"scene": "scenes/scene.json", "vary": {"gravity": [0, 9.81]}}))
    with pytest.raises(isocloth.SceneError, match=REFUSED):
        isocloth.load_plan(tmp_path / "sweep.json")
    isocloth.load_plan(tmp_path / "sweep.json", allow=tmp_path)


def test_the_viewer_asks_for_the_files_of_a_scene_file(scene, tmp_path, monkeypatch):
    from isocloth._view import Viewer

    path, content = scene
    viewer = Viewer.__new__(Viewer)  # without its page
    monkeypatch.chdir(tmp_path)  # which counts for dicts alone
    with pytest.raises(isocloth.SceneError, match=REFUSED):
        viewer._open(path, {})
    for what, options in ((path, {"allow": str(tmp_path)}), (path, {"allow": [tmp_path]}), (content, {})):
        viewer._open(what, options)
        assert viewer.simulation.garment_count == 1
