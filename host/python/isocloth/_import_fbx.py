"""FBX, by ufbx: meshes of a scene with nodes, skins, blend shapes and animations.

ufbx works in a process of its own, which ends when it has answered: its bindings for Python crash where what belongs to
a scene is freed, hence nothing is, and a file that would bring it down ends in a message here.
"""

import gc
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

from ._import import Mesh, Source
from ._library import library
from .errors import Error, FileError

_AXES = "xxyyzz"  # by ufbx.CoordinateAxis: +x, -x, +y, ...


def read(path, animation, allow):
    """The :class:`Source` of a file. Unit and axes of its global settings; a front, a side or a hand that are not those
    that go with the axis elsewhere are turned."""
    library("ufbx", "ufbx")
    answer, arrays = _ask(path, animation, [])
    frames = {None: [arrays[f"points{i}"] for i in range(len(answer["names"]))]}

    def prepare(times):
        _, moved = _ask(path, animation, [float(t) for t in times])
        for k, time in enumerate(times):
            frames[time] = [moved[f"frames{i}"][k] for i in range(len(answer["names"]))]

    meshes = []
    for i, name in enumerate(answer["names"]):
        ends = numpy.cumsum(arrays[f"sizes{i}"])[:-1]
        faces = [tuple(part.tolist()) for part in numpy.split(arrays[f"corners{i}"], ends)]
        uvs = arrays[f"uvs{i}"]
        meshes.append(Mesh(name, faces, uvs if len(uvs) else None, lambda time, i=i: frames[time][i],
                           answer["span"] is not None))
    return Source(meshes, answer["unit"], answer["up"], answer["span"] and tuple(answer["span"]), answer["rate"],
                  answer["notes"], prepare)


def _ask(path, animation, times):
    """What the other process says of the file, and its arrays; with times, positions at these alone."""
    with tempfile.TemporaryDirectory(prefix="isocloth-") as folder:
        question = json.dumps({"path": os.path.abspath(path), "animation": animation, "times": times,
                               "folder": folder})
        # Modules are sought where it begins, too, which may be a stranger's folder: not there.
        done = subprocess.run([sys.executable, "-m", __name__], input=question, text=True, capture_output=True,
                              cwd=folder, env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath,
                                                                                             sys.path))})
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or [f"it ended with code {done.returncode}"])[-1]
            raise FileError(f"{path}: found no FBX that can be read: {last[:300]}")
        answer = json.loads(pathlib.Path(folder, "answer.json").read_text(encoding="utf-8"))
        if "error" in answer:
            raise (FileError if answer["is_file"] else Error)(f"{path}: {answer['error']}")
        with numpy.load(pathlib.Path(folder, "arrays.npz")) as arrays:
            return answer, dict(arrays)


_kept = []


def _keep(thing):
    """The same, which then is there until the process ends."""
    _kept.append(thing)
    return thing


class _Refused(Exception):
    """With ``is_file``: whether the file is at fault."""

    def __init__(self, message, is_file=True):
        super().__init__(message)
        self.is_file = is_file


def _matrix(m):
    return numpy.array([[c.x, c.y, c.z] for c in (m.c0, m.c1, m.c2, m.c3)]).T


def _shape(node, notes):
    """Faces as their sizes and corners, and texture coordinates of the corners."""
    mesh = _keep(node.mesh)
    corners = numpy.array(list(_keep(mesh.vertex_indices)), dtype=int)
    mirrored = numpy.linalg.det(_matrix(_keep(node.geometry_to_world))[:, :3]) < 0
    sizes, order = [], []
    for face in _keep(mesh.faces):
        own = list(range(face.index_begin, face.index_begin + face.num_indices))
        if len(own) >= 3:
            order += own[::-1] if mirrored else own
            sizes.append(len(own))
    if len(sizes) < mesh.num_faces:
        notes.append(f"{_name(node)}: {mesh.num_faces - len(sizes)} points and lines were left out")
    uvs = numpy.zeros((0, 2))
    if (uv := _keep(mesh.vertex_uv)).exists:
        values = numpy.array([(v.x, v.y) for v in _keep(uv.values)]).reshape(-1, 2)
        uvs = values[numpy.array(list(_keep(uv.indices)), dtype=int)[order]]
    return numpy.array(sizes, dtype=int), corners[order], uvs


