"""What cloth is coloured by: strain, shear, stress and loads, measured from positions.

With F_u and F_v the derivatives of the positions along warp and weft of the rest shape at a point of an element:

====================  ======  ===================================================================================
``edge strain``       %       l / l0 - 1 of the edge at a node whose size is largest
``warp strain``       %       \\|F_u| - 1: threads along warp; mean of the points of an element
``weft strain``       %       \\|F_v| - 1
``shear``             degree  90 minus the angle of warp and weft threads, asin(F_u . F_v / (|F_u| |F_v|))
``stretch``           %       s1 - 1, with s1 the larger singular value of F; largest of the points of an element
``stress``            N/m     sqrt(S_uu^2 - S_uu S_vv + S_vv^2 + 3 S_uv^2) of the fabric's stress, mean of the points
``contact load``      N/m^2   sum of the sizes of the forces of cloth on cloth at a node over its area at rest
====================  ======  ===================================================================================

Points are the 2 x 2 Gauss points of quads and the centres of triangles; stress is that of the two Gauss points at which
the engine has its rows.
"""

import dataclasses

import numpy

from .errors import Error


@dataclasses.dataclass(frozen=True)
class Quantity:
    """``of_nodes``: a value for each node, else for each face. ``signed``: its colours are even about 0."""

    unit: str
    of_nodes: bool
    signed: bool


QUANTITIES = {
    "edge strain": Quantity("%", True, True),
    "warp strain": Quantity("%", False, True),
    "weft strain": Quantity("%", False, True),
    "shear": Quantity("°", False, True),
    "stretch": Quantity("%", False, False),
    "stress": Quantity("N/m", False, False),
    "contact load": Quantity("N/m²", True, False),
}

_VIRIDIS = "440154 482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725"
_BLUE_WHITE_RED = "053061 2166ac 4393c3 92c5de d1e5f0 f7f7f7 fddbc7 f4a582 d6604d b2182b 67001f"
# Okabe and Ito (2008), but black: apart for colour-blind people, too.
_GARMENTS = "e69f00 56b4e9 009e73 f0e442 0072b2 d55e00 cc79a7"


def _colors(text):
    return numpy.array([[int(word[i:i + 2], 16) for i in (0, 2, 4)] for word in text.split()], dtype=float)


GARMENT_COLORS = _colors(_GARMENTS).astype(numpy.uint8)
PLAIN = (206, 196, 178)  # undyed linen


def colors_of(values, low, high, signed):
    """RGB of values, shape (n, 3), uint8: viridis from ``low`` to ``high``, of signed ones blue, white, red (RdBu of
    ColorBrewer). Both are told apart by colour-blind people."""
    anchors = _colors(_BLUE_WHITE_RED if signed else _VIRIDIS)
    place = numpy.clip((numpy.asarray(values) - low) / max(high - low, 1e-300), 0, 1) * (len(anchors) - 1)
    rgb = [numpy.interp(place, numpy.arange(len(anchors)), anchors[:, k]) for k in range(3)]
    return numpy.round(numpy.stack(rgb, axis=-1)).astype(numpy.uint8)


class Range:
    """Of a legend. Fixed, or automatic: 1, 2 or 5 times a power of 10 above the 99th percentile of the sizes; it grows
    at once and shrinks when it has been too large by more than half for two seconds."""

    def __init__(self, signed, fixed=None):
        self.signed, self.fixed, self._high, self._large_since = signed, fixed, 0.0, None

    def of(self, values, now=None):
        """Low and high end. now: time [s] by any clock; None: for these values alone."""
        if self.fixed is not None:
            high = self.fixed
        else:
            size = numpy.abs(values)
            high = _round_up(float(numpy.percentile(size, 99)) if size.size else 0.0)
            if now is None or high >= self._high:
                self._high, self._large_since = high, None
            elif self._large_since is None:
                self._large_since = now
            elif now - self._large_since > 2:
                self._high, self._large_since = high, None
            high = self._high
        return (-high if self.signed else 0.0), high


def _round_up(size):
    if not numpy.isfinite(size) or size <= 1e-9:
        return 1e-9
    power = 10.0 ** numpy.floor(numpy.log10(size))
    return float(next(n for n in (1, 2, 5, 10) if n * power >= size * (1 - 1e-9)) * power)


