"""A walk through the add-on: a cloth falls on a table, a banner swings on a bar that moves, a bag is sewn from curves.

    python walk.py FOLDER [THREADS]                          with bpy from PyPI
    blender -b --python walk.py -- FOLDER [THREADS]          in Blender

installs the add-on from its zip, simulates, goes on, reloads, bakes, exports, draws a picture, and prints the time of
each stage.
"""

import math
import pathlib
import sys
import time

import bpy

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from make_zip import make  # noqa: E402

sys.path.pop(0)  # the add-on is the installed one

ADDON = "isocloth_addon"


class Stages:
    """Prints what was done in how much time."""

    def __init__(self):
        self._begin = self._last = time.perf_counter()

    def done(self, text):
        now = time.perf_counter()
        print(f"{now - self._last:6.1f} s  {text}", flush=True)
        self._last = now

    def end(self):
        print(f"{time.perf_counter() - self._begin:6.1f} s  in all", flush=True)


def install(path):
    """Installs and enables the add-on from its zip, as the preferences do, and returns its module's name."""
    if bpy.app.version >= (4, 2, 0) and hasattr(bpy.ops, "extensions"):
        bpy.ops.preferences.addon_enable(module="bl_pkg")
        bpy.ops.extensions.package_install_files(filepath=str(path), repo="user_default", enable_on_install=True,
                                                 overwrite=True)
        return f"bl_ext.user_default.{ADDON}"
    bpy.ops.preferences.addon_install(filepath=str(path), overwrite=True)
    bpy.ops.preferences.addon_enable(module=ADDON)
    return ADDON


def mesh_object(name, vertices, faces, location=(0, 0, 0)):
    """A new object of the scene."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    obj.location = location
    bpy.context.collection.objects.link(obj)
    return obj


def sheet(name, count, size, location):
    """A square sheet of count x count vertices, level."""
    vertices = [(size * (i / (count - 1) - 0.5), size * (j / (count - 1) - 0.5), 0)
                for j in range(count) for i in range(count)]
    faces = [(j * count + i, j * count + i + 1, (j + 1) * count + i + 1, (j + 1) * count + i)
             for j in range(count - 1) for i in range(count - 1)]
    obj = mesh_object(name, vertices, faces, location)
    obj.data.polygons.foreach_set("use_smooth", [True] * len(faces))
    obj.modifiers.new("fine", "SUBSURF").levels = 2  # for the eye, as after any cloth of quads
    return obj


def bag(name, location):
    """Two rectangles of a curve object, front to front, sewn at the bottom and the sides."""
    curve = bpy.data.curves.new(name, "CURVE")
    curve.dimensions = "3D"
    for y, turn in ((-0.07, 1), (0.07, -1)):
        spline = curve.splines.new("BEZIER")
        spline.bezier_points.add(3)
        spline.use_cyclic_u = True
        corners = [(-0.12, 0), (0.12, 0), (0.12, 0.3), (-0.12, 0.3)]
        for k, (point, (x, z)) in enumerate(zip(spline.bezier_points, corners)):
            point.co = (turn * x, y, z)
            point.handle_left_type = point.handle_right_type = "VECTOR"
        if turn == 1:  # a neckline
            for k, x in ((2, 0.08), (3, -0.08)):
                point = spline.bezier_points[k]
                point.handle_left_type = point.handle_right_type = "FREE"
                side = "handle_right" if k == 2 else "handle_left"
                setattr(point, side, (x, y, 0.24))
                other = "handle_left" if k == 2 else "handle_right"
                setattr(point, other, (point.co.x, y, 0.2))
    obj = bpy.data.objects.new(name, curve)
    obj.location = location
    bpy.context.collection.objects.link(obj)
    return obj


def make_scene():
    """Makes a table, a cloth above it, a banner, and a ball that comes down."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 48, 24
    bpy.ops.mesh.primitive_cylinder_add(vertices=48, radius=0.3, depth=0.05, location=(0, 0, 0.5))
    table = bpy.context.object
    table.name = "table"
    edges = table.modifiers.new("round", "BEVEL")
    edges.width, edges.segments = 0.024, 5
    cloth = sheet("table cloth", 41, 0.9, (0, 0, 0.54))
    cloth.rotation_euler.z = 0.3
    banner = sheet("banner", 25, 0.4, (0.7, 0, 0.72))
    banner.rotation_euler = (math.pi / 2, 0, 0)
    group = banner.vertex_groups.new(name="bar")
    group.add([24 * 25 + i for i in range(0, 25, 6)], 1.0, "REPLACE")
    bpy.ops.mesh.primitive_uv_sphere_add(segments=24, ring_count=12, radius=0.1, location=(0.1, 0.1, 0.75))
    ball = bpy.context.object
    ball.name = "ball"
    ball.data.polygons.foreach_set("use_smooth", [True] * len(ball.data.polygons))
    for obj, frames in ((banner, ((1, 0.0), (20, 0.25), (40, 0.0), (48, 0.05))),
                        (ball, ((1, 0.0), (30, 0.0), (48, 0.1)))):
        start = obj.location.y if obj is banner else obj.location.z
        for frame, way in frames:
            if obj is banner:
                obj.location.y = start - way
            else:
                obj.location.z = start - way
            obj.keyframe_insert("location", frame=frame)


