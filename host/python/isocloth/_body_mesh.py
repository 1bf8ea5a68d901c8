"""A body's mesh, as patterns are arranged around it: in metres, z up, its front towards -y."""

import pathlib

import numpy

from .errors import Error, FileError, MeshError

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "ft": 0.3048}
HEIGHTS = (0.4, 2.3)  # [m] of people, from newborn to very tall


class BodyMesh:
    """``points`` [m], shape (n, 3); ``triangles``, shape (m, 3); ``notes``: what was guessed of unit and axes."""

    def __init__(self, points, triangles, name="body", notes=()):
        self.points, self.triangles = numpy.asarray(points, float), numpy.asarray(triangles, int)
        self.name, self.notes = name, list(notes)
        self._samples = None

    @property
    def low(self):
        return self.points.min(0)

    @property
    def high(self):
        return self.points.max(0)

    def scaled(self, factors):
        return BodyMesh(self.points * factors, self.triangles, self.name, self.notes)

    def _surface(self, spacing=0.012):
        """Points no further apart than about ``spacing``, and outward normals, with a tree of them."""
        if self._samples is None:
            from scipy.spatial import cKDTree

            a, b, c = (self.points[self.triangles[:, k]] for k in range(3))
            places, normals = [], []
            for _ in range(6):
                normal = numpy.cross(b - a, c - a)
                area = numpy.linalg.norm(normal, axis=1)
                good = area > 1e-12
                a, b, c, normal = a[good], b[good], c[good], normal[good] / area[good, None]
                places.append((a + b + c) / 3)
                normals.append(normal)
                longest = numpy.max([numpy.linalg.norm(p - q, axis=1) for p, q in ((a, b), (b, c), (c, a))], axis=0)
                wide = longest > spacing
                if not wide.any():
                    break
                a, b, c = a[wide], b[wide], c[wide]
                ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
                a, b, c = (numpy.concatenate(parts) for parts in ((a, ab, ca, ab), (ab, b, bc, bc), (ca, bc, c, ca)))
            places, normals = numpy.concatenate(places), numpy.concatenate(normals)
            self._samples = cKDTree(places), places, normals
        return self._samples

    def distance(self, points):
        """Distance from the surface, about, negative inside, shape (n,)."""
        tree, places, normals = self._surface()
        near, index = tree.query(points)
        ahead = numpy.einsum("ij,ij->i", points - places[index], normals[index])
        return numpy.where(ahead < 0, -1, 1) * numpy.minimum(near, numpy.maximum(numpy.abs(ahead), near * 0.5))

    def slice(self, height):
        """Loops in which a plane at the height cuts the surface: arrays of points, shape (n, 2), in no order."""
        above = self.points[:, 2] > height
        corner = above[self.triangles]
        cut = self.triangles[corner.any(1) & ~corner.all(1)]
        if not len(cut):
            return []
        edges = {}
        pairs = []
        for triangle in cut:
            ends = []
            for a, b in ((0, 1), (1, 2), (2, 0)):
                p, q = sorted((triangle[a], triangle[b]))
                if above[p] != above[q]:
                    ends.append(edges.setdefault((p, q), len(edges)))
            pairs.append(ends)
        parent = list(range(len(edges)))

        def top(i):
            while parent[i] != i:
                parent[i] = parent[parent[i]]
                i = parent[i]
            return i

        for a, b in pairs:
            parent[top(a)] = top(b)
        keys = numpy.array(list(edges))
        p, q = self.points[keys[:, 0]], self.points[keys[:, 1]]
        t = (height - p[:, 2]) / (q[:, 2] - p[:, 2])
        places = (p + t[:, None] * (q - p))[:, :2]
        groups = {}
        for i in range(len(parent)):
            groups.setdefault(top(i), []).append(i)
        return [places[group] for group in groups.values() if len(group) > 2]

    def write(self, path):
        lines = ["v " + " ".join(f"{x:.7g}" for x in p) for p in self.points]
        lines += ["f " + " ".join(str(i + 1) for i in face) for face in self.triangles]
        pathlib.Path(path).write_text("\n".join(lines) + "\n", encoding="ascii")