class Cloth:
    """Measures a cloth against its rest shape.

    rest: positions at rest [m], shape (nodes, 3); faces: shape (faces, 4), -1 in the fourth place of a triangle; warps:
    unit vectors along warp of each face, shape (faces, 3); None: the x axis, y where that is nearly normal to a face.
    """

    def __init__(self, rest, faces, warps=None):
        self.rest, self.faces = numpy.asarray(rest, dtype=float), numpy.asarray(faces)
        is_quad = self.faces[:, 3] >= 0
        self._quads, self._triangles = numpy.flatnonzero(is_quad), numpy.flatnonzero(~is_quad)
        # Drawn triangles, quads split from corner 0 to corner 2, and the face of each.
        self.triangles = numpy.concatenate([self.faces[:, :3], self.faces[self._quads][:, [0, 2, 3]]])
        self.face_of = numpy.concatenate([numpy.arange(len(self.faces)), self._quads])
        self._edges = self._unique_edges()
        ends = self.rest[self._edges]
        self._rest_lengths = numpy.maximum(numpy.linalg.norm(ends[:, 1] - ends[:, 0], axis=1), 1e-300)
        self.longest_edge = float(self._rest_lengths.max())
        self._edges_of_nodes()
        self._make_points(self._warps() if warps is None else numpy.asarray(warps, dtype=float))

    def _unique_edges(self):
        f, q = self.faces, self.faces[self._quads]
        t = f[self._triangles]
        pairs = [f[:, [0, 1]], f[:, [1, 2]], t[:, [2, 0]], q[:, [2, 3]], q[:, [3, 0]]]
        return numpy.unique(numpy.sort(numpy.concatenate(pairs), axis=1), axis=0)

    def _edges_of_nodes(self):
        """Edges of each node, node after node, and where each begins."""
        nodes, edges = self._edges.T.ravel(), numpy.tile(numpy.arange(len(self._edges)), 2)
        order = numpy.argsort(nodes, kind="stable")
        self._sorted_edges = edges[order]
        self._with_edges, self._first_edges = numpy.unique(nodes[order], return_index=True)

    def _warps(self):
        normals = self._area_vectors(self.rest)
        normals /= numpy.maximum(numpy.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        axis = numpy.where(numpy.abs(normals[:, :1]) < 0.9, [[1.0, 0, 0]], [[0, 1.0, 0]])
        along = axis - (axis * normals).sum(1, keepdims=True) * normals
        return along / numpy.linalg.norm(along, axis=1, keepdims=True)

    def _area_vectors(self, positions):
        """Normal times area of each face, shape (faces, 3)."""
        p = positions[self.faces]
        vectors = 0.5 * numpy.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
        q = self._quads
        vectors[q] = 0.5 * numpy.cross(p[q, 2] - p[q, 0], p[q, 3] - p[q, 1])
        return vectors

    def _make_points(self, warps):
        """Weights of corners in F_u and F_v of each point: those of triangles, then four of each quad."""
        d = 1 / numpy.sqrt(3)
        shapes = [(self._triangles, [[-1, 1, 0, 0]], [[-1, 0, 1, 0]])]
        corners = numpy.array([[-d, -d], [-d, d], [d, -d], [d, d]])
        xi, eta = corners[:, :1], corners[:, 1:]
        signs = numpy.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        shapes.append((self._quads, 0.25 * signs[:, 0] * (1 + eta * signs[:, 1]),
                       0.25 * signs[:, 1] * (1 + xi * signs[:, 0])))
        faces, weights, areas, is_row = [], [], [], []
        for chosen, by_xi, by_eta in shapes:
            corner = numpy.where(self.faces[chosen] >= 0, self.faces[chosen], self.faces[chosen, :1])
            by_xi, by_eta = numpy.asarray(by_xi, dtype=float), numpy.asarray(by_eta, dtype=float)
            for point, (along_xi, along_eta) in enumerate(zip(by_xi, by_eta)):
                a = numpy.einsum("k,fkx->fx", along_xi, self.rest[corner])
                b = numpy.einsum("k,fkx->fx", along_eta, self.rest[corner])
                normal = numpy.cross(a, b)
                area = numpy.linalg.norm(normal, axis=1)
                normal /= numpy.maximum(area, 1e-300)[:, None]
                u = warps[chosen] - (warps[chosen] * normal).sum(1, keepdims=True) * normal
                u /= numpy.maximum(numpy.linalg.norm(u, axis=1, keepdims=True), 1e-300)
                v = numpy.cross(normal, u)
                au, av, bu, bv = (a * u).sum(1), (a * v).sum(1), (b * u).sum(1), (b * v).sum(1)
                scale = 1 / numpy.maximum(au * bv - av * bu, 1e-300)
                weights.append(numpy.stack([(scale * bv)[:, None] * along_xi - (scale * av)[:, None] * along_eta,
                                            (scale * au)[:, None] * along_eta - (scale * bu)[:, None] * along_xi], 1))
                faces.append(chosen)
                areas.append(area)
                is_row.append(numpy.full(len(chosen), len(by_xi) == 1 or point in (0, 3)))
        self._point_faces, self._weights = numpy.concatenate(faces), numpy.concatenate(weights)
        self._point_nodes = self.faces[self._point_faces]
        self._point_nodes = numpy.where(self._point_nodes >= 0, self._point_nodes, self._point_nodes[:, :1])
        self._areas, self._is_row = numpy.concatenate(areas), numpy.concatenate(is_row)
        self.row_faces = self._point_faces[self._is_row]  # of the points whose stress is asked for
        area = numpy.linalg.norm(self._area_vectors(self.rest), axis=1)
        counts = numpy.where(self.faces[:, 3] >= 0, 4, 3)
        self.node_areas = numpy.zeros(len(self.rest))
        for corner in range(4):
            has = self.faces[:, corner] >= 0
            self.node_areas += numpy.bincount(self.faces[has, corner], (area / counts)[has], len(self.rest))

    def gradients(self, positions):
        """F_u and F_v at all points, shape (points, 3) each."""
        p = numpy.asarray(positions, dtype=float)[self._point_nodes]
        both = numpy.einsum("pdk,pkx->pdx", self._weights, p - p[:, :1])
        return both[:, 0], both[:, 1]

    def _mean(self, values, weights=None, chosen=slice(None)):
        faces = self._point_faces[chosen]
        weights = numpy.ones(len(faces)) if weights is None else weights[chosen]
        total = numpy.bincount(faces, weights, len(self.faces))
        return numpy.bincount(faces, weights * values, len(self.faces)) / numpy.maximum(total, 1e-300)

    def edge_strain(self, positions):
        """Of nodes."""
        ends = numpy.asarray(positions, dtype=float)[self._edges]
        strain = numpy.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) / self._rest_lengths - 1
        around = strain[self._sorted_edges]
        high = numpy.maximum.reduceat(around, self._first_edges)
        low = numpy.minimum.reduceat(around, self._first_edges)
        values = numpy.zeros(len(self.rest))
        values[self._with_edges] = numpy.where(high >= -low, high, low)
        return 100 * values

    def warp_strain(self, positions):
        """Of faces."""
        return 100 * self._mean(numpy.linalg.norm(self.gradients(positions)[0], axis=1) - 1)

    def weft_strain(self, positions):
        """Of faces."""
        return 100 * self._mean(numpy.linalg.norm(self.gradients(positions)[1], axis=1) - 1)

    def shear(self, positions):
        """Of faces."""
        u, v = self.gradients(positions)
        sizes = numpy.linalg.norm(u, axis=1) * numpy.linalg.norm(v, axis=1)
        sine = (u * v).sum(1) / numpy.maximum(sizes, 1e-300)
        return self._mean(numpy.degrees(numpy.arcsin(numpy.clip(sine, -1, 1))))

    def stretch(self, positions):
        """Of faces, 0 where nothing is stretched."""
        u, v = self.gradients(positions)
        mean, half = ((u * u).sum(1) + (v * v).sum(1)) / 2, ((u * u).sum(1) - (v * v).sum(1)) / 2
        largest = numpy.sqrt(mean + numpy.sqrt(half * half + (u * v).sum(1) ** 2)) - 1
        values = numpy.zeros(len(self.faces))
        numpy.maximum.at(values, self._point_faces, largest)
        return 100 * values

    def stress(self, positions, law):
        """Of faces. law: Second Piola and Kirchhoff stress of gradients, such as
        :meth:`isocloth.Simulation.membrane_stress` of a garment."""
        u, v = self.gradients(positions)
        chosen = self._is_row
        uu, vv, uv = (self._mean(s, self._areas, chosen) for s in law(u[chosen], v[chosen]).T)
        return numpy.sqrt(uu * uu - uu * vv + vv * vv + 3 * uv * uv)

    def contact_load(self, loads):
        """Of nodes, from forces on them [N]."""
        return numpy.asarray(loads, dtype=float) / numpy.maximum(self.node_areas, 1e-300)

    def values(self, name, positions, *, law=None, loads=None):
        """A quantity by its name in :data:`QUANTITIES`, in its unit."""
        if name == "stress":
            return self.stress(positions, law)
        if name == "contact load":
            return self.contact_load(loads)
        return getattr(self, name.replace(" ", "_"))(positions)

    def of_triangles(self, name, values):
        """Values of the drawn triangles."""
        return values[self.triangles].mean(1) if QUANTITIES[name].of_nodes else values[self.face_of]

    def normals(self, positions):
        """Unit vectors at nodes: means of the faces around them by their areas, shape (nodes, 3)."""
        vectors = self._area_vectors(positions)
        sums = numpy.zeros_like(positions, dtype=float)
        for corner in range(4):
            has = self.faces[:, corner] >= 0
            for axis in range(3):
                sums[:, axis] += numpy.bincount(self.faces[has, corner], vectors[has, axis], len(sums))
        return sums / numpy.maximum(numpy.linalg.norm(sums, axis=1, keepdims=True), 1e-300)


def quantity(name):
    """Of a name; raises what it may be called."""
    if name not in QUANTITIES:
        raise Error(f"color: found \"{name}\", expected plain, garment, {', '.join(QUANTITIES)}")
    return QUANTITIES[name]
