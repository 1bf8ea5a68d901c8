"""The code of the README runs as it stands there, from the project's root; so do scenes of other pages."""

import json
import pathlib
import re

import isocloth

ROOT = pathlib.Path(__file__).parents[2]


def test_code_blocks_run(tmp_path, monkeypatch):
    (tmp_path / "bench").symlink_to(ROOT / "bench")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "host" / "python" / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) > 3
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert names["result"].summary["status"] == "completed"
    assert names["observations"]["points"].shape == (1024, 169, 3)
    [block] = re.findall(r"```python\n(.*?)```", (ROOT / "host" / "docs" / "GRADIENTS.md").read_text(), re.DOTALL)
    exec(compile(block, "GRADIENTS.md", "exec"), names)
    assert names["gradient"].fabric["gravity_density"] < 0


def test_scenes_of_the_page_on_sewing_run():
    text = (ROOT / "host" / "docs" / "SEWING.md").read_text()
    block, *parts = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    simulation = isocloth.Simulation(json.loads(block))
    assert not simulation.warnings
    start = simulation.measures()[0].seam_opening
    simulation.advance(40)
    assert simulation.measures()[0].seam_opening < 1e-3 < start
    assert len(parts) == 8
    for part in parts:
        # Of other garments than that of the page: their panels are its own here, or the only one.
        for name, own in {"left": "front", "right": "back", "hood": "front"}.items():
            part = part.replace(f'"{name}"', f'"{own}"')
        scene, keys = json.loads(block), json.loads(part if part.startswith("{") else "{" + part + "}")
        garment = scene["garments"][0]
        if "mesh" in keys:
            continue  # the file of a result
        if "sewing" in keys:
            scene.update(keys)
        elif "grippers" in keys:
            garment.update(keys)
        elif "outline" in keys or "lines" in keys:
            panel = {"name": "flap", "outline": [[0, 0], [0.4, 0], [0.4, 0.6], [0, 0.6]]} | keys
            garment["mesh"] = {"panels": [panel], "edge_length": 0.02}
            del garment["pins"]
        else:
            garment["mesh"].update(keys)
        held = isocloth.Simulation(scene)
        assert "sewing" not in keys or not held.unclosed_seams
        held.advance(5)
        if "grippers" in keys:
            assert abs(held.measures()[0].seam_opening - start) < 1e-6
