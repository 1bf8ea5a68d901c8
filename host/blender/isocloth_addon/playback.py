"""Results on objects: point caches that play, meshes of sewn garments, shape keys."""

import pathlib

import bpy
import numpy

from .collect import MODIFIER, placed
from .engine import frame_files
from .errors import AddonError
from .point_cache import pieces, read_pc2, read_ply, write_pc2
from .scene_file import Names


class Job:
    """What is written for a run, and what its result becomes. Objects are remembered by name: whatever the user does
    while it runs, they are looked for when it ends."""

    def __init__(self, scene, folder, collected, written):
        self.folder, self.first_frame = pathlib.Path(folder), scene.frame_start
        self._unit = scene.unit_settings.scale_length
        self._collected, self._written = collected, written

    def load(self, scene, result):
        """Puts all frames of a result on the objects, and returns how many there are."""
        files = frame_files(result)
        if not files:
            raise AddonError("found no frame in the result, expected at least one")
        self._names = Names()
        start, faces = read_ply(files[0], with_faces=True)
        frames = numpy.stack([start, *(read_ply(file)[0] for file in files[1:])])
        begin = 0
        for cloth, nodes, places in zip(self._collected.cloths, self._written.nodes, self._collected.places):
            self._load_cloth(scene, cloth, nodes, places, frames[:, begin:begin + len(nodes)])
            begin += len(nodes)
        begin += sum(self._written.driven)
        if self._written.panels:
            self._load_patterns(scene, frames[:, begin:],
                                [[node - begin for node in face] for face in faces if face[0] >= begin])
        return len(files)

    def _load_cloth(self, scene, cloth, nodes, places, frames):
        obj = scene.objects.get(cloth.name)
        if obj is None or obj.type != "MESH" or len(obj.data.vertices) != len(cloth.vertices):
            raise AddonError(f"{cloth.name}: found another mesh than the one that was simulated, expected it as it "
                             "was; run again")
        everything = numpy.repeat(cloth.vertices[None], len(frames), axis=0)
        everything[:, nodes] = frames
        back = [numpy.linalg.inv(matrix) for matrix in places[:len(frames)]]
        self._play(obj, numpy.stack([placed(points, matrix) for points, matrix in zip(everything, back)]))

    def _load_patterns(self, scene, frames, faces):
        """Each panel is a connected piece of the mesh, in the order of the engine's nodes."""
        piece = pieces(frames.shape[1], faces)
        first = 0
        for pattern, panels in zip(self._collected.patterns, self._written.panels):
            chosen = numpy.flatnonzero((piece >= first) & (piece < first + len(panels)))
            number = numpy.full(len(piece), -1)
            number[chosen] = numpy.arange(len(chosen))
            own = [number[face].tolist() for face in faces if number[face[0]] >= 0]
            panel_of = piece[chosen] - first
            flat = numpy.zeros((len(chosen), 2))
            for k, panel in enumerate(panels):
                flat[panel_of == k] = panel.pattern(frames[0, chosen[panel_of == k]])
            self._load_pattern(scene, pattern.name, frames[:, chosen], own, flat)
            first += len(panels)

    def _load_pattern(self, scene, name, frames, faces, flat):
        drawing = scene.objects.get(name)
        if drawing is None:
            raise AddonError(f"{name}: found no such pattern any more; run again")
        obj = drawing.isocloth.result
        mesh = bpy.data.meshes.new(f"{name} sewn")
        mesh.from_pydata((frames[0] / self._unit).tolist(), [], faces)
        mesh.uv_layers.new(name="pattern")
        corners = numpy.array([node for face in faces for node in face])
        mesh.uv_layers[0].data.foreach_set("uv", flat[corners].ravel())
        mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
        if obj is None or obj.name not in scene.objects:
            obj = bpy.data.objects.new(f"{name} sewn", mesh)
            (drawing.users_collection or [scene.collection])[0].objects.link(obj)
            drawing.isocloth.result = obj
            weld = obj.modifiers.new("seams", "WELD")  # for the eye: the engine holds them with threads
            weld.merge_threshold = 0.001 / self._unit
        else:
            for material in obj.data.materials:
                mesh.materials.append(material)
            obj.data = mesh
        self._play(obj, frames / self._unit)

    def _play(self, obj, positions):
        """positions: in the units and axes of the object, shape (frames, vertices, 3)."""
        file = self.folder / f"{self._names.new(obj.name)}.pc2"
        write_pc2(file, positions)
        modifier = obj.modifiers.get(MODIFIER)
        if modifier is None:
            modifier = obj.modifiers.new(MODIFIER, "MESH_CACHE")
            _move_first(obj)
        modifier.cache_format = "PC2"
        modifier.filepath = bpy.path.relpath(str(file)) if bpy.data.filepath else str(file)
        modifier.play_mode, modifier.time_mode, modifier.interpolation = "SCENE", "FRAME", "LINEAR"
        modifier.frame_start, modifier.frame_scale = self.first_frame, 1
        modifier.show_viewport = modifier.show_render = True


def _move_first(obj):
    """The positions are those of the mesh itself, before all modifiers."""
    if hasattr(obj.modifiers, "move"):
        obj.modifiers.move(len(obj.modifiers) - 1, 0)
    else:  # before Blender 3.5
        with bpy.context.temp_override(object=obj):
            bpy.ops.object.modifier_move_to_index(modifier=MODIFIER, index=0)


def cache_of(obj):
    """The modifier that plays a result on an object, or None."""
    modifier = obj.modifiers.get(MODIFIER) if obj is not None and obj.type == "MESH" else None
    return modifier if modifier is not None and modifier.type == "MESH_CACHE" else None


def bake_to_keys(obj):
    """Makes a shape key of each frame of an object's cache, which is on at its frame alone, removes the modifier, and
    returns their number."""
    modifier = cache_of(obj)
    positions = read_pc2(bpy.path.abspath(modifier.filepath))
    if positions.shape[1] != len(obj.data.vertices):
        raise AddonError(f"{obj.name}: found a cache of {positions.shape[1]} vertices on a mesh of "
                         f"{len(obj.data.vertices)}; run again")
    if obj.data.users > 1:
        raise AddonError(f"{obj.name}: found a mesh that other objects have, too, expected its own: Make Single User")
    first = int(modifier.frame_start)
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis", from_mix=False)
    for number, points in enumerate(positions):
        key = obj.shape_key_add(name=f"frame {first + number}", from_mix=False)
        key.data.foreach_set("co", points.astype(float).ravel())
        for frame, value in ((first + number - 1, 0.0), (first + number, 1.0), (first + number + 1, 0.0)):
            is_past_end = frame < first or frame >= first + len(positions)  # the ends stay as they are
            key.value = value
            if not is_past_end:
                key.keyframe_insert("value", frame=frame)
    obj.modifiers.remove(modifier)
    return len(positions)
