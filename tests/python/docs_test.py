"""What the pages say: code runs, commands name what exists, generated pages have all that they are made of."""

import json
import pathlib
import re
import sys

import isocloth
import pytest

ROOT = pathlib.Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "bench" / "README.md", ROOT / "host" / "python" / "README.md",
         *sorted((ROOT / "host" / "docs").glob("*.md"))]


@pytest.fixture(autouse=True)
def generators(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "host" / "docs"), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "host" / "docs" / page).read_text(), re.DOTALL)


@pytest.mark.parametrize("page", ["START.md", "CONCEPTS.md"])
def test_code_of_new_pages_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    assert len(blocks(page, "python")) == 2
    for block in blocks(page, "python"):
        exec(compile(block, page, "exec"), names)
    if page == "START.md":
        assert names["result"].summary["status"] == "completed"
        assert names["simulation"].step_index == 100
    else:
        assert names["cloths"].positions(slice(None)).shape == (64, 81, 3)


def test_scene_of_the_start_and_its_message(tmp_path):
    [block] = blocks("START.md", "json")
    assert isocloth.check(json.loads(block)) == []
    path = tmp_path / "towel.json"
    path.write_text(block.replace("[17, 17]", "[17]"))
    with pytest.raises(isocloth.SceneError) as error:
        isocloth.Simulation(path)
    message = str(error.value).replace(str(path), "towel.json")
    assert f"    isocloth: {message}\n" in (ROOT / "host" / "docs" / "START.md").read_text()


def test_scene_that_does_not_converge():
    [block] = blocks("CONVERGENCE.md", "json")
    scene = json.loads(block)
    summary = isocloth.run(scene, quiet=True).summary
    assert (summary["status"], summary["steps_violated"]) == ("stopped", 1)
    assert isocloth.run({**scene, "projection": {"max_substeps": 8}}, quiet=True).summary["status"] == "completed"


def test_commands_name_what_exists():
    sources = "\n".join(path.read_text() for pattern in ("app/*.cpp", "models/*/command/*.cpp")
                        for path in (ROOT / "host").glob(pattern))
    commands = set(re.findall(r'add_subcommand\(\s*"([a-z]+)"', sources))
    options = set(re.findall(r"--[a-z][a-z-]*", sources)) | {"--help", "--version"}
    assert {"run", "check", "fit", "sweep"} <= commands and "--certify" in options
    seen = 0
    for page in PAGES:
        for line in re.findall(r"^    (?:build/release/bin/)?isocloth (.*)$", page.read_text(), re.MULTILINE):
            words = line.split("#")[0].split()
            seen += 1
            assert words[0] in commands, f"{page}: isocloth {words[0]}"
            for word in words[1:]:
                if word.startswith("--"):
                    assert word.split("=")[0] in options, f"{page}: {word}"
                if word.startswith("bench/"):
                    assert (ROOT / word).exists(), f"{page}: {word}"
    assert seen > 30


def keys_of(schema):
    for key, value in schema.get("properties", {}).items():
        yield key
        yield from keys_of(value)
    for inner in [schema.get("items"), schema.get("additionalProperties"), *schema.get("oneOf", [])]:
        if isinstance(inner, dict):
            yield from keys_of(inner)


def test_page_of_keys_has_every_key():
    from scene_reference import scene_page

    schema = isocloth.schema()
    page = scene_page(schema)
    keys = set(keys_of(schema))
    assert len(keys) > 100
    missing = [key for key in keys if f"| `{key}` |" not in page]
    assert not missing
    step = next(line for line in page.splitlines() if line.startswith("| `step` |"))
    assert "| s |" in step and "\\> 0" in step


def test_page_of_headers_has_what_programs_use():
    from cpp_reference import HEADERS, cpp_page

    page = cpp_page(ROOT)
    for name in ("Simulation", "Scene", "Garment", "Fabric", "Tape", "run_scene()", "read_scene()", "quad_grid()"):
        assert f"### `{name}`\n" in page, name
    assert "std::unique_ptr<Members> members_" not in page and "constexpr auto fields()" not in page
    umbrella = (ROOT / "host" / "isocloth.hpp").read_text()
    assert set(re.findall(r'#include "([^"]+)"', umbrella)) <= set(HEADERS)


def test_page_of_python_has_what_programs_import():
    page = (ROOT / "host" / "docs" / "PYTHON.md").read_text()
    errors = {name for name in isocloth.__all__ if hasattr(isocloth.errors, name)}  # the page takes that module whole
    documented = set(re.findall(r"^\.\. auto(?:class|function):: (\w+)$", page, re.MULTILINE))
    assert set(isocloth.__all__) - errors <= documented


def test_page_of_recipes_has_every_recipe():
    page = (ROOT / "host" / "docs" / "RECIPES.md").read_text()
    assert [name for name in isocloth.schema()["properties"]["recipe"]["enum"] if f"`{name}`" not in page
            and f"### {name}\n" not in page] == []


def test_architecture_has_every_room_of_the_host():
    layers = (ROOT / "tests" / "structure" / "check.sh").read_text()
    rooms = set(re.findall(r"^host/(\w+)", layers, re.MULTILINE)) - {"models", "without_models"}
    assert len(rooms) > 20
    drawing = (ROOT / "host" / "docs" / "ARCHITECTURE.md").read_text()
    assert [room for room in sorted(rooms) if not re.search(rf"\b{room}\b", drawing)] == []
