"""Clouds of points of an RGBench capture, from the camera's frame into the world."""

import json
import pathlib
import struct

import isocloth
import numpy

_TYPES = {("F", 4): "f4", ("F", 8): "f8", ("U", 1): "u1", ("U", 2): "u2", ("U", 4): "u4", ("I", 1): "i1",
          ("I", 2): "i2", ("I", 4): "i4"}


def read_clouds(root, begin):
    """(time since `begin` [s], points in the world [m]) of each cloud stamped after it, in the order of time.

    Of ``segment_pcds/pointcloud_TIME_segmented.pcd`` in the frame of the camera; ``world_to_camera_transform.json`` has
    the 4 x 4 matrix from the world to it, whose inverse is applied.
    """
    root = pathlib.Path(root)
    file = root / "calibration" / "world_to_camera_transform.json"
    try:
        to_camera = numpy.array(json.loads(file.read_text(encoding="utf-8")), dtype=float)
    except (OSError, ValueError) as error:
        raise isocloth.FileError(f"{file}: {error}, expected a matrix of 4 x 4") from None
    if to_camera.shape != (4, 4):
        raise isocloth.FileError(f"{file}: found the shape {to_camera.shape}, expected (4, 4)")
    to_world = numpy.linalg.inv(to_camera)
    stamped = []
    for cloud in (root / "segment_pcds").glob("pointcloud_*_segmented.pcd"):
        try:
            at = float(cloud.name.removeprefix("pointcloud_").removesuffix("_segmented.pcd")) - begin
        except ValueError:
            raise isocloth.FileError(f"{cloud}: found no time in the name, expected pointcloud_TIME_segmented.pcd"
                                     ) from None
        if at >= 0:
            stamped.append((at, cloud))
    for at, cloud in sorted(stamped):
        points = read_pcd(cloud)
        if len(points):
            yield at, points @ to_world[:3, :3].T + to_world[:3, 3]


def read_pcd(file):
    """Finite points x, y, z of a PCD file of version 0.7, shape (points, 3): ascii, binary or binary_compressed."""
    content = pathlib.Path(file).read_bytes()
    header, at = {}, 0
    while "DATA" not in header:
        end = content.find(b"\n", at)
        if end < 0:
            raise isocloth.FileError(f"{file}: found no line DATA, expected a PCD file")
        words = content[at:end].decode("ascii", "replace").split()
        at = end + 1
        if words and not words[0].startswith("#"):
            header[words[0]] = words[1:]
    try:
        names, count = header["FIELDS"], int(header["POINTS"][0])
        repeats = [int(n) for n in header.get("COUNT", ["1"] * len(names))]
        types = [_TYPES[kind, int(size)] for kind, size in zip(header["TYPE"], header["SIZE"], strict=True)]
        layout = numpy.dtype([(name, kind, (n,)) for name, kind, n in zip(names, types, repeats, strict=True)])
        places = [names.index(axis) for axis in "xyz"]
    except (KeyError, ValueError, IndexError) as error:
        raise isocloth.FileError(f"{file}: found a header without what it needs ({error}), expected FIELDS with x y z, "
                                 "SIZE, TYPE and POINTS") from None
    kind = header["DATA"][0]
    try:
        if kind == "ascii":
            columns = numpy.cumsum([0, *repeats])[places]
            rows = [line.split() for line in content[at:].decode("ascii").splitlines() if line.strip()][:count]
            points = numpy.array([[float(row[column]) for column in columns] for row in rows]).reshape(-1, 3)
        elif kind == "binary":
            table = numpy.frombuffer(content, layout, count, at)
            points = numpy.stack([table[axis][:, 0] for axis in "xyz"], axis=1)
        elif kind == "binary_compressed":
            packed, size = struct.unpack_from("<II", content, at)
            plain, axes, begin = _unpacked(content[at + 8:at + 8 + packed], size), {}, 0
            for name, one, n in zip(names, types, repeats):  # field by field
                axes[name] = numpy.frombuffer(plain, one, n * count, begin)
                begin += n * count * numpy.dtype(one).itemsize
            points = numpy.stack([axes[axis] for axis in "xyz"], axis=1)
        else:
            raise ValueError(f"DATA {kind}, expected ascii, binary or binary_compressed")
    except (ValueError, IndexError, struct.error) as error:
        raise isocloth.FileError(f"{file}: {error}; the file is damaged, or of another version") from None
    if len(points) != count:
        raise isocloth.FileError(f"{file}: found {len(points)} points, expected the {count} that its header says")
    points = points.astype(float)
    return points[numpy.isfinite(points).all(axis=1)]


def _unpacked(packed, size):
    """LZF, of Marc Lehmann: literal runs of 1 to 32 bytes, and copies of 3 to 264 bytes from up to 8 KiB before."""
    plain, at = bytearray(), 0
    while at < len(packed):
        control = packed[at]
        at += 1
        if control < 32:
            plain += packed[at:at + control + 1]
            at += control + 1
            continue
        length = control >> 5
        if length == 7:
            length += packed[at]
            at += 1
        begin = len(plain) - ((control & 31) << 8) - packed[at] - 1
        at += 1
        if begin < 0:
            raise ValueError("compressed data that refer to what is before them")
        for i in range(length + 2):
            plain.append(plain[begin + i])
    if len(plain) != size:
        raise ValueError(f"found {len(plain)} unpacked bytes, expected {size}")
    return bytes(plain)
