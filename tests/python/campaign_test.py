"""Campaigns: what seeds change, what counts as a failure, folders that are gone on with; and the one of the day."""

import copy
import json
import pathlib
import signal
import subprocess
import sys
import time

import isocloth
import pytest
from isocloth import _campaign
from isocloth.__main__ import main
from isocloth._campaign_scenes import jittered, read_scenes, write_alone

SCENES = pathlib.Path(__file__).parents[2] / "bench" / "campaign"


@pytest.fixture
def folder(tmp_path, sheet):
    """Of two scenes, one of them with cloth on cloth."""
    sheet["projection"] = {"max_substeps": 8}
    (tmp_path / "scenes").mkdir()
    (tmp_path / "scenes" / "plain.json").write_text(json.dumps(sheet))
    sheet |= {"contact": {"cloth": True, "tolerance": 0.00025}}
    sheet["garments"][0]["fabric"] = {"thickness": 0.001, "bending_stiffness": 1e-5}
    (tmp_path / "scenes" / "thick.json").write_text(json.dumps(sheet))
    (tmp_path / "scenes" / "other.json").write_text("{}")
    return tmp_path / "scenes"


def test_campaign_of_the_day(tmp_path, capsys):
    """A small one of scenes in which cloth meets cloth, by a seed that is another one each day."""
    code = main(["campaign", *(str(SCENES / f"{name}.json") for name in ("through_itself", "thrown", "stack", "flag")),
                 "-o", str(tmp_path), "--today", "--seeds", "1", "--steps", "100", "--quiet"])
    said = capsys.readouterr().out
    with capsys.disabled():
        print(f"\n{said}", end="")  # the seed, with which it is repeated: --first-seed
    assert code == 0, said
    totals = json.loads((tmp_path / "campaign.json").read_text())
    assert (totals["cases"], totals["crossings"], totals["unreported"]) == (4, 0, 0)
    assert totals["certified"] == totals["within"] == totals["steps"] == 400


def test_scenes_of_other_engines_run(tmp_path):
    found = isocloth.campaign(SCENES.parent / "peers", tmp_path, seeds=1, steps=1)
    assert [(record["scene"], record["message"]) for record in found.records if record["outcome"] != "clean"] == []
    assert found.count("certified") == found.total == 10


def test_seeds_change_what_they_say_and_nothing_else(folder):
    scene = read_scenes([folder])["thick"]
    before = copy.deepcopy(scene)
    plain, changes = jittered(scene, 0)
    assert changes == {} and scene == before
    assert plain == {**scene, "frame_interval": pytest.approx(0.02), "duration": pytest.approx(0.2),
                     "projection": {"max_substeps": 8, "on_violation": "continue"}}
    one, changes = jittered(scene, 7)
    assert (one, changes) == jittered(scene, 7) and one != jittered(scene, 8)[0]
    fabric = one["garments"][0]["fabric"]
    assert fabric["bending_stiffness"] == 1e-5 * changes["garments[0].fabric.bending_stiffness"]
    assert fabric["thickness"] == 0.001 * changes["thickness"]
    assert one["contact"]["tolerance"] <= 0.25 * fabric["thickness"] * (1 + 1e-12)
    assert one["step"] == 0.01 * changes["step"]
    assert one["duration"] == pytest.approx(0.2 * changes["pace"], abs=0.5 * one["step"])
    assert one["garments"][0]["rest_noise"]["seed"] == 7
    assert isocloth.check(one) == []
    assert jittered(scene, 7, steps=3)[0]["duration"] == 3 * one["step"]
    assert jittered(read_scenes([folder])["plain"], 0, contacts=True)[0]["contact"] == {"cloth": True}


def test_motions_keep_pace_with_each_other():
    for name, scene in read_scenes([SCENES]).items():
        one, changes = jittered(scene, 3)
        pace = changes["pace"]

        def times(content):
            words = json.dumps(content)
            return [json.loads(part.split("]")[0] + "]") for part in words.split('"times": ')[1:]]

        assert times(one) == [[pytest.approx(pace * t) for t in series] for series in times(scene)], name
    grippers = [read_scenes([SCENES])["fold"], jittered(read_scenes([SCENES])["fold"], 3)[0]]
    holds = [scene["garments"][0]["grippers"][0]["holds"][0] for scene in grippers]
    assert holds[1] == {"from": pytest.approx(0.1 * jittered(grippers[0], 3)[1]["pace"]), "to": pytest.approx(
        1.4 * jittered(grippers[0], 3)[1]["pace"])}


