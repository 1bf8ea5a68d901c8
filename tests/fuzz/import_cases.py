"""Damaged files of glTF, USD and FBX, from those that the tests of the importers make."""

import base64
import copy
import functools
import json
import os
import pathlib
import tempfile

EXPECTED = ()
_NUMBERS = (0, -1, 1, 2, 3, 7, 65535, 65536, 2**31 - 1, 2**31, 2**32, 2**63, 10**18, 10**30, -2**31, 0.5, 1e308,
            -1e308, 1e-320,
            float("nan"), float("inf"), float("-inf"))
_OTHERS = (None, True, "", "x", "\0", "\ud800", "é", "VEC3", "SCALAR", "MAT4", "x" * 100_000, [], {}, [0], [[]], [-1],
           [0] * 3,
           [1e400] * 3, {"a": 1}, [[[[[[]]]]]])
_URIS = ("../outside/secret.bin", "../outside/pipe.usda", "/etc/passwd", "file:///etc/passwd", "http://127.0.0.1:9/x",
         "link.bin",
         "..", ".", "", "%2e%2e/outside/secret.bin", "a\0b", "data:,", "data:;base64,AAAA", "data:;base64,####",
         "own.bin",
         "pipe.bin", "folder", "own.bin/x", "data:" + "A" * 10**6)


def _seed_gltf(path):
    from import_test import SQUARE, SQUARE_FACES, Gltf, quaternion, strip_with_skin

    gltf = Gltf()
    _, _, hip, top = strip_with_skin(gltf, bytes=False)
    uv = gltf.add([[0, 0], [1, 0], [1, 1], [0, 1]])
    lifted = [[0, 0, 1]] * 4
    mesh = gltf.mesh([gltf.primitive(SQUARE, SQUARE_FACES, targets=[lifted, lifted], TEXCOORD_0=uv)], weights=[0.5,
                                                                                                               0.25])
    child = gltf.node(root=False, mesh=mesh, name="sheet", translation=[0, 1, 0])
    parent = gltf.node(children=[child], rotation=[0, 0, 0, 1], scale=[1, 2, 1])
    one = [0, 0, 0, 1]
    gltf.animate("all", (top, "rotation", [0.5, 1.5], [one, quaternion([0, 0, 1], 1.5)], "LINEAR"),
                 (hip, "translation", [0.5, 1.5], [[0, 0, 0], [0.4, 0, 0]], "STEP"),
                 (parent, "scale", [0.0, 1.0], [[0, 0, 0], [1, 1, 1], [0, 0, 0]] * 2, "CUBICSPLINE"),
                 (child, "weights", [0.0, 1.0], [0.0, 1.0, 1.0, 0.0], "LINEAR"))
    gltf.save(path)


def _seed_usda(path):
    import numpy
    from import_usd_test import skinned_stage, square

    y = numpy.repeat(numpy.linspace(0, 2, 9), 2)
    points = numpy.column_stack([numpy.tile([-0.1, 0.1], 9), y, 0 * y])
    skinned_stage(path, points, numpy.clip(y - 0.5, 0, 1), 1.5)
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(path))
    sheet = square(stage, "/top/sheet")
    sheet.GetPointsAttr().Set([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], 0)
    sheet.GetPointsAttr().Set([(0, 0, 0), (1, 0, 0), (1, 1, 1), (0, 1, 1)], 12)
    UsdGeom.Xformable(sheet).AddRotateXOp().Set(30, 12)
    stage.Save()


def _seed_fbx(path):
    from import_fbx_test import square

    square(path)


@functools.cache
def _seed(kind):
    """Bytes of a whole file."""
    suffix = {"gltf": ".gltf", "glb": ".glb", "usda": ".usda", "usdc": ".usdc", "fbx": ".fbx"}[kind]
    make = {"gltf": _seed_gltf, "glb": _seed_gltf, "usda": _seed_usda, "usdc": _seed_usda, "fbx": _seed_fbx}[kind]
    with tempfile.TemporaryDirectory() as folder:
        make(pathlib.Path(folder, "seed" + suffix))
        return pathlib.Path(folder, "seed" + suffix).read_bytes()


def _places(value, at=()):
    """All places of a document of JSON."""
    yield at
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _places(part, (*at, key))


def _damage_json(document, choice):
    places = [at for at in _places(document) if at]
    at = choice.choice(places)
    owner = functools.reduce(lambda value, key: value[key], at[:-1], document)
    key, old = at[-1], functools.reduce(lambda value, key: value[key], at, document)
    way = choice.randrange(9)
    if key == "uri" and way < 7:
        owner[key] = choice.choice(_URIS)
    elif way <= 2 and isinstance(old, (int, float)):
        owner[key] = choice.choice(_NUMBERS)
    elif way == 3 and isinstance(old, (int, float)):
        owner[key] = old + choice.choice((-4, -1, 1, 2, 4, 100))
    elif way == 4:
        owner[key] = copy.deepcopy(choice.choice(_OTHERS))
    elif way == 5:
        del owner[key]
    elif way == 6 and isinstance(owner, list):
        owner.extend(copy.deepcopy(owner[:choice.choice((1, 10, 1000))]))
    elif way == 7:
        _add_trap(document, choice)
    else:
        other = functools.reduce(lambda value, key: value[key], choice.choice(places), document)
        owner[key] = copy.deepcopy(other)


