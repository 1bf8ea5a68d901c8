"""What pictures and pages show: the cloth of a simulation or of a result, one after another, and the solids."""

import warnings

import numpy

from ._export import obstacle_surfaces
from ._fields import GARMENT_COLORS, PLAIN, QUANTITIES, Cloth, colors_of, quantity
from ._results import Result
from ._simulation import Simulation
from .errors import Error, SceneWarning

SOLID = (170, 166, 158)
MOST_NODES = 100_000  # of the garments that are shown, the first ones


class Shown:
    """Garments one after another as one :class:`Cloth`.

    ``garments``: their numbers; ``names``; ``begins``: first node of each and the number of all; ``garment_of_nodes``,
    ``garment_of_triangles``: counted from 0; ``is_body``: of triangles, whether they are those of a garment that is
    driven as a whole, of which nothing is measured; ``uvs``: see :class:`._vtk_renderer.Picture`; ``solids``: names,
    vertices [m] and triangles; ``has_stress``, ``has_loads``.
    """

    def __init__(self, parts, solids):
        """parts: number, name, rest positions, faces, warp directions, uvs, and whether it is driven, of garments."""
        counts = [len(part[2]) for part in parts]
        self.begins = numpy.concatenate([[0], numpy.cumsum(counts)]).astype(int)
        self.garments, self.names = [part[0] for part in parts], [part[1] for part in parts]
        faces = [numpy.where(part[3] >= 0, part[3] + begin, -1) for part, begin in zip(parts, self.begins)]
        garment_of_faces = numpy.repeat(numpy.arange(len(parts)), [len(f) for f in faces])
        warps = None if any(part[4] is None for part in parts) else numpy.concatenate([part[4] for part in parts])
        self.cloth = Cloth(numpy.concatenate([part[2] for part in parts]), numpy.concatenate(faces), warps)
        self.garment_of_nodes = numpy.repeat(numpy.arange(len(parts)), counts)
        self.garment_of_triangles = garment_of_faces[self.cloth.face_of]
        self._garment_of_faces = garment_of_faces
        is_kinematic = numpy.array([part[6] for part in parts])
        self._is_body_node, self.is_body = is_kinematic[self.garment_of_nodes], is_kinematic[self.garment_of_triangles]
        flat = [part[5] if part[5] is not None else _flat_uvs(part[2], part[3]) for part in parts]
        self.uvs = None if any(uvs is None for uvs in flat) else numpy.concatenate(flat)
        self.solids = solids
        self.has_stress = self.has_loads = False

    def quantities(self):
        """Names of the quantities that there are."""
        there = {"stress": self.has_stress, "contact load": self.has_loads}
        return [name for name in QUANTITIES if there.get(name, True)]

    def colors(self, name, values, low, high):
        """RGB of the drawn triangles by a quantity."""
        rgb = colors_of(self.cloth.of_triangles(name, values), low, high, QUANTITIES[name].signed)
        rgb[self.is_body] = SOLID
        return rgb

    def plain_colors(self, by_garment):
        """RGB of the nodes: one material, or a colour for each garment."""
        rgb = GARMENT_COLORS[self.garment_of_nodes % len(GARMENT_COLORS)] if by_garment else numpy.full(
            (len(self.garment_of_nodes), 3), PLAIN, dtype=numpy.uint8)
        rgb[self._is_body_node] = SOLID
        return rgb

    def measured(self, name, values):
        """Values without those of bodies."""
        of_nodes = QUANTITIES[name].of_nodes
        return values[~(self._is_body_node if of_nodes else self._is_body_face())]

    def _is_body_face(self):
        is_body = numpy.zeros(len(self._garment_of_faces), dtype=bool)
        is_body[self.cloth.face_of] = self.is_body
        return is_body

    def values(self, name, positions):
        """A quantity of :mod:`._fields` of all garments."""
        quantity(name)
        if name == "stress":
            if not self.has_stress:
                raise Error("color: found \"stress\" with a recipe whose elements have no law of it, expected membrane")
            return self.cloth.values(name, positions, law=self._law)
        if name == "contact load":
            if not self.has_loads:
                raise Error("color: found \"contact load\" in a scene in which cloth meets no cloth, expected "
                            "contact.cloth")
            return self.cloth.values(name, positions, loads=self._loads())
        return self.cloth.values(name, positions)

    def _law(self, along_warp, along_weft):
        garments = self._garment_of_faces[self.cloth.row_faces]
        stress = numpy.zeros_like(along_warp)
        for number, garment in enumerate(self.garments):
            own = garments == number
            faces = self.cloth.row_faces[own] - numpy.argmax(self._garment_of_faces == number)
            stress[own] = self.simulation.membrane_stress(garment, along_warp[own], along_weft[own], faces.tolist())
        return stress


