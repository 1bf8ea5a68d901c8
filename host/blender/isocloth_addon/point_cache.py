"""Files of positions: frames of the engine, and point caches that Blender's Mesh Cache modifier plays.

A PC2 file has ``POINTCACHE2\\0``, version, number of points, first frame, frames per sample and number of samples, then
float32 positions, all little-endian. It counts samples and knows no time: one sample is played for each frame of the
scene, whatever its rate. An MDD file has big-endian numbers of frames and points, times [s] and positions.
"""

import os

import numpy

from .errors import AddonError

_PLY_TYPES = {"double": "<f8", "float": "<f4"}


def write_pc2(path, positions):
    """positions: of the frames of the scene, one after another, shape (frames, points, 3)."""
    positions = numpy.ascontiguousarray(positions, dtype="<f4")
    with open(path, "wb") as file:
        file.write(b"POINTCACHE2\0" + numpy.array([1, positions.shape[1]], dtype="<i4").tobytes()
                   + numpy.array([0, 1], dtype="<f4").tobytes()
                   + numpy.array([len(positions)], dtype="<i4").tobytes())
        positions.tofile(file)


def read_pc2(path):
    """Positions of a PC2 file, shape (samples, points, 3)."""
    with open(path, "rb") as file:
        head = file.read(32)
        if len(head) < 32 or head[:12] != b"POINTCACHE2\0":
            raise AddonError(f"{path}: found no point cache (PC2), expected the result of a run; run again")
        points, samples = (int(number) for number in numpy.frombuffer(head, "<i4")[[4, 7]])
        found, expected = (os.fstat(file.fileno()).st_size - 32) // 4, 3 * points * samples
        if found != expected or points < 1 or samples < 1:
            raise AddonError(f"{path}: found {found} numbers, expected {expected}; run again")
        return numpy.fromfile(file, "<f4", expected).reshape(samples, points, 3)


def write_mdd(path, times, positions):
    """times [s], shape (frames,); positions [m], shape (frames, points, 3)."""
    positions = numpy.ascontiguousarray(positions, dtype=">f4")
    with open(path, "wb") as file:
        numpy.array(positions.shape[:2], dtype=">i4").tofile(file)
        numpy.asarray(times, dtype=">f4").tofile(file)
        positions.tofile(file)


def read_ply(path, with_faces=False):
    """Positions of a frame that the engine wrote [m], shape (nodes, 3), and its faces, a list of lists, or None."""
    with open(path, "rb") as file:
        nodes, faces, kind = 0, 0, None
        for line in file:
            words = line.decode("ascii", "replace").split()
            if words[:2] == ["element", "vertex"]:
                nodes = int(words[2])
            elif words[:2] == ["element", "face"]:
                faces = int(words[2])
            elif words[:1] == ["property"] and words[-1] == "x":
                kind = _PLY_TYPES.get(words[1])
            elif words == ["end_header"]:
                break
        if kind is None:
            raise AddonError(f"{path}: found no positions, expected a frame of isocloth")
        positions = numpy.fromfile(file, kind, 3 * nodes)
        if positions.size != 3 * nodes:
            raise AddonError(f"{path}: found {positions.size} numbers, expected {3 * nodes}")
        return positions.reshape(nodes, 3), _faces(file.read(), faces) if with_faces else None


def _faces(data, count):
    faces, place = [], 0
    for _ in range(count):
        corners = data[place]
        faces.append(numpy.frombuffer(data, "<i4", corners, place + 1).tolist())
        place += 1 + 4 * corners
    return faces


def pieces(node_count, faces):
    """Number of the connected piece of each node, shape (nodes,), pieces by their lowest nodes."""
    first = numpy.arange(node_count)
    edges = numpy.array([[face[k - 1], face[k]] for face in faces for k in range(len(face))]).reshape(-1, 2)
    while True:  # the lowest number spreads along edges, and jumps to that of its own
        before = first.copy()
        low = numpy.minimum(first[edges[:, 0]], first[edges[:, 1]])
        numpy.minimum.at(first, edges[:, 0], low)
        numpy.minimum.at(first, edges[:, 1], low)
        first = first[first]
        if numpy.array_equal(first, before):
            return numpy.unique(first, return_inverse=True)[1]