def test_it_goes_on_where_it_was_and_shares_cases(folder, tmp_path):
    whole = isocloth.campaign(folder, tmp_path / "whole", seeds=2, steps=5)
    assert [(r["scene"], r["seed"]) for r in whole.records] == [("plain", 0), ("plain", 1), ("thick", 0), ("thick", 1)]
    assert {r["outcome"] for r in whole.records} == {"clean"} and whole.count("certified") == 20
    shares = [isocloth.campaign(folder, tmp_path / "shared", seeds=2, steps=5, shard=(i, 2)) for i in (1, 2)]
    assert [len(found.records) for found in shares] == [2, 4]

    def without_times(found):
        return [{key: value for key, value in r.items() if key != "wall_seconds"} for r in found.records]

    assert without_times(shares[1]) == without_times(whole)
    cases = tmp_path / "whole" / "cases"
    (cases / "thick.1.json").unlink()
    known = {path.name: path.stat().st_mtime_ns for path in cases.iterdir()}
    again = isocloth.campaign(folder, tmp_path / "whole", seeds=2, steps=5)
    assert without_times(again) == without_times(whole)
    assert {name: (cases / name).stat().st_mtime_ns for name in known} == known
    assert "4 of 4 cases: 4 clean" in str(again) and "20 certified" in str(again)
    assert (tmp_path / "whole" / "campaign.csv").read_text().count("\n") == 5
    assert (tmp_path / "whole" / "campaign.svg").read_text().count("<title>") == 4
    # A scene that has changed is run again.
    scene = json.loads((folder / "plain.json").read_text())
    (folder / "plain.json").write_text(json.dumps({**scene, "gravity": 5}))
    isocloth.campaign(folder, tmp_path / "whole", seeds=2, steps=5)
    assert (cases / "plain.0.json").stat().st_mtime_ns > known["plain.0.json"]
    assert (cases / "thick.0.json").stat().st_mtime_ns == known["thick.0.json"]


def test_it_goes_on_after_it_was_killed(folder, tmp_path):
    """Killed within a case, and interrupted within one: what was done stays, and nothing half done."""
    scene = json.loads((folder / "plain.json").read_text())
    (folder / "slow.json").write_text(json.dumps({**scene, "duration": 2_000}))
    out = tmp_path / "out"
    command = [sys.executable, "-m", "isocloth", "campaign", str(folder), "-o", str(out), "--seeds", "1", "--quiet"]
    for how, code in ((signal.SIGKILL, -9), (signal.SIGTERM, 130)):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while not (out / "cases" / "plain.0.json").exists() or not list(out.glob(f".run-*-{process.pid}-*/scene.json")):
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.05)
        process.send_signal(how)
        assert process.wait(60) == code
    (folder / "slow.json").unlink()
    found = isocloth.campaign(folder, out, seeds=1)
    assert [(r["scene"], r["outcome"]) for r in found.records if r["scene"] == "thick"] == [("thick", "clean")]
    assert len(found.records) == 2 and not list(out.glob(".run-*"))


def crossed():
    """A sheet that falls through another, and starts above it."""
    return {"step": 0.01, "duration": 0.3, "garments": [
        {"name": "held", "mesh": {"generator": "quad_grid", "nodes": [6, 6], "size": [0.5, 0.5]},
         "pins": [{"select": {"all": True}}]},
        {"name": "fallen", "mesh": {"generator": "quad_grid", "nodes": [4, 4], "size": [0.2, 0.2]},
         "transform": {"rotation": [80, 0, 0], "translation": [0.13, 0.24, 0.05]}}]}


def test_a_crossing_is_a_failure_and_becomes_a_case(tmp_path, monkeypatch):
    (tmp_path / "crossed.json").write_text(json.dumps(crossed()))
    found = isocloth.campaign(tmp_path / "crossed.json", tmp_path / "out", seeds=1)
    assert found.records[0]["outcome"] == "unasked" and not found.failures and found.count("crossings") == 0
    # The engine lets none through where contact.cloth is said: the same result, with a scene that says it.
    verdict = _campaign._verdict
    monkeypatch.setattr(_campaign, "_verdict", lambda folder, scene, code, said: verdict(
        folder, {**scene, "contact": {"cloth": True}}, code, said))
    found = isocloth.campaign(tmp_path / "crossed.json", tmp_path / "other", seeds=1)
    [record] = found.failures
    assert record["outcome"] == "crossing" and record["crossings"] > 0
    assert f"first at t = {record['first_time']} s" in record["message"]
    kept = tmp_path / "other" / "failures" / "crossed.0.json"
    summary = isocloth.run(json.loads(kept.read_text()), certify=True, quiet=True).summary
    assert summary["steps_intersecting"] in (1, 2) and summary["simulated_seconds"] < 0.3
    assert json.loads((tmp_path / "other" / "campaign.json").read_text())["failures"] == ["failures/crossed.0.json"]


