"""Sweeps: cases in lanes and alone, what is recorded and refused, folders that are gone on with."""

import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import isocloth
import numpy
import pytest
from isocloth.__main__ import main


def lowest(run):
    """Height of the lowest node at the end [m]."""
    return run.positions[-1, :, 2].min()


def bits(table):
    return {name: column.tobytes() if column.dtype.kind in "fi" else column.tolist() for name, column in table.items()}


def files(folder):
    return {path.name: path.read_bytes() for path in pathlib.Path(folder, "table").iterdir()}


@pytest.fixture
def vary():
    return {"recipe": ["coltraro2022", "membrane"], "step": [0.01, 0.005],
            "fabric.bending_stiffness": {"from": 1e-6, "to": 1e-4, "count": 3, "scale": "log"}}


def test_cases_have_the_bits_of_runs_of_their_own(sheet, vary):
    table = isocloth.sweep(sheet, vary, measures=["kinetic_energy_end", "residual_max", "node:34"], quiet=True)
    assert table["recipe"].tolist() == ["coltraro2022"] * 6 + ["membrane"] * 6
    numpy.testing.assert_allclose(table["fabric.bending_stiffness"][:3], [1e-6, 1e-5, 1e-4])
    assert table.count("completed") == 12 and len(set(table["kinetic_energy_end"])) == 12
    alone = isocloth.sweep(sheet, vary, measures=["kinetic_energy_end", "residual_max", "node:34"], batch=1, quiet=True)
    assert bits(alone) == bits(table)
    for case in (1, 10):
        sheet |= {"recipe": str(table["recipe"][case]), "step": float(table["step"][case])}
        sheet["garments"][0]["fabric"] = {"bending_stiffness": float(table["fabric.bending_stiffness"][case])}
        metrics = isocloth.run(sheet, quiet=True).metrics
        assert metrics["kinetic_energy"][-1] == table["kinetic_energy_end"][case]


def test_numbers_of_the_garment_share_a_simulation_and_the_rest_does_not(sheet, vary):
    from isocloth._sweep_plan import make_plan

    plan = make_plan(sheet, vary | {"pins[0].select.nearest[0][2]": [0, 1e-9]})
    assert plan.lane_paths() == ["garments[0].fabric.bending_stiffness", "garments[0].pins[0].select.nearest[0][2]"]
    assert [len(cases) for cases in plan.batches()] == [6, 6, 6, 6]
    assert [len(cases) for cases in make_plan(sheet, {"mesh.nodes": [[5, 5], [33, 33]], "gravity": range(20)},
                                              batch=0).batches()] == [1] * 40
    kappas = {"fabric.bending_stiffness": numpy.linspace(1e-6, 1e-4, 300)}
    assert [len(cases) for cases in make_plan(sheet, kappas).batches()] == [128, 128, 44]
    sheet["garments"].append(sheet["garments"][0] | {"name": "other"})
    assert [len(cases) for cases in make_plan(sheet, {"gravity": [1, 2]}, garment="other").batches()] == [1, 1]


def test_distances_are_those_to_the_scene_as_it_stands(sheet, tmp_path):
    sheet["garments"][0]["fabric"] = {"bending_stiffness": 1e-5}
    values = {"fabric.bending_stiffness": [1e-5, 1e-3], "mesh.nodes": [[7, 5], [13, 9]]}
    table = isocloth.sweep(sheet, values, measures=["distance_mean", "distance_max"], against="base", quiet=True)
    assert table["distance_max"][0] == 0 and (table["distance_mean"][1:] > 1e-6).all()
    assert table.units["distance_mean"] == "m"
    isocloth.run(sheet, tmp_path / "base", quiet=True)
    recorded = isocloth.sweep(sheet, values, measures=["distance_mean"], against=tmp_path / "base", quiet=True)
    numpy.testing.assert_allclose(recorded["distance_mean"], table["distance_mean"], atol=1e-7)  # frames are float32


def test_functions_of_a_run_are_measures(sheet):
    def fails(run):
        if run.values["gravity"] == 5:
            raise ValueError("no\nfive")
        return len(run.times)

    measures = ["strain_max", lowest, {"frames": fails}]
    table = isocloth.sweep(sheet, {"gravity": [1, 5, 9]}, measures=measures, quiet=True)
    assert table["status"].tolist() == ["completed", "failed", "completed"]
    assert table["message"][1] == "case 1 (gravity = 5): frames: ValueError: no five"
    assert numpy.isnan(table["lowest"][1]) and table["lowest"][2] < table["lowest"][0]
    assert table["frames"][0] == 5


