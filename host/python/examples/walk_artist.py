"""An artist's walk: a body that moves and a garment from glTF, dressed here, and back as USD for the next program.

    python host/python/examples/walk_artist.py FOLDER [--file body_and_garment.glb] [--garment NAME] [--weld]

Without a file it makes one: a torso of two bones that bends and turns, its vertices split at the seam of its texture
coordinates, and a poncho. Prints the time of each stage. Needs pip install isocloth[import,export,record].
"""

import argparse
import pathlib
import shutil
import subprocess
import time

import isocloth
import numpy
from stages import Stages

AROUND = 32
TORSO = [(0.0, 0.80), (0.08, 0.805), (0.13, 0.83), (0.14, 0.90), (0.13, 1.00), (0.13, 1.10), (0.145, 1.20),
         (0.165, 1.30), (0.16, 1.35), (0.13, 1.39), (0.09, 1.415), (0.06, 1.44), (0.055, 1.50), (0.07, 1.56),
         (0.08, 1.62), (0.07, 1.69), (0.04, 1.73), (0.0, 1.74)]  # radius and height [m]


def lathe(profile, around):
    """Vertices, triangles and texture coordinates of a surface about y; the seam has its vertices twice."""
    angle = numpy.linspace(0, 2 * numpy.pi, around + 1)
    radius, height = numpy.array(profile).T
    points = numpy.stack([numpy.outer(radius, numpy.sin(angle)), numpy.tile(height[:, None], around + 1),
                          numpy.outer(radius, numpy.cos(angle))], -1).reshape(-1, 3)
    u, v = numpy.meshgrid(angle / angle[-1], numpy.linspace(1, 0, len(profile)))
    first = (numpy.arange(len(profile) - 1)[:, None] * (around + 1) + numpy.arange(around)).ravel()
    quads = numpy.stack([first, first + 1, first + around + 2, first + around + 1], -1)
    faces = numpy.concatenate([quads[:, :3], quads[:, [0, 2, 3]]])
    sides = points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]]
    faces = faces[numpy.linalg.norm(numpy.cross(*sides), axis=1) > 1e-9]  # none at the poles
    return points, faces, numpy.stack([u, v], -1).reshape(-1, 2)