def _add_trap(document, choice):
    """What a file does that lies about what it is."""
    def some(name):
        found = document.get(name)
        one = found[choice.randrange(len(found))] if isinstance(found, list) and found else {}
        return one if isinstance(one, dict) else {}

    huge = choice.choice(_NUMBERS)
    traps = [
        lambda: some("nodes").update(children=[choice.randrange(6)]),
        lambda: document.update(nodes=[{"children": [i + 1], "mesh": 0} for i in range(3000)] + [{"mesh": 0}],
                                scenes=[{"nodes": [0]}]),
        lambda: some("accessors").update(count=huge),
        lambda: some("accessors").pop("bufferView", None) or some("accessors").update(count=huge),
        lambda: some("accessors").update(byteOffset=huge),
        lambda: some("bufferViews").update(byteStride=huge),
        lambda: some("bufferViews").update(byteOffset=huge, byteLength=huge),
        lambda: some("buffers").update(byteLength=huge, uri=choice.choice(_URIS)),
        lambda: some("accessors").update(sparse={
            "count": huge, "indices": {"bufferView": choice.randrange(9), "componentType": 5123},
            "values": {"bufferView": choice.randrange(9), "byteOffset": choice.choice((0, 4, huge))}}),
        lambda: document.update(nodes=(document.get("nodes") or [{}]) * 300),
        lambda: document.update(meshes=[{"primitives": some("meshes").get("primitives", []) * 2000}]),
        lambda: some("nodes").update(matrix=[choice.choice(_NUMBERS) for _ in range(16)]),
        lambda: some("skins").update(joints=[choice.randrange(9) for _ in range(choice.choice((0, 1, 500)))]),
        lambda: document.update(extensionsRequired=[choice.choice(("KHR_draco_mesh_compression", 3, None,
                                                                   "x" * 10**5))]),
        lambda: some("meshes").update(name=choice.choice(("../../x", "/x", "con", "a\0b", "x" * 5000, "é", ".",
                                                          "scene"))),
        lambda: some("nodes").update(name=choice.choice(("../../x", "/x", "a/b", "\n", "x" * 5000, "scene", "", 3,
                                                         None)))]
    choice.choice(traps)()


def _damage_bytes(content, choice):
    content = bytearray(content)
    for _ in range(choice.choice((1, 1, 2, 5, 50))):
        if not content:
            break
        at, size = choice.randrange(len(content)), choice.choice((1, 1, 2, 4, 8))
        way = choice.randrange(6)
        if way == 0:
            del content[at:at + choice.choice((1, 4, 100, len(content)))]
        elif way == 1:
            content[at:at] = content[at:at + 1000] * choice.choice((1, 3))
        elif way == 2:
            content[at:at + size] = choice.choice((0, 1, 2**31 - 1, 2**32 - 1, 2**63, 2**64 - 1, 0x7FC00000)).to_bytes(
                8, "little")[:size]
        else:
            content[at] = choice.randrange(256)
    return bytes(content)


_WORDS = (b"nan", b"inf", b"-1", b"0", b"1e308", b"1e-320", b"99999999999", b"-2147483648", b"2147483647", b"1e9",
          b"'x'",
          b"\"\"", b"[]", b"(", b"*99999999", b"*-1", b"*0")
_LINES = (b"references = @../outside/pipe.usda@\n", b"subLayers = [@/etc/passwd@]\n", b"payload = @./pipe.bin@\n",
          b"references = @./seed.usda@\n", b"inherits = </top>\n", b"references = </top/sheet>\n", b"garbage\n",
          b"int[] faceVertexCounts = [1000000000]\n", b"int[] faceVertexCounts = [2]\n",
          b"uniform token orientation = \"x\"\n",
          b"references = @../outside/x.usdz[a.usda]@\n", b"asset a = @../outside/pipe.usda@\n", b"double x = 1e999\n",
          b"float metersPerUnit = nan\n", b"C: \"OO\",2,2\n", b"C: \"OO\",1,1\n", b"}\n", b"{\n",
          b"Vertices: *3 {\na: nan,inf,1e999\n}\n", b"PolygonVertexIndex: *2 {\na: 0,-99\n}\n")