def test_a_case_that_fails_is_recorded_and_others_keep_their_bits(sheet):
    values = {"garments[0].gravity": [9.81, 1e300, 5], "fabric.bending_stiffness": [1e-6, 1e-5]}
    table = isocloth.sweep(sheet, values, quiet=True)
    assert table["status"].tolist() == ["completed"] * 2 + ["failed"] * 2 + ["completed"] * 2
    assert table["message"][2].startswith(
        "case 2 (garments[0].gravity = 1e+300, fabric.bending_stiffness = 1e-06): the step to")
    assert "was lost: " in table["message"][2]
    good = isocloth.sweep(sheet, {"garments[0].gravity": [9.81, 5], "fabric.bending_stiffness": [1e-6, 1e-5]},
                          quiet=True)
    numpy.testing.assert_array_equal(numpy.delete(table["strain_max"], [2, 3]), good["strain_max"])
    refused = isocloth.sweep(sheet, {"step": [0.01, 0.02], "frame_interval": [0.02, 0.05]}, quiet=True)
    assert refused["status"].tolist() == ["completed"] * 3 + ["failed"]
    assert refused["message"][3].startswith("case 3 (step = 0.02, frame_interval = 0.05): scene: frame_interval")


def test_a_case_stops_where_a_run_stops(sheet):
    sheet["garments"][0]["pins"][0]["motion"] = {"type": "oscillation", "amplitude": [0, 0.2, 0], "frequency": 3}
    sheet |= {"recipe": "coltraro2022", "projection": {"max_iterations": 4, "max_substeps": 1}}
    vary = {"pins[0].motion.frequency": [0.1, 3]}
    table = isocloth.sweep(sheet, vary, measures=["strain_max"], quiet=True)
    assert table["status"].tolist() == ["completed", "stopped"] and "where a run stops" in table["message"][1]
    assert numpy.isfinite(table["strain_max"]).tolist() == [True, False]
    sheet["projection"]["on_violation"] = "continue"
    table = isocloth.sweep(sheet, vary, measures=["strain_max"], quiet=True)
    assert table["status"].tolist() == ["completed", "stalled"] and numpy.isfinite(table["strain_max"]).all()


def test_samples_are_those_of_their_seed_and_path(sheet):
    ranges = {"fabric.bending_stiffness": {"from": 1e-6, "to": 1e-4, "scale": "log"},
              "recipe": ["membrane", "coltraro2022"]}
    first, other = (isocloth.sweep(sheet, ranges, samples=6, seed=seed, quiet=True) for seed in (0, 1))
    assert 1e-6 < first["fabric.bending_stiffness"].min() < first["fabric.bending_stiffness"].max() < 1e-4
    assert set(first["recipe"]) == {"membrane", "coltraro2022"}
    assert not set(first["fabric.bending_stiffness"]) & set(other["fabric.bending_stiffness"])
    listed = isocloth.sweep(sheet, [{"fabric.bending_stiffness": k, "recipe": r} for k, r in
                                    zip(first["fabric.bending_stiffness"].tolist(),
                                        first["recipe"].tolist())], quiet=True)
    assert bits(listed) == bits(first)


