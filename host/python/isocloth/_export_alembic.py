"""Surfaces as Alembic, by PyAlembic as the package alembic3d has it."""

import numpy

from ._library import library
from .errors import FileError

_Y_UP = numpy.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])  # x, z, -y, as programs read it: Alembic says no axis


def write_alembic(path, animation, surfaces, obstacles):
    """Polygon meshes with points at every frame, metres, y up; faces go around clockwise, as Alembic has them."""
    core = library("alembic3d.AbcCoreAbstract", "alembic3d")
    abc, geometry = library("alembic3d.Abc", "alembic3d"), library("alembic3d.AbcGeom", "alembic3d")
    imath = library("imath", "alembic3d")
    try:
        archive = abc.OArchive(str(path))
    except RuntimeError:
        raise FileError(f"export: {path}: cannot be written") from None
    top = archive.getTop()
    sampling = archive.addTimeSampling(core.TimeSampling(1 / animation.rate, float(animation.times[0])))
    taken = set()
    for surface in surfaces + obstacles:
        _write_mesh(geometry, imath, top, _name(surface.name, taken), sampling, surface, len(animation.times))
    return [path]


def _name(name, taken):
    """Of an object: distinct, without the sign that parts names."""
    name = name.replace("/", "_") or "_"
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _write_mesh(geometry, imath, top, name, sampling, surface, frames):
    order = numpy.concatenate([numpy.arange(end - 1, end - len(face) - 1, -1) for end, face in zip(
        numpy.cumsum([len(face) for face in surface.faces]), surface.faces)])
    corners = imath.IntArrayFromBuffer(surface.corners()[order].astype("i4"))
    counts = imath.IntArrayFromBuffer(numpy.array([len(face) for face in surface.faces], dtype="i4"))
    scope = geometry.GeometryScope
    uvs = geometry.OV2fGeomParamSample() if surface.uvs is None else geometry.OV2fGeomParamSample(
        imath.V2fArrayFromBuffer(numpy.ascontiguousarray(surface.uvs[order], dtype="f4")), scope.kFacevaryingScope)
    schema = geometry.OPolyMesh(top, name, sampling).getSchema()
    for number in range(frames):
        points = surface.frame(number)
        normals = geometry.ON3fGeomParamSample()
        if surface.is_smooth:
            normals = geometry.ON3fGeomParamSample(_rows(imath, surface.normals(points)), scope.kVertexScope)
        schema.set(geometry.OPolyMeshSchemaSample(_rows(imath, points), corners, counts, uvs, normals))


def _rows(imath, values):
    return imath.V3fArrayFromBuffer(numpy.ascontiguousarray(values @ _Y_UP.T, dtype="f4"))
