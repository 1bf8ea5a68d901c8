"""Repair of meshes that other programs made.

``python -m isocloth repair IN -o OUT`` does what :func:`repair` does.
"""

import dataclasses
import os
import pathlib

import numpy

from . import _core
from .errors import Error, FileError, MeshError, ShapeError

LEAST_ALTITUDE = 0.05
LEAST_PIECE = 1e-3


@dataclasses.dataclass(frozen=True)
class Fault:
    """The faults of one kind in a mesh. ``what``: "unused vertices"; ``count``; ``first``: the first of them, as the
    file counts: "vertex 26 (line 26)"; ``outcome``: what was done, or what is left to choose; ``is_left``: nothing was
    done."""

    what: str
    count: int
    first: str
    outcome: str
    is_left: bool

    def __str__(self):
        return f"{self.count} {self.what} (first {self.first}): {self.outcome}"


@dataclasses.dataclass(frozen=True)
class Repaired:
    """What :func:`repair` made of a mesh.

    ``positions``, shape (nodes, 3); ``faces``: a list of tuples of nodes, 3 or 4 each; ``uvs``: of each corner of the
    faces, one after another, shape (corners, 2), or None; ``node_numbers`` and ``face_numbers``: which node and face of
    the source, from 0, each is or is a part or copy of; ``faults``: a :class:`Fault` of each kind that was found;
    ``file``: what was written, or None.
    """

    positions: numpy.ndarray
    faces: list
    uvs: numpy.ndarray | None
    node_numbers: numpy.ndarray
    face_numbers: numpy.ndarray
    faults: list
    file: pathlib.Path | None = None

    @property
    def is_whole(self):
        """Whether nothing is left that the caller has to choose."""
        return not any(fault.is_left for fault in self.faults)

    @property
    def report(self):
        """A line for each kind of fault; "no faults" where there are none."""
        return "\n".join(map(str, self.faults)) or "no faults"


def repair(mesh, file=None, *, weld=None, least_altitude=LEAST_ALTITUDE, least_piece=LEAST_PIECE, overwrite=False):
    """Repairs a surface that cloth or an obstacle is to be made of, and returns a :class:`Repaired`.

    mesh: path of a ``.obj``, ``.ply`` or ``.stl`` file; or positions and faces, ``(positions, faces)`` of shape
    (nodes, 3) and a list of nodes of each face, any number of them; of a trimesh ``(mesh.vertices, mesh.faces)``.
    file: ``.obj`` to write, with texture coordinates.

    In this order: faces lose corners that come twice, and go where they repeat another; vertices on open edges that lie
    within ``weld`` of each other are united, in the unit of the mesh (None: a millionth of its diagonal; 0: those at
    one place); faces of more than four corners, convex or not, and quads that fold over become triangles; surfaces that
    meet in an edge of more than two faces or in a vertex alone are parted, a hundredth of a face apart; faces that run
    against most of their piece are turned; triangles whose least altitude is below ``least_altitude`` of the median
    edge and a tenth of their own longest side are collapsed or flipped; pieces of at most eight faces that have less
    than ``least_piece`` of the area go; so do vertices without a face. A mesh with none of these stays as it is, bit
    for bit.

    What is a choice is not made: one-sided surfaces (Moebius strips), polygons that cross themselves, and faces at
    vertices that do not exist or are nowhere are faults with ``is_left``. A mesh with such is not written: with
    ``file`` they raise :class:`MeshError`, which counts all.

    Raises :class:`FileError` for files that cannot be read or written, :class:`ShapeError` for arrays that do not fit.
    """
    settings = (-1.0 if weld is None else float(weld), float(least_altitude), float(least_piece))
    if not all(0 <= value < float("inf") for value in settings[1:]) or (weld is not None and not settings[0] >= 0):
        raise Error(f"repair: found weld {weld}, least_altitude {least_altitude}, least_piece {least_piece}, expected "
                    "numbers >= 0")
    if isinstance(mesh, (str, os.PathLike)):
        source = str(mesh)
        found = _core.repair_file(source, *settings)
    else:
        source = "mesh"
        try:
            positions, faces = mesh
            faces = [[int(node) for node in face] for face in faces]
        except (TypeError, ValueError) as error:
            raise ShapeError(f"repair: found no path and no (positions, faces): {error}") from None
        if any(not -2**31 <= node < 2**31 for face in faces for node in face):
            raise ShapeError("repair: faces: found a node beyond 32 bits, expected 0 to the number of nodes")
        found = _core.repair_arrays(positions, *_flat(faces), None, *settings)
    repaired = _repaired(found)
    if file is None:
        return repaired
    repaired = dataclasses.replace(repaired, file=pathlib.Path(file))
    if not repaired.is_whole or not repaired.faces:
        what = "faults whose repair is a choice" if repaired.faces else "no face that could stay"
        raise MeshError(f"{source}: found {what}: {'; '.join(map(str, repaired.faults))}")
    if repaired.file.suffix.lower() != ".obj":
        raise Error(f'repair: found an output of type "{repaired.file.suffix}", expected .obj')
    if repaired.file.exists() and not overwrite:
        raise FileError(f"{file}: found a file, expected none; --overwrite, in Python overwrite=True, replaces it")
    _write(repaired)
    return repaired


def repair_arrays(positions, faces, uvs, weld):
    """As :func:`repair` of arrays, with texture coordinates of the corners or None."""
    return _repaired(_core.repair_arrays(positions, *_flat(faces), uvs, -1.0 if weld is None else weld,
                                         LEAST_ALTITUDE, LEAST_PIECE))


def _flat(faces):
    return [len(face) for face in faces], [int(node) for face in faces for node in face]


def _repaired(found):
    positions, sizes, nodes, uvs, node_numbers, face_numbers, faults = found
    faces = [tuple(map(int, nodes[end - size:end])) for size, end in zip(sizes, numpy.cumsum(sizes))]
    return Repaired(positions, faces, uvs, node_numbers, face_numbers, [Fault(**fault) for fault in faults])


def _write(mesh):
    lines = ["v {!r} {!r} {!r}".format(*map(float, p)) for p in mesh.positions]
    if mesh.uvs is not None:
        lines += ["vt {!r} {!r}".format(*map(float, uv)) for uv in mesh.uvs]
    corner = 0
    for face in mesh.faces:
        lines.append("f " + " ".join(str(node + 1) if mesh.uvs is None else f"{node + 1}/{corner + k + 1}"
                                     for k, node in enumerate(face)))
        corner += len(face)
    try:
        mesh.file.write_text("\n".join(lines) + "\n", encoding="ascii")
    except OSError as error:
        raise FileError(f"{mesh.file}: cannot write: {error.strerror}") from None