@pytest.mark.parametrize("options, message", [
    ({"vary": {"fabric.bending_stifness": [1]}},
     "vary: fabric.bending_stifness: unknown key, the nearest known one is fabric.bending_stiffness"),
    ({"vary": {"garments[0].fabrik.kappa": [1]}}, "unknown key garments[0].fabrik, the nearest known one is garments"),
    ({"vary": {"recipee": ["membrane"]}}, "the nearest known one is recipe"),
    ({"vary": {"garments[1].gravity": [1]}}, "number 1 of garments, of which the scene has 1"),
    ({"vary": {"step[0]": [1]}}, "a number in brackets after step, which is no list"),
    ({"vary": {"step..x": [1]}}, "expected the path of a key"),
    ({"vary": {"fabric.bending_stiffness": []}}, "fabric.bending_stiffness: found an empty list"),
    ({"vary": {}}, "vary: found nothing"),
    ({"vary": []}, "vary: found an empty list"),
    ({"vary": {"gravity": [1, 1.0]}}, "gravity: found 1.0 a second time"),
    ({"vary": [{"gravity": 1}, {"gravity": 1}]}, "case 1 is case 0 again"),
    ({"vary": [{"gravity": 1}, {"step": 1}]}, "case 1 varies step, case 0 gravity"),
    ({"vary": {"fabric.bending_stiffness": [1], "garments[0].fabric.bending_stiffness": [2]}},
     "found garments[0].fabric.bending_stiffness a second time"),
    ({"vary": {"gravity": 3}}, "gravity: found 3, expected a list"),
    ({"vary": {"gravity": [float("nan")]}}, "gravity: found nan, expected finite numbers"),
    ({"vary": {"gravity": {"from": 0, "to": 1, "count": 2, "scale": "log"}}}, "expected linear, or log of numbers > 0"),
    ({"vary": {"fabric.density": [1, -1]}}, "case 1 (fabric.density = -1): scene: garments[0].fabric.density"),
    ({"vary": {"recipe": ["membrane", "membrain"]}}, 'case 1 (recipe = "membrain"): scene: recipe'),
    ({"vary": {"gravity": [1]}, "measures": ["strain_mux"]}, 'found "strain_mux", expected a measure; the nearest'),
    ({"vary": {"gravity": [1]}, "measures": ["distance_mean"]}, "expected against with it"),
    ({"vary": {"gravity": [1]}, "measures": ["node:99"]}, "expected node:N with N from 0 to 34"),
    ({"vary": {"gravity": [1]}, "measures": ["no_module_of_this:name"]}, "no_module_of_this:name: No module named"),
    ({"vary": {"gravity": [1]}, "measures": [lowest, lowest]}, "found lowest a second time"),
    ({"vary": {"gravity": [1]}, "window": (0.3, 0.4)}, "window: found 0.3 to 0.4 s"),
    ({"vary": {"gravity": [1]}, "garment": "shirt"}, "garment: found 'shirt', expected which one is measured: sheet"),
    ({"vary": {"gravity": [1]}, "against": "nowhere"}, "nowhere: No such file"),
    ({"vary": {"gravity": [1]}, "samples": 0}, "samples: found 0"),
    ({"vary": {"gravity": [1]}, "frames": True}, "output: found none"),
    ({"vary": {"gravity": [1]}, "format": "xlsx"}, "expected parquet or csv"),
    ({"vary": {"gravity": [1]}, "output": "x", "worker": (3, 2)}, "worker: found 3/2, expected I/N"),
])
def test_bad_input_says_what_was_expected(sheet, options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(isocloth.Error) as found:
        isocloth.sweep(sheet, **options, quiet=True)
    assert message in str(found.value) and "\n" not in str(found.value)
    assert not os.listdir(tmp_path)


def test_a_garment_with_its_own_gravity_is_not_swept_by_that_of_the_scene(sheet):
    sheet["garments"][0]["gravity"] = 3
    with pytest.raises(isocloth.SceneError, match=r"vary garments\[0\].gravity"):
        isocloth.sweep(sheet, {"gravity": [1, 2]})
    sheet["garments"][0]["replicas"] = 2
    with pytest.raises(isocloth.SceneError, match="found replicas or vary"):
        isocloth.sweep(sheet, {"step": [0.01]})


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_folders_are_gone_on_with_and_shared(sheet, vary, tmp_path, format):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    options = {"measures": ["strain_max", lowest], "batch": 2, "format": format, "quiet": True}
    whole = isocloth.sweep(sheet, vary, tmp_path / "whole", **options)
    assert bits(whole) == bits(isocloth.sweep(sheet, vary, measures=["strain_max", lowest], quiet=True))
    assert len(files(tmp_path / "whole")) == 8
    half = isocloth.sweep(sheet, vary, tmp_path / "shared", worker=(2, 2), **options)
    assert half.batches_missing == 4 and half.case_count == 4  # batches of 2 and 1 in turns
    isocloth.sweep(sheet, vary, tmp_path / "shared", worker=(1, 2), **options)
    assert files(tmp_path / "shared") == files(tmp_path / "whole")
    # One batch is gone, of one the end is missing: these two are run again.
    table = tmp_path / "shared" / "table"
    gone, torn, *rest = sorted(table.iterdir())
    gone.unlink()
    torn.write_bytes(torn.read_bytes()[:-20])
    times = [path.stat().st_mtime_ns for path in rest]
    part = isocloth.read_sweep(tmp_path / "shared")
    assert part.batches_missing == 2 and part.case_count == 9
    again = isocloth.sweep(sheet, vary, tmp_path / "shared", **options)
    assert bits(again) == bits(whole) and files(tmp_path / "shared") == files(tmp_path / "whole")
    assert [path.stat().st_mtime_ns for path in rest] == times
    again.save(tmp_path / "all.csv")
    rows = list(csv.DictReader(open(tmp_path / "all.csv")))
    assert float(rows[3]["strain_max"]) == whole["strain_max"][3]


def test_tables_read_as_one_in_pyarrow(sheet, vary, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    written = isocloth.sweep(sheet, vary | {"garments[0].gravity": [1, 1e300]}, tmp_path / "out", batch=5, quiet=True)
    table = parquet.read_table(tmp_path / "out" / "table").sort_by("case")
    assert table.num_rows == 24 and table["strain_max"].null_count == 12
    assert table.schema.metadata[b"isocloth.sweep"].decode() == written.plan_digest
    numpy.testing.assert_array_equal(table["strain_max"].to_numpy(), written["strain_max"])
    assert table["recipe"].to_pylist() == written["recipe"].tolist()


def test_folders_of_other_plans_are_refused(sheet, vary, tmp_path):
    options = {"format": "csv", "quiet": True}
    isocloth.sweep(sheet, {"fabric.bending_stiffness": [1e-6]}, tmp_path / "out", **options)
    before = files(tmp_path / "out")
    with pytest.raises(isocloth.FileError, match=r"fabric.bending_stiffness: found \[1e-06\], now \[1e-06, 1e-05\]"):
        isocloth.sweep(sheet, {"fabric.bending_stiffness": [1e-6, 1e-5]}, tmp_path / "out", **options)
    sheet["garments"][0]["mesh"]["size"][0] = 0.31
    with pytest.raises(isocloth.FileError, match=r"scene.garments\[0\].mesh.size\[0\]: found 0.3, now 0.31"):
        isocloth.sweep(sheet, {"fabric.bending_stiffness": [1e-6]}, tmp_path / "out", **options)
    assert files(tmp_path / "out") == before
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(isocloth.FileError, match="found files, but no plan.json"):
        isocloth.sweep(sheet, {"step": [0.01]}, tmp_path / "other", **options)
    for place in ("other/notes.txt", "other/notes.txt/deeper"):
        with pytest.raises(isocloth.FileError, match="make the folder writable, or choose another"):
            isocloth.sweep(sheet, {"step": [0.01]}, tmp_path / place, **options)
    plan = tmp_path / "out" / "plan.json"
    plan.write_text(plan.read_text().replace("1e-06", "1e-07"))
    with pytest.raises(isocloth.FileError, match="another content than its digest says"):
        isocloth.read_sweep(tmp_path / "out")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_write_access_says_so(sheet, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(isocloth.FileError, match="make the folder writable"):
        isocloth.sweep(sheet, {"step": [0.01]}, tmp_path / "out", format="csv")


def test_frames_are_kept_and_found(sheet, tmp_path):
    pytest.importorskip("pyarrow")
    values = {"gravity": [1, 2], "fabric.bending_stiffness": [1e-6, 1e-5]}
    table = isocloth.sweep(sheet, values, tmp_path / "out", frames=True, quiet=True)
    sheet["gravity"] = 2
    sheet["garments"][0]["fabric"] = {"bending_stiffness": 1e-5}
    result = isocloth.run(sheet, quiet=True)
    times, positions, faces = table.frames(3)
    numpy.testing.assert_array_equal(times, result.times)
    numpy.testing.assert_array_equal(faces, result.faces)
    numpy.testing.assert_allclose(positions, result.positions, atol=3e-8)
    with pytest.raises(isocloth.ShapeError, match="found 4"):
        table.frames(4)


def test_the_command_is_interrupted_and_goes_on(sheet, tmp_path, capsys):
    sheet["duration"] = 2
    (tmp_path / "sheet.json").write_text(json.dumps(sheet))
    (tmp_path / "own_measures.py").write_text("def highest(run):\n    return run.positions[..., 2].max()\n")
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"scene": "sheet.json", "vary": {"step": {"from": 0.001, "to": 0.002, "count": 2},
                                                                "garments[0].gravity": list(range(2, 62))},
                                "measures": ["strain_max", "own_measures:highest"], "batch": 4, "format": "csv"}))
    command = [sys.executable, "-m", "isocloth", "sweep", str(plan), "-o", str(tmp_path / "out")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not list(tmp_path.glob("out/table/batch-*")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=300)[1]
    assert process.returncode == 130 and "the same call goes on there" in errors
    left = isocloth.read_sweep(tmp_path / "out").batches_missing
    assert 0 < left < 30
    plan.write_text(plan.read_text().replace('"from": 0.001', '"from": 0.002').replace('"count": 2', '"count": 1'))
    assert main(["sweep", str(plan), "-o", str(tmp_path / "out"), "--quiet"]) == 2
    assert "another sweep" in capsys.readouterr().err
    assert main(["sweep", str(plan), "-o", str(tmp_path / "new"), "--quiet", "--worker", "1/5"]) == 0
    assert "12 cases: 12 completed, 0 missed the tolerance, 0 failed; 12 batches to come" in capsys.readouterr().out
    assert main(["sweep", str(plan), "-o", str(tmp_path / "new"), "--worker", "1"]) == 2
    assert main(["sweep", str(tmp_path / "none.json"), "-o", str(tmp_path / "new")]) == 2
    plan.write_text('{"scene": "sheet.json", "vary": {}, "measure": []}')
    assert main(["sweep", str(plan), "-o", str(tmp_path / "new")]) == 2
    assert "measure: unknown key" in capsys.readouterr().err
