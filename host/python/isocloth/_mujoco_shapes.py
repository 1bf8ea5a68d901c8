"""Geoms of MuJoCo as shapes of a scene."""

import typing

import mujoco
import numpy

from .errors import SceneError

_GEOM = mujoco.mjtGeom


class Solid(typing.NamedTuple):
    """A geom that the cloth meets."""

    geom: int
    body: int
    name: str
    shape: dict
    place: numpy.ndarray  # of the shape's origin in the frame of the geom [m]
    mesh: tuple | None  # vertices [m] and triangles of a shape that is a mesh


def chosen_geoms(model, geoms, bodies):
    """Numbers of geoms by names or numbers of these and of bodies; all that collide where neither is said."""
    collide = [g for g in range(model.ngeom) if model.geom_contype[g] or model.geom_conaffinity[g]]
    if geoms is None and bodies is None:
        return collide
    names = [geom_name(model, g) for g in range(model.ngeom)]
    chosen = [_number("geom", geom, model.geom, names) for geom in _listed(geoms)]
    for body in _listed(bodies):
        number = _number("body", body, model.body, [model.body(b).name for b in range(model.nbody)])
        own = [g for g in collide if model.geom_bodyid[g] == number]
        if not own:
            raise SceneError(f"body {body!r}: found no geom that collides, expected one; name those that the cloth "
                             "meets by geoms=")
        chosen += own
    return list(dict.fromkeys(chosen))


def _listed(names):
    return [] if names is None else [names] if isinstance(names, (str, int)) else list(names)


def _number(kind, name, find, known):
    if isinstance(name, str) and name in known and known.count(name) == 1:
        return known.index(name)
    try:
        return find(name).id
    except (KeyError, IndexError):
        some = ", ".join(map(repr, known[:8])) + (", ..." if len(known) > 8 else "")
        raise SceneError(f"{kind}: found {name!r}, expected a number or a name: {some}") from None


def geom_name(model, geom):
    """Its own, or that of its body and its number."""
    body = model.body(model.geom_bodyid[geom]).name or f"body {model.geom_bodyid[geom]}"
    return model.geom(geom).name or f"{body} geom {geom}"


def solid_of(model, geom, rounding, meshes):
    size = model.geom_size[geom].astype(float)
    kind = _GEOM(model.geom_type[geom])
    name, body = geom_name(model, geom), int(model.geom_bodyid[geom])
    place, mesh, shape = numpy.zeros(3), None, {"type": "mesh"}
    if kind == _GEOM.mjGEOM_SPHERE:
        shape = {"type": "sphere", "radius": size[0]}
    elif kind == _GEOM.mjGEOM_CAPSULE:
        shape = {"type": "capsule", "radius": size[0], "length": 2 * size[1]}
    elif kind == _GEOM.mjGEOM_CYLINDER:
        shape = {"type": "cylinder", "radius": size[0], "height": 2 * size[1],
                 "rounding": min(rounding, 0.1 * min(size[0], size[1]))}
    elif kind == _GEOM.mjGEOM_BOX:
        shape = {"type": "box", "size": (2 * size).tolist(), "rounding": min(rounding, 0.1 * 2 * size.min())}
    elif kind == _GEOM.mjGEOM_PLANE:
        shape = {"type": "plane"}
    elif kind == _GEOM.mjGEOM_ELLIPSOID:
        mesh = _ellipsoid(size)
    elif kind == _GEOM.mjGEOM_MESH:
        mesh = _hull(model, geom) if meshes == "hulls" else _surface(model, geom)
    elif kind == _GEOM.mjGEOM_HFIELD:
        shape, place = _height_field(model, geom)
    else:
        raise SceneError(f"geom {name!r}: found type {kind.name[7:].lower()}, expected plane, hfield, sphere, capsule, "
                         "ellipsoid, cylinder, box or mesh; name those that the cloth meets by geoms=")
    if kind in (_GEOM.mjGEOM_PLANE, _GEOM.mjGEOM_HFIELD) and model.body_weldid[body] != 0:
        raise SceneError(f"geom {name!r}: found a {kind.name[7:].lower()} of a body that moves, expected one of the "
                         "world")
    return Solid(geom, body, name, shape, place, mesh)


