"""Meshes of a page: cloth in one material or coloured, and solids where they are.

A mesh of viser has one colour. Cloth that is coloured by a quantity is therefore one mesh for each of some colours,
whose triangles have vertices of their own: what changes from frame to frame is positions alone, in buffers that stay.
"""

import numpy

from ._display import SOLID
from ._fields import GARMENT_COLORS, PLAIN, QUANTITIES, colors_of

BACKGROUND = (226, 229, 232)  # apart from the white of what is not strained
COLORS = 24
_CHUNK = 128  # triangles: buffers have some of these, so that they seldom grow


_MOST_WITH_REVERSE = 20_000  # nodes: a reverse is sent as often as the front


def reverse_of(color):
    """The colour of the reverse of a cloth: deeper, as where light shines through dyed threads twice."""
    return tuple(int(c) * int(c) // 255 for c in color)


class PlainLayers:
    """A mesh for each colour, of the nodes that have it, and one for its reverse."""

    def __init__(self, server, shown, positions, on_drag, by_garment):
        triangles = shown.cloth.triangles
        kind = shown.garment_of_triangles % len(GARMENT_COLORS) if by_garment else numpy.zeros(len(triangles), int)
        kind = numpy.where(shown.is_body, -1, kind)
        self.meshes, self.nodes = [], []
        for number in numpy.unique(kind):
            nodes, places = numpy.unique(triangles[kind == number], return_inverse=True)
            color = SOLID if number < 0 else GARMENT_COLORS[number] if by_garment else PLAIN
            has_reverse = number >= 0 and len(positions) <= _MOST_WITH_REVERSE
            sides = [("front", "", color), ("back", "_reverse", reverse_of(color))]
            for side, suffix, own in sides if has_reverse else [("double", "", color)]:
                self.nodes.append(nodes)
                self.meshes.append(server.scene.add_mesh_simple(
                    f"/cloth/plain/{number + 1}{suffix}", positions[nodes],
                    places.reshape(-1, 3).astype(numpy.uint32), color=tuple(int(c) for c in own), side=side))
                self.meshes[-1].on_drag(on_drag)

    def show(self, positions, _values, _low, _high):
        """positions [m], shape (nodes, 3), float32."""
        for mesh, nodes in zip(self.meshes, self.nodes):
            mesh.vertices = positions[nodes]

    def remove(self):
        for mesh in self.meshes:
            mesh.remove()


class ColoredLayers:
    """A mesh for each of :data:`COLORS` colours of a quantity, and one for bodies."""

    def __init__(self, server, shown, name, on_drag):
        self._server, self._shown, self._name, self._on_drag = server, shown, name, on_drag
        self._signed = QUANTITIES[name].signed
        middles = (numpy.arange(COLORS) + 0.5) / COLORS
        self._colors = [tuple(int(c) for c in rgb) for rgb in colors_of(middles * 2 - 1 if self._signed else middles,
                                                                        -1 if self._signed else 0, 1, self._signed)]
        self._colors.append(SOLID)
        self._meshes, self._rooms, self._used = {}, {}, {}

    def show(self, positions, values, low, high):
        """positions [m], shape (nodes, 3), float32; values: of the drawn triangles."""
        place = (values - low) / max(high - low, 1e-300) * COLORS
        band = numpy.clip(place.astype(int), 0, COLORS - 1)
        band[self._shown.is_body] = COLORS
        order = numpy.argsort(band, kind="stable")
        corners = positions[self._shown.cloth.triangles[order]]
        ends = numpy.searchsorted(band[order], numpy.arange(COLORS + 2))
        for number in range(COLORS + 1):
            self._show_band(number, corners[ends[number]:ends[number + 1]])

    def _show_band(self, number, corners):
        count = len(corners)
        if count == 0 and self._used.get(number, 0) == 0:
            return
        room = self._rooms.get(number, 0)
        vertices = numpy.zeros((max(room, -(-count // _CHUNK) * _CHUNK), 3, 3), dtype=numpy.float32)
        vertices[:count] = corners
        # What is not used lies in a point of the cloth.
        vertices[count:] = corners[0, 0] if count else self._shown.cloth.rest[0]
        vertices = vertices.reshape(-1, 3)
        if number in self._meshes and 3 * room == len(vertices):
            self._meshes[number].vertices = vertices
            self._meshes[number].visible = count > 0
        else:
            faces = numpy.arange(len(vertices), dtype=numpy.uint32).reshape(-1, 3)
            self._meshes[number] = self._server.scene.add_mesh_simple(
                f"/cloth/{self._name.replace(' ', '_')}/{number}", vertices, faces, color=self._colors[number],
                side="double", cast_shadow=False, receive_shadow=False)
            self._meshes[number].on_drag(self._on_drag)
            self._rooms[number] = len(faces)
        self._used[number] = count

    def remove(self):
        for mesh in self._meshes.values():
            mesh.remove()


class SolidLayers:
    """Obstacles and bodies."""

    def __init__(self, server, solids, poses):
        self._poses = numpy.full((len(solids), 7), numpy.nan)
        self.meshes = [
            server.scene.add_mesh_simple(f"/solids/{number}", vertices.astype(numpy.float32),
                                         triangles.astype(numpy.uint32), color=SOLID, side="double")
            for number, (_name, vertices, triangles) in enumerate(solids)]
        self.show(poses)

    def show(self, poses):
        """poses: centre and quaternion x, y, z, w, shape (solids, 7)."""
        for number, (mesh, pose) in enumerate(zip(self.meshes, poses)):
            if numpy.array_equal(pose, self._poses[number]):
                continue
            self._poses[number] = pose
            mesh.position = tuple(float(x) for x in pose[:3])
            mesh.wxyz = tuple(float(x) for x in (pose[6], *pose[3:6]))


def light_page(server, low, high):
    """Light that keeps colours as the legend has them, and a grid below the box from low to high [m]."""
    scene = server.scene
    scene.configure_default_lights(False)
    scene.configure_environment_map(None)
    scene.add_light_ambient("/light/ambient", intensity=1.2)
    scene.add_light_directional("/light/sun", intensity=2.0, position=(-0.35, -0.45, 1.0), cast_shadow=False)
    scene.add_light_directional("/light/side", intensity=0.7, position=(0.8, -0.6, 0.2), cast_shadow=False)
    scene.set_background_image(numpy.full((2, 2, 3), BACKGROUND, dtype=numpy.uint8))
    size = float(numpy.linalg.norm(high - low))
    cell = 10.0 ** numpy.floor(numpy.log10(max(size, 0.05)))  # 0.1 m for a sheet of 0.4 m
    scene.add_grid("/grid", width=12 * cell, height=12 * cell, cell_size=cell, section_size=10 * cell,
                   cell_color=(205, 205, 205), section_color=(205, 205, 205), shadow_opacity=0.0,
                   position=(*((low + high) / 2)[:2], low[2] - max(size, 0.05)))


def legend_html(name, low, high):
    """The colours of a quantity with five numbers."""
    signed, unit = QUANTITIES[name].signed, QUANTITIES[name].unit
    stops = colors_of(numpy.linspace(low, high, 13), low, high, signed)
    colors = ", ".join("#" + "".join(f"{c:02x}" for c in rgb) for rgb in stops)
    numbers = "".join(f"<span>{value:.3g}</span>" for value in numpy.linspace(low, high, 5))
    return (f'<div style="padding: 0 0.75em 0.25em; font-size: 0.8em">{name} [{unit}]'
            f'<div style="height: 0.9em; background: linear-gradient(to right, {colors})"></div>'
            f'<div style="display: flex; justify-content: space-between">{numbers}</div></div>')