def test_a_result_that_contradicts_its_steps_is_an_unreported_miss(tmp_path, sheet):
    result = isocloth.run(sheet, tmp_path / "out", quiet=True)
    assert _campaign._contradictions(result, sheet) == []
    text = (tmp_path / "out" / "metrics.csv").read_text().splitlines()
    names = text[0].split(",")

    def told(column, value):
        cells = text[3].split(",")
        cells[names.index(column)] = value
        (tmp_path / "out" / "metrics.csv").write_text("\n".join([*text[:3], ",".join(cells), *text[4:]]) + "\n")
        return _campaign._contradictions(isocloth.Result(tmp_path / "out"), sheet)

    [residual] = told("residual_worst", "0.5")
    assert residual == "residual_worst 0.5 > 0.001, yet converged, t = 0.1 s, sheet"
    assert told("penetration", "0.01")[0].startswith("penetration 0.01 > 0.0001, yet converged")
    [strain] = told("strain_max", "0")
    assert strain.endswith("0 by the result, t = 0.1 s")
    assert told("status", "stalled") == ["a frame has not converged, yet no step is counted as violated"]


def test_a_process_that_dies_is_a_crash_and_one_that_refuses_none(folder, tmp_path, monkeypatch):
    scene = json.loads((folder / "thick.json").read_text())
    (folder / "thick.json").write_text(json.dumps({**scene, "recipe": "terzopoulos1987"}))
    found = isocloth.campaign(folder / "thick.json", tmp_path / "refused", seeds=1)
    assert found.records[0]["outcome"] == "refused" and "contact.cloth" in found.records[0]["message"]
    script = tmp_path / "dies.sh"
    script.write_text("#!/bin/sh\nkill -SEGV $$\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    found = isocloth.campaign(folder / "plain.json", tmp_path / "crash", seeds=1)
    assert found.failures[0]["outcome"] == "crash" and found.failures[0]["message"] == "exit code -11"


def test_a_case_ends_in_time_and_its_steps_count(folder, tmp_path):
    """Also where the campaign was begun in the background of a shell, which ignores Ctrl-C."""
    scene = json.loads((folder / "plain.json").read_text())
    (folder / "plain.json").write_text(json.dumps({**scene, "duration": 100_000}))
    subprocess.run([sys.executable, "-m", "isocloth", "campaign", folder / "plain.json", "-o", tmp_path / "out",
                    "--seeds", "1", "--case-seconds", "3"], check=True, capture_output=True,
                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    record = json.loads((tmp_path / "out" / "cases" / "plain.0.json").read_text())
    assert record["outcome"] in ("clean", "unasked") and 0 < record["certified"] == record["steps"] < 10_000_000


def test_a_kept_scene_goes_with_its_files(tmp_path):
    (tmp_path / "mesh.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    scene = {"step": 0.01, "duration": 0.1, "garments": [{"mesh": {"file": str(tmp_path / "mesh.obj")}}]}
    (tmp_path / "kept").mkdir()
    write_alone(scene, tmp_path / "kept" / "one.7.json")
    kept = json.loads((tmp_path / "kept" / "one.7.json").read_text())
    assert kept["garments"][0]["mesh"]["file"] == "one.7.mesh.obj"
    assert isocloth.check(tmp_path / "kept" / "one.7.json") is not None


@pytest.mark.parametrize("arguments, message", [
    (["--shard", "3/2"], "--shard: found 3/2, expected I/N"), (["--seeds", "0"], "expected at least one seed"),
    (["--case-seconds", "0"], "case_seconds > 0")])
def test_bad_arguments_are_refused(folder, tmp_path, capsys, arguments, message):
    assert main(["campaign", str(folder), "-o", str(tmp_path / "out"), *arguments]) == 2
    assert message in capsys.readouterr().err
    for wrong in ("none", "scenes/other.json"):
        assert main(["campaign", str(tmp_path / wrong), "-o", str(tmp_path / "out")]) == 2


def test_a_campaign_goes_on_in_the_process_that_was_interrupted(folder, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_campaign, "_verdict", interrupt)
        with pytest.raises(KeyboardInterrupt):
            isocloth.campaign(folder / "plain.json", tmp_path / "out", seeds=1)
    assert [record["outcome"] for record in isocloth.campaign(folder / "plain.json", tmp_path / "out", seeds=1).records]