def read_body(path, unit=None, up=None):
    """The :class:`BodyMesh` of an OBJ, PLY, STL, glTF, USD or FBX file. Unit and axes are those that the caller says or
    the format has, else they are guessed by the size of people, by the mirror symmetry of left and right and by feet,
    whose toes are in front of the ankles; what was guessed is among the notes."""
    path = pathlib.Path(path)
    suffix = path.suffix.lower()
    notes = []
    if suffix == ".obj":
        points, triangles = _read_obj(path)
    elif suffix in (".ply", ".stl"):
        try:
            import trimesh
        except ImportError:
            raise ImportError("bodies of .ply and .stl need trimesh: pip install isocloth[patterns]") from None
        mesh = trimesh.load(path, force="mesh")
        points, triangles = numpy.asarray(mesh.vertices), numpy.asarray(mesh.faces)
    else:
        from ._import import read_meshes

        source = read_meshes(path)
        points, triangles = [], []
        for mesh in source.meshes:
            triangles += [[sum(map(len, points)) + face[i] for i in (0, k, k + 1)]
                          for face in mesh.faces for k in range(1, len(face) - 1)]
            points.append(numpy.asarray(mesh.points(None), float))
        points, unit, up = numpy.concatenate(points), unit or source.unit, up or source.up
    if len(points) < 4 or not len(triangles):
        raise MeshError(f"{path}: found {len(points)} points and {len(triangles)} triangles, expected a body's mesh")
    points = numpy.asarray(points, float)
    used = numpy.unique(triangles)
    size = numpy.ptp(points[used], axis=0)
    up_axis = {"x": 0, "y": 1, "z": 2}.get(up)
    if up is not None and up_axis is None:
        raise Error(f'import: up: found "{up}", expected x, y or z')
    if up_axis is None:
        depth = int(size.argmin())
        rest = [axis for axis in range(3) if axis != depth]
        up_axis = max(rest, key=lambda axis: _asymmetry(points[used, axis]))
        notes.append(f"body: does not say its axes; {'xyz'[up_axis]} was guessed to be up")
    if unit is None:
        fitting = [name for name in UNITS if HEIGHTS[0] <= size[up_axis] * UNITS[name] <= HEIGHTS[1]]
        if not fitting:
            raise MeshError(f"{path}: found a height of {size[up_axis]:.4g}, which no unit makes that of a person, 0.4 "
                            "to 2.3 m; say its unit (--body-unit m, cm, mm, in, ft)")
        fitting.sort(key=lambda name: abs(size[up_axis] * UNITS[name] - 1.7))
        unit = fitting[0]
        notes.append(f"body: does not say its unit; {unit} was guessed: it is {size[up_axis] * UNITS[unit]:.2f} m tall")
    scale = UNITS.get(unit, unit)
    if not isinstance(scale, (int, float)) or not 0 < scale < 1e6:
        raise Error(f'import: body unit: found "{unit}", expected one of {" ".join(UNITS)}, or metres as a number')
    sides = [axis for axis in range(3) if axis != up_axis]
    depth = min(sides, key=lambda axis: size[axis])
    points = points * scale
    height = points[used, up_axis] - points[used, up_axis].min()
    tall = height.max()
    foot, shank = height < 0.03 * tall, (height > 0.08 * tall) & (height < 0.14 * tall)
    ahead = points[used, depth][foot].mean() - points[used, depth][shank].mean() if shank.any() else 0.0
    turn = numpy.zeros((3, 3))
    turn[2, up_axis] = 1
    turn[1, depth] = -1 if ahead > 0 else 1
    turn[0] = numpy.cross(turn[1], turn[2])
    return BodyMesh(points @ turn.T, triangles, path.stem, notes)


def _asymmetry(x):
    """How far the places along an axis are from those of their mirror image, as a share of the extent."""
    shares = numpy.quantile(x, numpy.linspace(0, 1, 41))
    return float(numpy.abs(shares + shares[::-1] - shares[0] - shares[-1]).mean() / max(numpy.ptp(x), 1e-30))


def _read_obj(path):
    points, faces = [], []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                words = line.split()
                if not words:
                    continue
                if words[0] == "v":
                    points.append([float(x) for x in words[1:4]])
                elif words[0] == "f":
                    corners = [int(word.split("/")[0]) for word in words[1:]]
                    corners = [i - 1 if i > 0 else len(points) + i for i in corners]
                    faces += [[corners[0], corners[k], corners[k + 1]] for k in range(1, len(corners) - 1)]
    except OSError as error:
        raise FileError(f"{path}: cannot read a body: {error.strerror}") from None
    except (ValueError, IndexError):
        raise FileError(f"{path}: found {line.strip()[:60]!r}, expected a line of an OBJ file") from None
    faces = numpy.array(faces, dtype=int).reshape(-1, 3)
    if len(faces) and not (0 <= faces.min() and faces.max() < len(points)):
        raise FileError(f"{path}: found a face of vertex {faces.max() + 1}, expected 1 to {len(points)}")
    return numpy.array(points, dtype=float).reshape(-1, 3), faces
