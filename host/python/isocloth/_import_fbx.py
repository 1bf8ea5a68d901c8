"""FBX, by ufbx: meshes of a scene with nodes, skins, blend shapes and animations.

ufbx works aside: its bindings for Python crash where what belongs to a scene is freed, hence nothing is.
"""

import gc

import numpy

from ._import_aside import Refused, work
from ._import_aside import read as read_aside
from ._library import library

_AXES = "xxyyzz"  # by ufbx.CoordinateAxis: +x, -x, +y, ...


def read(path, animation, allow):
    """The :class:`Source` of a file. Unit and axes of its global settings; a front, a side or a hand that are not those
    that go with the axis elsewhere are turned."""
    library("ufbx", "ufbx")
    return read_aside(__name__, path, animation, allow)


_kept = []


def _keep(thing):
    """The same, which then is there until the process ends."""
    _kept.append(thing)
    return thing


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
        raise Refused(f'found no animation "{name}", expected one of {", ".join(names) or "none"}', False)
    if name is None and len(stacks) > 1:
        raise Refused(f"found the animations {', '.join(names)}, expected the name of one (--animation)", False)
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
    return {"names": [_name(node) for node in nodes], "moves": [stack is not None] * len(nodes), "unit": unit, "up": up,
            "rate": settings.frames_per_second,
            "span": [stack.time_begin, stack.time_end] if stack else None, "notes": notes}, arrays


def _work():
    import ufbx

    gc.disable()
    work(lambda question: _answer(ufbx, question), "FBX", ufbx.UfbxError)


if __name__ == "__main__":
    _work()