def _name(node):
    return node.name or _keep(node.mesh).name or f"mesh_{node.typed_id}"


def _points(node):
    mesh = _keep(node.mesh)
    values = _keep(_keep(mesh.skinned_position).values)
    found = numpy.array([(v.x, v.y, v.z) for v in values]).reshape(-1, 3)
    if not mesh.skinned_is_local:
        return found
    matrix = _matrix(_keep(node.geometry_to_world))
    return found @ matrix[:, :3].T + matrix[:, 3]


def _stack(scene, name):
    stacks = [stack for stack in map(_keep, _keep(scene.anim_stacks)) if stack.time_end > stack.time_begin]
    names = [stack.name for stack in stacks]
    if name is not None and name not in names:
        raise _Refused(f'found no animation "{name}", expected one of {", ".join(names) or "none"}', False)
    if name is None and len(stacks) > 1:
        raise _Refused(f"found the animations {', '.join(names)}, expected the name of one (--animation)", False)
    return stacks[names.index(name)] if name is not None else stacks[0] if stacks else None


def _answer(ufbx, question):
    path, notes, arrays = question["path"], [], {}
    settings = _keep(_keep(ufbx.load_file(path, ignore_animation=True, ignore_geometry=True,
                                          ignore_embedded=True)).settings)
    said = {prop.name for prop in _keep(_keep(settings.props).props)}
    unit = settings.unit_meters if "UnitScaleFactor" in said else None
    up = int(settings.axes.up) if {"UpAxis", "FrontAxis", "CoordAxis"} <= said else len(_AXES)
    up = _AXES[up] if up < len(_AXES) else None  # an axis that is none is as good as none said
    options = {"ignore_embedded": True, "index_error_handling": ufbx.IndexErrorHandling.ABORT_LOADING}
    if up == "y":
        options["target_axes"] = ufbx.axes_right_handed_y_up
    elif up is not None:
        options["target_axes"], up = ufbx.axes_right_handed_z_up, "z"
    scene = _keep(ufbx.load_file(path, **options))
    stack = _stack(scene, question["animation"])
    nodes = [node for node in map(_keep, _keep(scene.nodes)) if (mesh := _keep(node.mesh)) is not None
             and mesh.num_faces]
    notes += [f"{_name(node)}: is hidden and was left out" for node in nodes if not node.visible]
    nodes = [node for node in nodes if node.visible]
    if question["times"]:
        frames, anim = [], _keep(stack.anim)
        for time in question["times"]:
            # A constant key begins at its time, which rounding may have put behind that of its frame.
            now = _keep(ufbx.evaluate_scene(scene, anim, time + 1e-9, evaluate_skinning=True))
            moved = _keep(now.nodes)
            frames.append([_points(_keep(moved[node.typed_id])) for node in nodes])
        arrays = {f"frames{i}": numpy.stack([frame[i] for frame in frames]) for i in range(len(nodes))}
    else:
        for i, node in enumerate(nodes):
            arrays[f"sizes{i}"], arrays[f"corners{i}"], arrays[f"uvs{i}"] = _shape(node, notes)
            arrays[f"points{i}"] = _points(node)
    return {"names": [_name(node) for node in nodes], "unit": unit, "up": up, "rate": settings.frames_per_second,
            "span": [stack.time_begin, stack.time_end] if stack else None, "notes": notes}, arrays


def _work():
    import ufbx

    gc.disable()
    question, arrays = json.load(sys.stdin), {}
    folder = pathlib.Path(question["folder"])
    try:
        answer, arrays = _answer(ufbx, question)
    except ufbx.UfbxError as error:
        answer = {"error": f"found no FBX that can be read: {' '.join(str(error).split())[:200]}", "is_file": True}
    except _Refused as error:
        answer = {"error": str(error), "is_file": error.is_file}
    numpy.savez(folder / "arrays.npz", **arrays)
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
    os._exit(0)  # scenes are not collected


if __name__ == "__main__":
    _work()