def depths_in(solid, points):
    """How deep points in the frame of a solid are inside [m], shape (points,); outside: less than 0. Of a height field
    along z; of a mesh that is not convex -infinity everywhere."""
    shape = solid.shape
    if solid.mesh is not None:
        return _depths_in_hull(*solid.mesh, points)
    if shape["type"] == "height_field":
        samples, values = shape["heights"]["samples"], numpy.array(shape["heights"]["values"])
        heights = values.reshape(samples[1], samples[0])
        at = points[:, :2] / shape["spacing"]
        is_over = ((at >= 0) & (at <= numpy.array(samples) - 1)).all(-1)
        at = numpy.clip(at, 0, numpy.array(samples) - 1)
        i, j = numpy.minimum(at.astype(int), numpy.array(samples) - 2).T
        u, v = (at - numpy.stack([i, j], -1)).T
        height = ((1 - u) * (1 - v) * heights[j, i] + u * (1 - v) * heights[j, i + 1]
                  + (1 - u) * v * heights[j + 1, i] + u * v * heights[j + 1, i + 1])
        return numpy.where(is_over, height - points[:, 2], -numpy.inf)
    if shape["type"] == "plane":
        return -points[:, 2]
    if shape["type"] == "box":
        return (numpy.array(shape["size"]) / 2 - abs(points)).min(-1)
    around = numpy.linalg.norm(points[:, :2], axis=-1)
    if shape["type"] == "cylinder":
        return numpy.minimum(shape["radius"] - around, shape["height"] / 2 - abs(points[:, 2]))
    beyond = numpy.maximum(abs(points[:, 2]) - shape.get("length", 0) / 2, 0)  # of a sphere and a capsule
    return shape["radius"] - numpy.hypot(around, beyond)


def _depths_in_hull(vertices, faces, points):
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = numpy.cross(b - a, c - a)
    sizes = numpy.linalg.norm(normals, axis=-1)
    normals, on = normals[sizes > 0] / sizes[sizes > 0, None], a[sizes > 0]
    offsets = (normals * on).sum(-1)
    if (vertices @ normals.T - offsets).max() > 1e-5 * numpy.ptp(vertices, axis=0).max():
        return numpy.full(len(points), -numpy.inf)
    return (offsets - points @ normals.T).min(-1)


def _ellipsoid(radii, rings=16):
    """Points of an ellipsoid and triangles between them, a sphere's of as many rings."""
    latitudes = numpy.linspace(0, numpy.pi, rings + 1)[1:-1]
    longitudes = numpy.linspace(0, 2 * numpy.pi, 2 * rings, endpoint=False)
    ring = numpy.stack([numpy.cos(longitudes), numpy.sin(longitudes)], axis=-1)
    points = [[0, 0, 1.0]]
    for latitude in latitudes:
        points += [[*(numpy.sin(latitude) * xy), numpy.cos(latitude)] for xy in ring]
    points.append([0, 0, -1.0])
    faces, n = [], 2 * rings
    for i in range(n):
        j = (i + 1) % n
        faces.append([0, 1 + i, 1 + j])
        for r in range(len(latitudes) - 1):
            a, b = 1 + r * n, 1 + (r + 1) * n
            faces += [[a + i, b + i, b + j], [a + i, b + j, a + j]]
        last = 1 + (len(latitudes) - 1) * n
        faces.append([last + i, len(points) - 1, last + j])
    return numpy.array(points) * radii, numpy.array(faces)


def _hull(model, geom):
    """The convex hull that MuJoCo's compiler has found of a mesh, faces counter-clockwise from outside."""
    mesh = model.geom_dataid[geom]
    begin = model.mesh_graphadr[mesh]
    if begin < 0:
        raise SceneError(f"geom {geom_name(model, geom)!r}: found a mesh without a convex hull, expected one: let it "
                         "collide in the model (contype, conaffinity)")
    graph = model.mesh_graph[begin:]
    vertex_count, face_count = int(graph[0]), int(graph[1])
    chosen = graph[2 + vertex_count:2 + 2 * vertex_count]
    faces = graph[2 + 3 * vertex_count + 3 * face_count:2 + 3 * vertex_count + 6 * face_count].reshape(-1, 3)
    first = model.mesh_vertadr[mesh]
    vertices = model.mesh_vert[first:first + model.mesh_vertnum[mesh]].astype(float)[chosen]
    numbers = {int(v): i for i, v in enumerate(chosen)}
    faces = numpy.array([[numbers[int(v)] for v in face] for face in faces])
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    inward = ((a - vertices.mean(0)) * numpy.cross(b - a, c - a)).sum(-1) < 0
    faces[inward] = faces[inward][:, ::-1]
    return vertices, faces


def _surface(model, geom):
    """The mesh as it is."""
    mesh = model.geom_dataid[geom]
    points, triangles = model.mesh_vertadr[mesh], model.mesh_faceadr[mesh]
    return (model.mesh_vert[points:points + model.mesh_vertnum[mesh]].astype(float),
            model.mesh_face[triangles:triangles + model.mesh_facenum[mesh]].astype(int))


def _height_field(model, geom):
    field = model.geom_dataid[geom]
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    half_x, half_y, top, _ = model.hfield_size[field]
    spacing = 2 * half_x / (columns - 1)
    if abs(spacing - 2 * half_y / (rows - 1)) > 1e-6 * spacing:
        raise SceneError(f"geom {geom_name(model, geom)!r}: found a height field with samples {spacing} m and "
                         f"{2 * half_y / (rows - 1)} m apart, expected the same distance along x and y")
    first = model.hfield_adr[field]
    heights = top * model.hfield_data[first:first + rows * columns].astype(float)
    shape = {"type": "height_field", "spacing": float(spacing),
             "heights": {"samples": [columns, rows], "values": heights.tolist()}}
    return shape, numpy.array([-half_x, -half_y, 0.0])
