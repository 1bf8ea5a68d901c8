"""The code of the README runs as it stands there, from the project's root."""

import pathlib
import re

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