def chosen(*objects):
    """Selects objects alone, the first one active."""
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[0]


def look(scene, path):
    """Draws a picture with Cycles."""
    colors = {"table cloth": (0.75, 0.2, 0.15), "banner": (0.1, 0.3, 0.6), "table": (0.45, 0.3, 0.2),
              "ball": (0.6, 0.6, 0.6), "bag sewn": (0.75, 0.6, 0.2)}
    for name, color in colors.items():
        obj = scene.objects.get(name)
        if obj is not None:
            material = bpy.data.materials.new(name)
            material.use_nodes = True
            material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (*color, 1)
            material.node_tree.nodes["Principled BSDF"].inputs["Roughness"].default_value = 0.8
            obj.data.materials.append(material)
    bpy.ops.mesh.primitive_plane_add(size=20)
    scene.view_settings.view_transform = "Standard"
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.location, camera.rotation_euler = (0.12, -2.55, 1.4), (math.radians(71.5), 0, math.radians(1.5))
    light = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    light.rotation_euler, light.data.energy, light.data.angle = (0.7, 0.5, 0.4), 2.5, 0.1
    for obj in (camera, light):
        scene.collection.objects.link(obj)
    scene.camera = camera
    scene.world = bpy.data.worlds.new("world")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.35, 0.38, 0.42, 1)
    scene.render.engine, scene.cycles.samples, scene.cycles.device = "CYCLES", 16, "CPU"
    scene.cycles.use_denoising = bpy.app.version >= (4, 0, 0)  # Debian's 3.4 has no library for it
    scene.render.resolution_x, scene.render.resolution_y = 800, 450
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)


def main(folder="results/walk_blender", threads=0):
    """All stages."""
    folder = pathlib.Path(folder).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    stages = Stages()
    path = make(folder / "isocloth_addon.zip")
    make_scene()
    install(path)
    stages.done(f"installed {path.name} in Blender {bpy.app.version_string}")
    cloth, banner, table, ball = (bpy.data.objects[name] for name in ("table cloth", "banner", "table", "ball"))
    chosen(cloth, banner)
    bpy.ops.isocloth.set_role(role="CLOTH")
    chosen(table, ball)
    bpy.ops.isocloth.set_role(role="BODY")
    cloth.isocloth.thickness = 0.004  # room for the rounding of the Subdivision modifier
    banner.isocloth.pinned, banner.isocloth.preset, cloth.isocloth.preset = "bar", "POLYESTER", "COTTON"
    sewn = bag("bag", (-0.6, -0.1, 0.6))
    chosen(sewn)
    bpy.ops.isocloth.set_role(role="PATTERN")
    bpy.ops.mesh.primitive_uv_sphere_add(segments=24, ring_count=12, radius=0.06, location=(-0.6, -0.1, 0.72))
    bpy.context.object.name = "stone"
    bpy.context.object.isocloth.role = "BODY"
    for edges in ((0, 1, 1, 3), (0, 3, 1, 1), (0, 0, 1, 0)):
        seam = sewn.isocloth.seams.add()
        seam.curve, seam.edge, seam.other_curve, seam.other_edge = edges
    for curve in (0, 1):
        for corner in (2, 3):
            point = sewn.isocloth.points.add()
            point.curve, point.point = curve, corner
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "walk.blend"))
    stages.done("made a scene: table cloth, banner, pattern of a bag; table and balls")
    scene = bpy.context.scene
    scene.isocloth.last_frame, scene.isocloth.threads = 24, int(threads)
    bpy.ops.isocloth.simulate()
    stages.done("simulated to frame 24")
    scene.isocloth.last_frame = 0
    bpy.ops.isocloth.simulate(resume=True)
    stages.done(f"went on to frame {scene.frame_end}")
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(folder / "walk.blend"))
    scene = bpy.context.scene
    scene.frame_set(scene.frame_end)
    stages.done("saved and opened again")
    look(scene, folder / "walk.png")
    stages.done("drew walk.png")
    chosen(*(scene.objects[name] for name in ("table cloth", "banner", "bag sewn")))
    if bpy.app.build_options.alembic:  # Debian's has none
        bpy.ops.isocloth.export(filepath=str(folder / "cloth.abc"))
        stages.done("exported cloth.abc")
    bpy.ops.isocloth.bake()
    stages.done("baked to shape keys")
    stages.end()


if __name__ == "__main__":
    main(*(sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else sys.argv[1:]))