def write_file(path):
    """Body and garment as a program would export them: metres, y up, a skin of two bones."""
    import pygltflib as lib

    document = lib.GLTF2(asset=lib.Asset(version="2.0"), scene=0, scenes=[lib.Scene(nodes=[0, 1, 2])])
    blob = bytearray()

    def add(values, kind="f4"):
        values = numpy.ascontiguousarray(values, dtype="<" + kind)
        document.bufferViews.append(lib.BufferView(buffer=0, byteOffset=len(blob), byteLength=values.nbytes))
        shape = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}[values.size // len(values)]
        bounds = {"min": values.min(0).tolist(), "max": values.max(0).tolist()} if shape == "VEC3" else {}
        document.accessors.append(lib.Accessor(bufferView=len(document.bufferViews) - 1, count=len(values), type=shape,
                                               componentType={"f4": 5126, "u2": 5123, "u4": 5125}[kind], **bounds))
        blob.extend(values.tobytes() + bytes(-values.nbytes % 4))
        return len(document.accessors) - 1

    points, faces, uvs = lathe(TORSO, AROUND)
    upper = numpy.clip((points[:, 1] - 0.95) / 0.2, 0, 1)
    joints = numpy.tile([0, 1, 0, 0], (len(points), 1))
    weights = numpy.column_stack([1 - upper, upper, 0 * upper, 0 * upper])
    body = lib.Attributes(POSITION=add(points), TEXCOORD_0=add(uvs), JOINTS_0=add(joints, "u2"), WEIGHTS_0=add(weights))
    radii = numpy.linspace(0.085, 0.42, 18)
    poncho, triangles, _ = lathe([(r, 1.44) for r in radii], 72)
    pattern = poncho[:, [0, 2]]  # flat: its texture coordinates are metres
    garment = lib.Attributes(POSITION=add(poncho), TEXCOORD_0=add(pattern))
    document.meshes = [
        lib.Mesh(primitives=[lib.Primitive(attributes=body, indices=add(faces.ravel(), "u4"))]),
        lib.Mesh(primitives=[lib.Primitive(attributes=garment, indices=add(triangles.ravel(), "u4"))])]
    inverse = numpy.stack([numpy.eye(4), numpy.eye(4)])
    inverse[1, 3, 1] = -1.05  # of columns: the place is last
    document.nodes = [lib.Node(name="body", mesh=0, skin=0), lib.Node(name="poncho", mesh=1),
                      lib.Node(name="hip", children=[3]), lib.Node(name="spine", translation=[0, 1.05, 0])]
    document.skins = [lib.Skin(joints=[2, 3], inverseBindMatrices=add(inverse))]
    times, turns = numpy.array([0, 0.8, 1.4, 2.0, 2.6], dtype=float), []
    for bend, twist in ((0, 0), (0, 0), (0.25, 0.5), (-0.25, -0.5), (0, 0)):
        a, b = (numpy.cos(bend / 2), numpy.sin(bend / 2)), (numpy.cos(twist / 2), numpy.sin(twist / 2))
        turns.append([a[1] * b[1], a[0] * b[1], a[1] * b[0], a[0] * b[0]])  # twist about y after the bend about z
    document.animations = [lib.Animation(
        name="dance", samplers=[lib.AnimationSampler(input=add(times), output=add(turns), interpolation="LINEAR")],
        channels=[lib.AnimationChannel(sampler=0, target=lib.AnimationChannelTarget(node=3, path="rotation"))])]
    document.buffers = [lib.Buffer(byteLength=len(blob))]
    document.set_binary_blob(bytes(blob))
    document.save(str(path))
    return path


def validated(path):
    """What USD's own validators find."""
    from pxr import Usd, UsdValidation

    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    errors = UsdValidation.ValidationContext(validators).Validate(Usd.Stage.Open(str(path)))
    return [error.GetMessage() for error in errors]


BLENDER = """
import bpy, numpy, sys
if not hasattr(numpy, "bool"):  # the glTF reader of Blender 3.4 wants it; numpy 1.24 beside it on Debian 12 has none
    numpy.bool = bool
bpy.ops.wm.read_factory_settings(use_empty=True)
if sys.argv[-1].endswith(".glb"):
    bpy.ops.import_scene.gltf(filepath=sys.argv[-1])
elif bpy.app.build_options.usd:
    bpy.ops.wm.usd_import(filepath=sys.argv[-1])
else:  # as in Debian's
    print("BLENDER", bpy.app.version_string, "was built without USD")
    sys.exit()
meshes = [o for o in bpy.data.objects if o.type == "MESH"]
found = [(o.name, len(o.data.vertices), o.data.shape_keys is not None) for o in meshes]
print("BLENDER", bpy.app.version_string, found)
"""


def opened_in_blender(path):
    """What Blender, without a window, finds in a file; None where it is not installed."""
    if shutil.which("blender") is None:
        return None
    done = subprocess.run(["blender", "--background", "--factory-startup", "--python-expr", BLENDER, "--", str(path)],
                          capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("BLENDER")]
    if not lines:
        raise SystemExit(f"Blender did not open {path}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return lines[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--file", type=pathlib.Path, help="of body and garment; default: it makes one")
    parser.add_argument("--garment", action="append", default=[], help="name of one; default: what is open")
    parser.add_argument("--weld", action="store_true", help="unite vertices that a program has split")
    parser.add_argument("--threads", type=int, default=0, help="of the run; 0: all cores, fewer where others use them")
    arguments = parser.parse_args()
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    stages = Stages()
    file = arguments.file
    if file is None:
        file = write_file(folder / "dance.glb")
        stages.done(f"made {file}")
    done = isocloth.import_meshes(file, folder / "scene", garments=arguments.garment, rate=50, overwrite=True,
                                  weld=1e-5 if arguments.weld or arguments.file is None else None)
    stages.done("imported: " + ", ".join(f"{m['role']} {m['name']} of {m['nodes']} nodes" for m in done.meshes))
    for note in done.notes:
        print(f"           {note}")
    warnings = isocloth.check(done.scene)
    stages.done(f"checked: {len(warnings)} warnings")
    result = isocloth.run(done.scene, folder / "result", overwrite=True, certify=True, threads=arguments.threads)
    summary = result.summary
    stages.done(f"ran {summary['simulated_seconds']:g} s: {summary['status']}, {summary['steps_violated']} steps "
                f"missed, {summary['steps_intersecting']} with cloth through cloth")
    for suffix in ("usdc", "glb"):
        isocloth.export(result, folder / f"dance.{suffix}")
    stages.done("exported dance.usdc and dance.glb")
    errors = validated(folder / "dance.usdc")
    stages.done(f"validated dance.usdc: {len(errors)} errors")
    found = [opened_in_blender(folder / f"dance.{suffix}") for suffix in ("glb", "usdc")]
    stages.done("opened in Blender" if found[0] else "Blender is not installed: not opened there")
    for line in filter(None, found):
        print(f"           {line}")
    for frame in (0, -1):
        isocloth.render(result, folder / f"frame_{'first' if frame == 0 else 'last'}.png", frame=frame, color="garment")
    stages.done("drew frame_first.png and frame_last.png")
    print(f"{time.perf_counter() - stages.begin:7.1f} s  in all")


if __name__ == "__main__":
    main()