def _flat_uvs(rest, faces):
    """Of a mesh that is flat at rest: its own plane; None of others."""
    axis = int(numpy.argmin(numpy.ptp(rest, axis=0)))
    if numpy.ptp(rest[:, axis]) > 1e-6 * numpy.ptp(rest):
        return None
    return numpy.delete(rest, axis, axis=1)[numpy.where(faces >= 0, faces, faces[:, :1])]


def _part(simulation, garment):
    pins = simulation.pin_nodes(garment)
    nodes = simulation.info(garment).node_count
    is_kinematic = bool(pins) and len(numpy.unique(numpy.concatenate(pins))) == nodes
    return (garment, simulation.garment_names[garment], simulation.rest_positions(garment), simulation.faces(garment),
            simulation.warp_directions(garment), simulation.corner_uvs(garment), is_kinematic)


class ShownSimulation(Shown):
    """Of a simulation as it is now: its first garments."""

    def __init__(self, simulation):
        self.simulation = simulation
        counts = numpy.cumsum([simulation.info(g).node_count for g in range(simulation.garment_count)])
        shown = max(1, int(numpy.searchsorted(counts, MOST_NODES, side="right")))
        super().__init__([_part(simulation, g) for g in range(min(shown, simulation.garment_count))],
                         simulation.obstacle_surfaces())
        none = numpy.zeros((0, 3))
        try:
            simulation.membrane_stress(0, none, none)
            self.has_stress = True
        except Error:
            pass
        self.has_loads = simulation.meets_cloth

    def positions(self):
        """[m], shape (nodes, 3)."""
        return self.simulation.read("positions", self.garments)

    def poses(self):
        """Of the solids: centre and quaternion x, y, z, w, shape (solids, 7)."""
        return self.simulation.obstacle_poses()

    def _loads(self):
        loads = self.simulation.cloth_loads()
        return numpy.concatenate([loads[g] for g in self.garments])


class ShownResult(Shown):
    """Frames of a result folder, with threads and stress where its scene can be read."""

    def __init__(self, result):
        self.result = result if isinstance(result, Result) else Result(result)
        self.result.require_folder("render")
        if not len(self.result.times):
            raise Error(f"render: {self.result.folder}: found no frame, expected at least one")
        if not self.result.garments:
            raise Error(f"render: {self.result.folder}: found no garment whose positions are kept, expected at least "
                        "one")
        self.frame_count, self.number = len(self.result.times), 0
        self.simulation = self._simulation()
        parts, self._nodes = [], []
        for number, (name, nodes) in enumerate(self.result.garments.items()):
            if sum(len(n) for n in self._nodes) + nodes.stop - nodes.start > MOST_NODES and parts:
                break
            parts.append(self._part_of(number, name, nodes))
            self._nodes.append(numpy.arange(nodes.start, nodes.stop))
        self._nodes = numpy.concatenate(self._nodes)
        self._surfaces = obstacle_surfaces(self.result)
        super().__init__(parts, [(s.name, s.positions, s.triangles()) for s in self._surfaces])
        self.has_loads = len(self.result.contact_loads(0)) > 0
        if self.simulation is not None:
            none = numpy.zeros((0, 3))
            try:
                self.simulation.membrane_stress(0, none, none)
                self.has_stress = True
            except Error:
                pass

    def _simulation(self):
        """Of the scene of the result; None where it cannot be made any more, as when files that it names are gone."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SceneWarning)
                return Simulation(self.result.folder / "scene.json", allow="/")  # as the run was
        except Error:
            return None

    def _part_of(self, number, name, nodes):
        if self.simulation is not None:
            part = _part(self.simulation, number)
            if len(part[2]) == nodes.stop - nodes.start:
                return part
            self.simulation = None
        inside = (self.result.faces[:, 0] >= nodes.start) & (self.result.faces[:, 0] < nodes.stop)
        faces = numpy.where(self.result.faces[inside] >= 0, self.result.faces[inside] - nodes.start, -1)
        return number, name, self.result.rest_positions[nodes], faces, None, None, False

    def positions(self, number=None):
        """Of a frame [m], shape (nodes, 3); None: of ``number``."""
        return self.result.frame(self.number if number is None else number)[self._nodes]

    def poses(self, number=None):
        """Of the solids in a frame."""
        frame = self.number if number is None else number
        return numpy.array([surface.poses[frame] for surface in self._surfaces]).reshape(-1, 7)

    def _loads(self):
        return self.result.contact_loads(self.number)[self._nodes]
