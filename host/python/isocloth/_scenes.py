"""Scenes as the engine reads them: files."""

import contextlib
import copy
import json
import os
import pathlib
import tempfile
import typing

from ._keys import Keys
from .errors import Error, ShapeError


def _make_files_absolute(value, folder):
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in members:
        if key == "file" and isinstance(value, dict) and isinstance(member, (str, os.PathLike)):
            value[key] = str(pathlib.Path(folder, member).absolute())
        elif isinstance(member, (dict, list)):
            _make_files_absolute(member, folder)


def absolute_content(scene, what="scene"):
    """A copy of a :class:`isocloth.scene.Scene` or dict, as a dict that names files by where they are."""
    if isinstance(scene, Keys):
        scene = scene.to_dict()
    if not isinstance(scene, dict):
        raise ShapeError(f"{what}: found {type(scene).__name__}, expected a path, an isocloth.scene.Scene, or a dict "
                         "as in its file")
    content = copy.deepcopy(scene)
    _make_files_absolute(content, pathlib.Path.cwd())
    return content


class SceneFile(typing.NamedTuple):
    """What the engine asks of a scene: its path, and folders besides its own from whose trees it may read files."""

    path: str
    allow: list[str]


@contextlib.contextmanager
def scene_file(scene, what="scene", allow=None):
    """The :class:`SceneFile` of a scene. A path names a file; a :class:`isocloth.scene.Scene`, or a dict as in a scene
    file, is written to a temporary file, and files that it names are looked for in the current folder. allow: a folder
    or several, as :class:`Simulation`; None: none besides that of a scene file, any for what a program has made."""
    folders = [allow] if isinstance(allow, (str, os.PathLike)) else list(allow or ())
    folders = [os.path.abspath(folder) for folder in folders]
    if isinstance(scene, (str, os.PathLike)):
        yield SceneFile(os.fspath(scene), folders)
        return
    folders = ["/"] if allow is None else [os.getcwd(), *folders]
    content = absolute_content(scene, what)
    try:
        text = json.dumps(content, default=_plain)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{what}: {error}, expected numbers, texts, lists and dicts") from None
    with tempfile.TemporaryDirectory(prefix="isocloth-") as folder:
        path = pathlib.Path(folder, f"{what}.json")
        path.write_text(text, encoding="utf-8")
        try:
            yield SceneFile(str(path), folders)
        except Error as error:
            raise type(error)(str(error).replace(str(path), what)) from None


def _plain(value):
    """Numbers and arrays of numpy."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"found a {type(value).__name__}")
