"""Coarse triangles of placed panels: where they are near a body or each other before they are sewn."""

import numpy


def inside(outline, points):
    """Whether points lie in a polygon, shape (n,)."""
    x, y = points.T
    result = numpy.zeros(len(points), bool)
    for a, b in zip(outline, numpy.roll(outline, -1, axis=0)):
        crosses = (a[1] > y) != (b[1] > y)
        with numpy.errstate(divide="ignore", invalid="ignore"):
            result ^= crosses & (x < a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]))
    return result


def triangles_of(panel, spacing=0.025):
    """Points in the panel's plane, shape (n, 2), and triangles of them, with corners of its outline; of a Delaunay
    triangulation those whose middles are inside."""
    from scipy.spatial import Delaunay

    spacing = max(spacing, (panel.area() / 5000) ** 0.5)
    outline = numpy.concatenate([edge.at_shares(numpy.arange(n) / n) for edge in panel.edges
                                 for n in [max(1, int(numpy.ceil(edge.length / (spacing / 2))))]])
    low, high = outline.min(0), outline.max(0)
    grid = numpy.stack(numpy.meshgrid(*(numpy.arange(low[k] + spacing / 2, high[k], spacing) for k in (0, 1))), -1)
    grid = grid.reshape(-1, 2)
    if len(grid):
        grid = grid[inside(outline, grid)]
    if len(grid):
        away = numpy.linalg.norm(grid[:, None] - outline[None], axis=2).min(1)
        grid = grid[away > 0.4 * spacing]
    points = numpy.concatenate([outline, grid])
    triangles = Delaunay(points).simplices
    u, v = points[triangles[:, 1]] - points[triangles[:, 0]], points[triangles[:, 2]] - points[triangles[:, 0]]
    triangles = triangles[numpy.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) > 1e-8]
    return points, triangles[inside(outline, points[triangles].mean(1))]


TOUCHING = 1e-4  # [m]: what is no further beyond a triangle touches it


def crossings(a, b):
    """How often edges of one surface, as (points, triangles), pass through triangles of the other and the other way
    round; what only touches does not count."""
    return _pierced(a, b) + _pierced(b, a)


def _pierced(a, b):
    points, triangles = a
    sides = numpy.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    edges = numpy.unique(numpy.sort(sides, axis=1), axis=0)
    start, end = points[edges[:, 0]], points[edges[:, 1]]
    corners = b[0][b[1]]
    low, high = corners.min(1), corners.max(1)
    near = ((numpy.minimum(start, end) <= high.max(0)) & (numpy.maximum(start, end) >= low.min(0))).all(1)
    start, end = start[near], end[near]
    if not len(start):
        return 0
    keep = ((low <= numpy.maximum(start, end).max(0)) & (high >= numpy.minimum(start, end).min(0))).all(1)
    corners = corners[keep]
    if not len(corners):
        return 0
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = numpy.cross(u, v)
    normal /= numpy.linalg.norm(normal, axis=1)[:, None]
    before = numpy.einsum("ijk,jk->ij", start[:, None] - corners[None, :, 0], normal)
    after = numpy.einsum("ijk,jk->ij", end[:, None] - corners[None, :, 0], normal)
    i, j = numpy.nonzero((before * after < 0) & (numpy.minimum(numpy.abs(before), numpy.abs(after)) > TOUCHING))
    if not len(i):
        return 0
    t = before[i, j] / (before[i, j] - after[i, j])
    hit = start[i] + t[:, None] * (end[i] - start[i]) - corners[j, 0]
    uu, uv, vv = (numpy.einsum("ij,ij->i", p, q) for p, q in ((u[j], u[j]), (u[j], v[j]), (v[j], v[j])))
    hu, hv = numpy.einsum("ij,ij->i", hit, u[j]), numpy.einsum("ij,ij->i", hit, v[j])
    scale = uu * vv - uv * uv
    s, r = (vv * hu - uv * hv) / scale, (uu * hv - uv * hu) / scale
    return int(((s >= -1e-9) & (r >= -1e-9) & (s + r <= 1 + 1e-9)).sum())


def coplanar_overlap(a, b, near):
    """Whether points of one surface lie within ``near`` [m] of the other's triangles' insides, as of panels that were
    laid onto each other: (points, triangles) each; points of the boundary that only touch do not count."""
    return _lies_on(a, b, near) or _lies_on(b, a, near)


def _lies_on(a, b, near):
    middle = a[0][a[1]].mean(1)
    corners = b[0][b[1]]
    keep = ((middle >= corners.min((0, 1)) - near) & (middle <= corners.max((0, 1)) + near)).all(1)
    middle = middle[keep]
    if not len(middle):
        return False
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = numpy.cross(u, v)
    normal /= numpy.maximum(numpy.linalg.norm(normal, axis=1), 1e-30)[:, None]
    way = middle[:, None] - corners[None, :, 0]
    close = numpy.abs(numpy.einsum("ijk,jk->ij", way, normal)) < near
    i, j = numpy.nonzero(close)
    if not len(i):
        return False
    way = way[i, j]
    uu, uv, vv = (numpy.einsum("ij,ij->i", p, q) for p, q in ((u[j], u[j]), (u[j], v[j]), (v[j], v[j])))
    hu, hv = numpy.einsum("ij,ij->i", way, u[j]), numpy.einsum("ij,ij->i", way, v[j])
    scale = uu * vv - uv * uv
    s, r = (vv * hu - uv * hv) / scale, (uu * hv - uv * hu) / scale
    return bool(((s > 0.02) & (r > 0.02) & (s + r < 0.98)).any())
