"""Every number of a result is where its table says: in files, on the page, in Python, in the pages of documentation."""

import json
import pathlib
import re
import sys

import isocloth
import pytest

ROOT = pathlib.Path(__file__).parents[2]
QUANTITIES = isocloth.quantities()


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    scene = {"step": 0.01, "duration": 0.1, "frame_interval": 0.05, "garments": [
        {"name": "sheet", "mesh": {"generator": "quad_grid", "nodes": [7, 5], "size": [0.3, 0.2]},
         "pins": [{"name": "corners", "select": {"nearest": [[0, 0, 0], [0.3, 0, 0]]}}]}]}
    return isocloth.run(scene, tmp_path_factory.mktemp("run") / "result", quiet=True, energy_balance=True)


def test_columns_and_keys_are_in_a_run(result):
    columns = {re.sub("_[xyz]$", "", name) for name in result.metrics}
    keys = result.summary
    wanted = [q for q in QUANTITIES if q["column"] or q["summary"]]
    assert len(wanted) > 100
    assert not [q["column"] for q in wanted if q["column"] and q["column"] not in columns]
    assert not [q["summary"] for q in wanted if q["summary"] and q["summary"] not in keys]
    known = {q["column"] for q in QUANTITIES}
    assert columns - known <= {"frame", "step", "time", "garment", "status"}
    assert set(keys) == {q["summary"] for q in QUANTITIES} - {""}


def test_the_page_has_units_and_labels(result):
    page = (result.folder / "report.html").read_text()
    [text] = re.findall(r'<script type="application/json" id="run-data">(.*?)</script', page, re.DOTALL)
    data = json.loads(text)
    plots = {plot["title"]: plot for plot in data["plots"]["plots"]}
    kinetic = next(q for q in QUANTITIES if q["name"] == "kinetic_energy")
    assert plots[kinetic["plot"]]["unit"] == "J"
    assert {"name": "kinetic_energy", "label": "kinetic"} in plots[kinetic["plot"]]["curves"]
    rows = {row["key"]: row for table in data["summary_tables"] for row in table["rows"]}
    # The banner has the message and the first crossings; what cannot be, contacts and grippers, has no table.
    absent = {q["summary"] for q in QUANTITIES} - {"", "message", "first_intersections"} - set(rows)
    assert all(re.search("contact|held|grip|steps_|cloth|overlap|intersect|cg_|blocked|friction|passages", key)
               for key in absent), absent
    assert rows["penetration_max"] == {"key": "penetration_max", "label": "deepest penetration", "unit": "m"}


def test_classes_have_a_property_with_its_docstring():
    for q in QUANTITIES:
        if q["of"] in ("FrameMetrics", "RunSummary"):
            continue
        about = getattr(getattr(isocloth, q["of"]), q["name"]).__doc__
        assert q["doc"] and q["doc"] in about, q
        assert q["unit"] in ("", "1") or f"[{q['unit']}]" in about, q


def test_sweeps_measure_quantities_of_steps_and_states():
    for q in QUANTITIES:
        if q["of"] not in ("StepReport", "Strain", "Measures") or not q["column"] or "momentum" in q["name"]:
            continue
        words = [q["column"] + after for after in (("_mean", "_end") if "summed" in q["rule"] else ("",))]
        for name, unit, doc in isocloth._core.sweep_measures(words, 4, False):
            assert name in words and doc.startswith(q["doc"]) and unit == ("" if q["unit"] == "1" else q["unit"])


def test_the_page_of_all_has_all(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "host" / "docs"), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    from quantity_reference import quantity_page

    lines = quantity_page(QUANTITIES).splitlines()
    for q in QUANTITIES:
        rows = [line for line in lines if line.startswith(f"| `{q['name']}` |")]
        assert any(q["rule"] in row and q["column"] in row and q["summary"] in row for row in rows), q