def _damage_text(content, choice):
    for _ in range(choice.choice((1, 1, 1, 2, 4))):
        way = choice.randrange(5)
        if way <= 1:
            import re

            numbers = list(re.finditer(rb"-?\d[\d.e+-]*", content))
            if numbers:
                found = choice.choice(numbers)
                content = content[:found.start()] + choice.choice(_WORDS) + content[found.end():]
        elif way == 4 and choice.random() < 0.3:
            content = _damage_bytes(content, choice)
        else:
            lines = content.splitlines(keepends=True)
            added = choice.choice(_LINES)
            # Mostly where a grammar lets such a line stand.
            opens = b"(\n" if added.split(b" ")[0] in (b"references", b"subLayers", b"payload", b"inherits",
                                                       b"float") else b"{\n"
            fits = [i + 1 for i, line in enumerate(lines) if line.endswith(opens)]
            at = choice.choice(fits) if fits and choice.random() < 0.8 else choice.randrange(len(lines) + 1)
            lines[at:at] = [added] if way == 2 else lines[at:at + 1] * choice.choice((1, 50))
            if choice.random() < 0.1 and lines:
                del lines[choice.randrange(len(lines))]
            content = b"".join(lines)
    return content


def _make(kind, choice):
    content = _seed(kind)
    if kind in ("usda", "fbx"):
        return _damage_text(content, choice)
    if kind == "usdc" or (kind == "glb" and choice.random() < 0.4):
        return _damage_bytes(content, choice)
    binary, rest = kind == "glb", b""
    if binary:
        size = int.from_bytes(content[12:16], "little")
        content, rest = content[20:20 + size], content[20 + size:]
    document = json.loads(content)
    if choice.random() < 0.3 and "buffers" in document and not binary:  # a file beside it, as large as it is said
        document["buffers"][0]["uri"] = "own.bin"
    for _ in range(choice.choice((1, 1, 1, 2, 3, 8))):
        before = json.dumps(document)
        if isinstance(document, dict) and document:
            _damage_json(document, choice)
        if len(json.dumps(document)) > 10**7:  # what takes its time because it is large shows nothing
            document = json.loads(before)
    content = json.dumps(document).encode("utf-8", "surrogatepass")
    if choice.random() < 0.05:
        content = choice.choice((b"[" * 10**5,
                                 b"{\"asset\":{\"version\":\"2.0\"},\"nodes\":" + b"[" * 900 + b"]" * 900 + b"}",
                                 b"", b"null", b"3", b"\xff\xfe", b"{}"))
    if not binary:
        return content
    content += b" " * (-len(content) % 4)
    total = 20 + len(content) + len(rest)
    return b"glTF" + (2).to_bytes(4, "little") + total.to_bytes(4, "little") + len(content).to_bytes(
        4, "little") + b"JSON" + content + rest


def run(kind, choice, root):
    """Imports a file that is damaged, beside which others lie that are not for it."""
    import isocloth
    from python_fuzz import Bad, files_of

    content = _make(kind, choice)
    inside, outside, out = root / "in", root / "outside", root / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret.bin").write_bytes(b"\0\0\x80?" * 10_000)
    for pipe in (outside / "pipe.usda", inside / "pipe.bin"):  # whoever opens one waits for ever
        os.mkfifo(pipe)
    os.symlink(outside / "secret.bin", inside / "link.bin")
    (inside / "folder").mkdir()
    own = json.loads(_seed("gltf"))["buffers"][0]["uri"] if kind == "gltf" else ","
    (inside / "own.bin").write_bytes(base64.b64decode(own.partition(",")[2]))
    path = inside / f"seed.{kind}"
    path.write_bytes(content)
    before = files_of(inside) | files_of(outside)
    options = {}
    if choice.random() < 0.1:
        options["weld"] = choice.choice((1e-5, 0.0, 0.1, 1e9, -1.0, float("nan")))
    if choice.random() < 0.2:
        options["rate"] = choice.choice((1.0, 10.0, 24, 1e9, 1e-300, -1, float("nan")))
    if choice.random() < 0.1:
        options |= {"unit": choice.choice(("m", "cm", 1e-300, 1e300, "x")), "up": choice.choice(("y", "z", "w"))}
    try:
        done = isocloth.import_meshes(path, out, **options)
        _check(isocloth, done, out)
    finally:
        if files_of(inside) | files_of(outside) != before:
            raise Bad("files beside the source were changed")
        if set(root.iterdir()) - {inside, outside, out}:
            raise Bad("files were written elsewhere")
    return "done"


def _check(isocloth, done, out):
    """What was written is what the engine reads, or refuses."""
    import warnings

    from python_fuzz import Bad

    names = {"scene.json", *(m["file"] for m in done.meshes), *(m["motion"] for m in done.meshes if m["motion"])}
    if {path.name for path in out.iterdir()} != names:
        raise Bad(f"found {sorted(os.listdir(out))}, expected {sorted(names)}")
    for mesh in done.meshes:
        words = (out / mesh["file"]).read_text().split()
        if any(word in ("nan", "inf", "-inf") for word in words):
            raise Bad(f"{mesh['file']}: has a number that is not finite")
    scene = json.loads((out / "scene.json").read_text())
    if sum(mesh["nodes"] for mesh in done.meshes) < 200 and scene["garments"]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            isocloth.check(done.scene, threads=1)
