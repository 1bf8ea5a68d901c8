"""What the engine needs of a scene of Blender, in metres of the world: meshes at rest, and what moves by frames."""

import math
import pathlib

import bpy
import numpy

from .errors import AddonError
from .outlines import Curve
from .scene_file import Body, Cloth, Fabric, Pattern, Timing

MODIFIER = "isocloth"
_DEFORMING = {"ARMATURE", "CAST", "CORRECTIVE_SMOOTH", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM",
              "LAPLACIANSMOOTH", "LATTICE", "MESH_DEFORM", "SHRINKWRAP", "SIMPLE_DEFORM", "SMOOTH",
              "SURFACE_DEFORM", "WARP", "WAVE"}


def _number(value):
    """What the user wrote: properties of Blender have single precision."""
    return float(f"{value:.6g}")


def objects_of(scene, role):
    """Those of a role, by name."""
    return sorted((obj for obj in scene.objects if obj.isocloth.role == role), key=lambda obj: obj.name)


def timing_of(scene):
    """The :class:`Timing` of a scene: a frame of the engine for each of the scene's."""
    own = scene.isocloth
    last = own.last_frame or scene.frame_end
    if not scene.frame_start < last <= scene.frame_end:
        raise AddonError(f"Simulate to: found frame {last}, expected {scene.frame_start + 1} to {scene.frame_end}, the "
                         "frames of the scene")
    return Timing(scene.render.fps / scene.render.fps_base, scene.frame_end - scene.frame_start + 1,
                  last - scene.frame_start + 1, own.steps)


def gravity_of(scene):
    """Acceleration along -z [m/s^2], as the properties of the scene show it, and a warning or nothing."""
    if not scene.use_gravity:
        return 0.0, None
    x, y, z = (component * scene.unit_settings.scale_length for component in scene.gravity)
    if math.hypot(x, y) > 1e-6 * abs(z) + 1e-9:
        raise AddonError(f"gravity: found ({x:.3g}, {y:.3g}, {z:.3g}) m/s², expected it along z")
    warning = None
    if scene.unit_settings.scale_length != 1 and abs(z) < 5:
        warning = (f"gravity is {abs(z):.3g} m/s², as the scene's properties show it: its unit scale is "
                   f"{scene.unit_settings.scale_length:g}")
    return -_number(z), warning


def folder_of(scene):
    """That of the scene's files, and a warning or nothing."""
    chosen = scene.isocloth.folder
    if chosen.startswith("//") and not bpy.data.filepath:
        return (pathlib.Path(bpy.app.tempdir, "isocloth", bpy.path.clean_name(scene.name)),
                "the file is not saved: the cache is in a temporary folder, and is gone when Blender ends")
    if not chosen:
        raise AddonError("Folder: found nothing, expected a folder for scene, result and caches")
    return pathlib.Path(bpy.path.abspath(chosen), bpy.path.clean_name(scene.name)), None


