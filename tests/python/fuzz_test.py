"""Some of the cases of tests/fuzz/python_fuzz.py, and those that once ended badly."""

import pathlib
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).parents[1] / "fuzz"))

from python_fuzz import fuzz  # noqa: E402

#: Of each kind what its library is, how many cases from the first, and other numbers.
CASES = {"gltf": ("pygltflib", 40, (374,)), "glb": ("pygltflib", 40, (319,)), "usda": ("pxr", 2, ()),
         "usdc": ("pxr", 0, (51, 147, 268)), "fbx": ("ufbx", 3, ()), "gym": ("gymnasium", 25, ()),
         "view": ("viser", 400, ())}


@pytest.mark.parametrize("kind", CASES)
def test_damaged_input_ends_well(kind, tmp_path):
    package, count, more = CASES[kind]
    pytest.importorskip(package)
    bad, ends = fuzz(count, 0, (kind,), tmp_path)
    for number in more:
        bad += fuzz(1, number, (kind,), tmp_path)[0]
    assert not bad, "\n".join(f"{kind} {number}: {how}" for kind, number, how in bad)
    assert sum(ends[kind].values()) == count


def test_what_ends_badly_is_told(tmp_path, monkeypatch):
    """Faults of each sort: an exception of another kind, a file elsewhere, and the end of the process."""
    import import_cases

    def of(fault):
        def run(_kind, _choice, root):
            (root / "seed").write_text("x")
            return fault(root)

        monkeypatch.setattr(import_cases, "run", run)
        return fuzz(1, 0, ("gltf",), tmp_path)[0]

    assert "KeyError: 'a'" in of(lambda _root: {}["a"])[0][2]
    assert "ended with code" in of(lambda _root: __import__("os")._exit(7))[0][2]
    assert "MemoryError" in of(lambda _root: bytearray(1 << 40))[0][2]
    assert (tmp_path / "gltf-0" / "seed").read_text() == "x"
