"""Runs into result folders."""

import json
import pathlib

import isocloth
import numpy
import pytest


def test_a_run_leaves_what_the_command_leaves(sheet, tmp_path):
    result = isocloth.run(sheet, tmp_path / "result", quiet=True, certify=True)
    assert result.summary["status"] == "completed"
    assert result.summary["steps_certified"] == 20
    names = {path.name for path in (tmp_path / "result").iterdir()}
    assert {"report.html", "summary.json", "metrics.csv", "trajectory.h5", "checkpoint.h5"} <= names
    simulation = isocloth.Simulation(sheet)
    numpy.testing.assert_allclose(result.frame(0), simulation.positions(), atol=1e-7)
    simulation.advance(20)
    numpy.testing.assert_allclose(result.frame(-1), simulation.positions(), atol=1e-7)
    assert result.positions.shape == (5, 35, 3)
    assert result.garments == {"sheet": slice(0, 35)}
    assert set(result.metrics["garment"]) == {"sheet"}
    assert result.metrics["kinetic_energy"].dtype == float
    again = isocloth.Result(tmp_path / "result")
    numpy.testing.assert_array_equal(again.positions, result.positions)
    assert "completed, 5 frames" in repr(again)


def test_a_result_is_not_overwritten_unasked(sheet, tmp_path):
    isocloth.run(sheet, tmp_path / "result", quiet=True)
    with pytest.raises(isocloth.FileError, match="result"):
        isocloth.run(sheet, tmp_path / "result", quiet=True)
    isocloth.run(sheet, tmp_path / "result", quiet=True, overwrite=True)
    with pytest.raises(ValueError, match="expected one of them"):
        isocloth.run(sheet, tmp_path / "result", overwrite=True, resume=True)


def test_ctrl_c_leaves_a_result_that_is_resumed_bit_for_bit(sheet, tmp_path, interrupt_when):
    sheet["garments"][0]["mesh"]["nodes"] = [17, 17]
    sheet["duration"] = 30
    path = tmp_path / "scene.json"
    path.write_text(json.dumps(sheet))
    whole = isocloth.run(path, quiet=True)
    interrupt_when(lambda: any(tmp_path.glob("result.partial-*/checkpoint.h5")))  # of the folder under way
    with pytest.raises(KeyboardInterrupt):
        isocloth.run(path, tmp_path / "result", quiet=True)
    part = isocloth.Result(tmp_path / "result")
    assert part.summary["status"] == "interrupted" and len(part.times) < len(whole.times)
    result = isocloth.run(path, tmp_path / "result", quiet=True, resume=True)
    assert result.summary["status"] == "completed"
    numpy.testing.assert_array_equal(result.positions, whole.positions)


def test_paths_that_hold_no_result_say_so(tmp_path):
    with pytest.raises(isocloth.FileError, match="trajectory.h5"):
        isocloth.Result(tmp_path / "nothing")


def test_files_of_dicts_are_sought_in_the_current_folder(sheet, tmp_path, monkeypatch):
    vertices = numpy.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0]], dtype=float)
    mesh = isocloth.save_mesh(tmp_path / "patch.obj", vertices, [[0, 1, 2, 3], [1, 4, 2, -1]])
    assert pathlib.Path(mesh["file"]).is_absolute()
    monkeypatch.chdir(tmp_path)
    sheet["garments"][0] |= {"mesh": {"file": "patch.obj"}, "pins": []}
    simulation = isocloth.Simulation(sheet)
    numpy.testing.assert_array_equal(simulation.positions(), vertices)
    numpy.testing.assert_array_equal(simulation.faces(0), [[0, 1, 2, 3], [1, 4, 2, -1]])


def test_the_page_is_shown_in_a_notebook(sheet, tmp_path):
    import html.parser

    result = isocloth.run(sheet, tmp_path / "result", quiet=True)
    tags = []
    parser = html.parser.HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.append((tag, dict(attributes)))
    parser.feed(result.widget(height=500)._repr_html_())
    [(tag, attributes)] = tags
    assert tag == "iframe" and "height: 500px" in attributes["style"]
    assert attributes["srcdoc"] == (tmp_path / "result" / "report.html").read_text(encoding="utf-8")
    assert "allow-same-origin" not in attributes["sandbox"]
    with pytest.raises(isocloth.ShapeError, match="widget: height: found '9', expected a whole number from 100"):
        result.widget("9")
    with pytest.raises(isocloth.FileError, match="widget: found a result that is in memory alone"):
        isocloth.run(sheet, quiet=True).widget()


def test_the_command_of_the_package_runs_scenes(sheet, tmp_path, capsys):
    from isocloth.__main__ import main

    path, result = tmp_path / "scene.json", tmp_path / "result"
    path.write_text(json.dumps(sheet))
    words = ["run", str(path), "-o", str(result), "--quiet", "--threads", "1"]
    assert main([*words, "--ply"]) == 0
    assert capsys.readouterr().out.endswith("completed, 5 frames\n")
    assert len(list((result / "frames").glob("*.ply"))) == 5
    assert main(words) == 2
    assert "found a folder that is not empty" in capsys.readouterr().err
    path.write_text(json.dumps(sheet | {"duration": 0.4}))
    assert main([*words, "--resume", "--frames-of", "0"]) == 0
    assert len(isocloth.Result(result).times) == 9
    path.write_text(json.dumps(sheet | {"projection": {"max_iterations": 1, "tolerance": 1e-9, "max_substeps": 1}}))
    assert main([*words, "--overwrite"]) == 1
    assert "stopped" in capsys.readouterr().err
    path.write_text(json.dumps(sheet | {"steps": 1}))
    assert main([*words, "--overwrite"]) == 2