class Collected:
    """``cloths``, ``bodies``, ``patterns``: what :func:`scene_file.write_scene` takes, by name; ``places``: world
    matrices of the cloths in metres by frame, shape (cloths, frames, 4, 4)."""

    def __init__(self, context, timing):
        scene = context.scene
        self._unit = scene.unit_settings.scale_length
        objects = {role: objects_of(scene, role) for role in ("CLOTH", "BODY", "PATTERN")}
        for obj in objects["CLOTH"]:
            if obj.type != "MESH":
                raise AddonError(f"{obj.name}: found a {obj.type.lower()}, expected a mesh as cloth; convert it")
        for obj in objects["PATTERN"]:
            if obj.type != "CURVE":
                raise AddonError(f"{obj.name}: found a {obj.type.lower()}, expected a curve as pattern")
        for obj in (*objects["CLOTH"], *objects["BODY"]):
            if not obj.visible_get():
                raise AddonError(f"{obj.name}: is hidden, expected it to be seen: Blender does not animate what is "
                                 "hidden; show it, or make it nothing for isocloth")
        frame, subframe = scene.frame_current, scene.frame_subframe
        hidden = _quiet_modifiers(objects["CLOTH"])
        try:
            self._sample(context, objects, timing)
        finally:
            for modifier in hidden:
                modifier.show_viewport = True
            scene.frame_set(frame, subframe=subframe)

    def _sample(self, context, objects, timing):
        scene = context.scene
        matrices, motions, surfaces = [], [[] for _ in objects["CLOTH"]], [[] for _ in objects["BODY"]]
        pinned = [_pinned(obj) for obj in objects["CLOTH"]]
        for frame in range(scene.frame_start, scene.frame_start + timing.frames):
            scene.frame_set(frame)
            graph = context.evaluated_depsgraph_get()
            matrices.append([self._matrix(obj.evaluated_get(graph)) for obj in objects["CLOTH"]])
            for obj, pins, motion in zip(objects["CLOTH"], pinned, motions):
                if len(pins):
                    motion.append(self._evaluated(obj, graph)[0])
            for obj, surface in zip(objects["BODY"], surfaces):
                surface.append(self._evaluated(obj, graph, not surface))
            if frame == scene.frame_start:
                self.patterns = [self._pattern(obj, graph) for obj in objects["PATTERN"]]
        self.places = numpy.array(matrices).reshape(timing.frames, -1, 4, 4).swapaxes(0, 1)
        self.cloths = [self._cloth(obj, places[0], pins, motion)
                       for obj, places, pins, motion in zip(objects["CLOTH"], self.places, pinned, motions)]
        self.bodies = []
        for obj, surface in zip(objects["BODY"], surfaces):
            for number, (vertices, _) in enumerate(surface):
                if len(vertices) != len(surface[0][0]):
                    raise AddonError(f"{obj.name}: found {len(vertices)} vertices in frame "
                                     f"{scene.frame_start + number} and {len(surface[0][0])} in the first, expected as "
                                     "many in all")
            self.bodies.append(Body(obj.name, numpy.stack([vertices for vertices, _ in surface]), surface[0][1],
                                    _number(obj.isocloth.friction)))

    def _matrix(self, obj):
        matrix = numpy.array(obj.matrix_world, dtype=float)
        matrix[:3] *= self._unit
        if abs(numpy.linalg.det(matrix[:3, :3])) < 1e-18:
            raise AddonError(f"{obj.name}: found a scale of 0, expected more")
        return matrix

    def _evaluated(self, obj, graph, with_faces=False):
        """Vertices in the world [m] with all modifiers, and faces or None."""
        evaluated = obj.evaluated_get(graph)
        try:
            mesh = evaluated.to_mesh()
        except RuntimeError:
            raise AddonError(f"{obj.name}: found a {obj.type.lower()}, expected what has a surface") from None
        try:
            matrix = self._matrix(evaluated)
            return placed(_coordinates(mesh), matrix), faces_of(mesh, matrix)[0] if with_faces else None
        finally:
            evaluated.to_mesh_clear()

    def _fabric(self, obj):
        own = obj.isocloth
        return Fabric(own.preset.lower(), _number(own.thickness), _number(own.pressure))

    def _cloth(self, obj, matrix, pins, motion):
        vertices = placed(_coordinates(obj.data), matrix)
        faces, corners = faces_of(obj.data, matrix)
        uvs = None
        if obj.isocloth.use_uvs:
            layer = obj.data.uv_layers.active
            if layer is None:
                raise AddonError(f"{obj.name}: found no UV map, expected one, or no grain by it")
            uvs = numpy.empty(2 * len(obj.data.loops))
            layer.data.foreach_get("uv", uvs)
            uvs = uvs.reshape(-1, 2)[corners]
        if len(pins) and any(len(frame) != len(vertices) for frame in motion):
            raise AddonError(f"{obj.name}: found modifiers that change its vertices before those that move them, "
                             "expected them after")
        return Cloth(obj.name, vertices, faces, self._fabric(obj), uvs, pins,
                     numpy.stack(motion) if len(pins) else None)

    def _pattern(self, obj, graph):
        matrix = self._matrix(obj.evaluated_get(graph))
        curves = []
        for spline in obj.data.splines:
            if spline.type == "BEZIER":
                points = spline.bezier_points
                parts = [placed(numpy.array([getattr(point, name)[:] for point in points]), matrix)
                         for name in ("co", "handle_right", "handle_left")]
                curves.append(Curve(*parts, spline.use_cyclic_u))
            elif spline.type == "POLY":
                corners = placed(numpy.array([point.co[:3] for point in spline.points]), matrix)
                curves.append(Curve(corners, is_closed=spline.use_cyclic_u))
            else:
                raise AddonError(f"{obj.name}: found a {spline.type} curve, expected Bezier or poly: Set Spline Type")
        seams = [(seam.curve, seam.edge, seam.other_curve, seam.other_edge) for seam in obj.isocloth.seams]
        points = [(point.curve, point.point) for point in obj.isocloth.points]
        return Pattern(obj.name, curves, seams, points, self._fabric(obj), _number(obj.isocloth.edge_length))


def _quiet_modifiers(cloths):
    """Switches off what does more than deform, and what plays an earlier result."""
    hidden = [modifier for obj in cloths for modifier in obj.modifiers
              if modifier.show_viewport and (modifier.name == MODIFIER or modifier.type not in _DEFORMING)]
    for modifier in hidden:
        modifier.show_viewport = False
    return hidden


def _pinned(obj):
    name = obj.isocloth.pinned
    if not name:
        return numpy.zeros(0, int)
    group = obj.vertex_groups.get(name)
    if group is None:
        raise AddonError(f'{obj.name}: found no vertex group "{name}", expected one of its own as Pinned')
    pins = numpy.array([vertex.index for vertex in obj.data.vertices
                        if any(own.group == group.index and own.weight >= 0.5 for own in vertex.groups)], dtype=int)
    if not len(pins):
        raise AddonError(f'{obj.name}: found no vertex of a weight of half or more in "{name}", expected at least one')
    return pins


def _coordinates(mesh):
    flat = numpy.empty(3 * len(mesh.vertices))
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def faces_of(mesh, matrix):
    """Triangles and quads of a mesh, larger polygons as triangles, and the numbers of their corners (loops). Where the
    matrix mirrors them they go around the other way, so that their fronts stay outside."""
    faces, corners = [], []
    order = -1 if numpy.linalg.det(matrix[:3, :3]) < 0 else 1
    large = set()
    for polygon in mesh.polygons:
        if polygon.loop_total <= 4:
            faces.append(list(polygon.vertices)[::order])
            corners += list(polygon.loop_indices)[::order]
        else:
            large.add(polygon.index)
    if large:
        mesh.calc_loop_triangles()
        for triangle in mesh.loop_triangles:
            if triangle.polygon_index in large:
                faces.append(list(triangle.vertices)[::order])
                corners += list(triangle.loops)[::order]
    return faces, numpy.array(corners, dtype=int)


def placed(points, matrix):
    """Points, shape (n, 3), where a matrix of four rows has them."""
    return points @ matrix[:3, :3].T + matrix[:3, 3]
