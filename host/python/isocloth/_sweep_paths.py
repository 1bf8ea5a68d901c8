"""Keys of a scene by their paths, as ``garments[0].fabric.bending_stiffness``."""

import copy
import difflib
import functools
import json
import re

from . import _core
from .errors import SceneError

_TOKEN = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")


@functools.cache
def _schema():
    return json.loads(_core.schema())


def tokens(path):
    """Keys and numbers of a path: ``a.b[2]`` is ``["a", "b", 2]``. Raises SceneError for what is none."""
    found, end = [], 0
    for match in _TOKEN.finditer(path):
        if match.start() != end:
            break
        found.append(match[1] if match[1] is not None else int(match[2]))
        end = match.end()
    if not found or end != len(path) or path.startswith("."):
        raise SceneError(f"vary: found {path!r}, expected the path of a key, such as "
                         "garments[0].fabric.bending_stiffness")
    return found


def text(parts):
    """The other way."""
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in parts).lstrip(".")


def resolve(path, scene):
    """The whole path of a key of a scene: what is no key of the scene itself is one of its only garment, as for the
    command. Raises SceneError for unknown keys, with the nearest known one, and for numbers beyond lists.

    >>> resolve("fabric.bending_stiffness", {"garments": [{}]})
    'garments[0].fabric.bending_stiffness'
    """
    parts = tokens(_core.present_path(path))
    top = _schema()["properties"]
    if parts[0] not in top and len(scene.get("garments", ())) == 1:
        parts = ["garments", 0, *parts]
    elif parts == ["gravity"] and any("gravity" in garment for garment in scene.get("garments", ())):
        raise SceneError("vary: gravity: a garment says its own, which would win; vary garments[0].gravity")
    nodes, value = [_schema()], scene
    for i, part in enumerate(parts):
        known = {}
        for node in nodes:
            _add_members(node, known)
        where = text(parts[:i])
        if isinstance(part, int):
            if "[]" not in known:
                raise SceneError(f"vary: {path}: found a number in brackets after {where}, which is no list")
            count = len(value) if isinstance(value, list) else 0
            if part >= count:
                raise SceneError(f"vary: {path}: found number {part} of {where}, of which the scene has {count}")
            nodes, value = known["[]"], value[part]
        else:
            if part not in known:
                _refuse_unknown(path, parts, i, known)
            nodes, value = known[part], value.get(part, {}) if isinstance(value, dict) else {}
    return text(parts)


def _add_members(node, known):
    """Schemas of what lies in a schema, by key; "[]": of members of a list."""
    for variant in node.get("oneOf", ()):
        _add_members(variant, known)
    for key, member in node.get("properties", {}).items():
        known.setdefault(key, []).append(member)
    if "items" in node:
        known.setdefault("[]", []).append(node["items"])


def _refuse_unknown(path, parts, i, known):
    where, asked = text(parts[:i]), text(parts[:i + 1])
    candidates = {f"{where}.{key}".lstrip(".") for key in known if key != "[]"}
    is_short = not path.startswith(asked)  # the garment was left out
    if is_short:
        asked = asked.removeprefix("garments[0].")
        candidates = {candidate.removeprefix("garments[0].") for candidate in candidates}
    if i == 0 or is_short and i == 2:
        candidates |= set(_schema()["properties"])
    near = difflib.get_close_matches(asked, sorted(candidates), 1, 0)
    raise SceneError(f"vary: {path}: unknown key"
                     + (f" {asked}" if asked != path else "")
                     + (f", the nearest known one is {near[0]}" if near else f"; {where} holds no keys"))


def put(scene, path, value):
    """Puts a value where the path says, ``None``: nothing, so that the engine takes its default; objects on the way are
    made."""
    *way, last = tokens(path)
    at = scene
    for here, following in zip(way, [*way[1:], last]):
        if isinstance(here, str) and here not in at and isinstance(following, str):
            at[here] = {}
        at = at[here]
    for old in [key for key in at if key != last and _core.present_path(f"{way[-1]}.{key}") == f"{way[-1]}.{last}"
                ] if way and isinstance(at, dict) else ():
        del at[old]
    if value is None:
        at.pop(last, None) if isinstance(at, dict) else at.__setitem__(last, None)
    else:
        at[last] = copy.deepcopy(value)
