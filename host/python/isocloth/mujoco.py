"""Cloth beside MuJoCo: geoms of its model meet the cloth of a scene, and feel it. Needs mujoco.

A step of the cloth is one or several of MuJoCo. Light fingers that were only told the last step's force would be thrown
about, so the two are solved together (:meth:`isocloth.Simulation.set_external_motion`):

1. MuJoCo takes the step without cloth: free poses. Once more for each of the six directions of each body near cloth, with a
   small force there: W, how poses at the end of the step give way, with all that actuators, joints' limits, equalities and
   contacts of MuJoCo have to say.
2. The cloth takes the step with these bodies, whose poses depart from the free ones by W f h^2.
3. MuJoCo takes the step from where it was, with the wrenches that the cloth found in ``xfrc_applied``.

>>> import mujoco
>>> model = mujoco.MjModel.from_xml_string('''<mujoco><option timestep="0.005"/><worldbody>
...   <geom name="table" type="box" size=".5 .5 .02" pos="0 0 -.02"/>
...   <body name="ball" pos="0 0 .1"><freejoint/><geom name="ball" type="sphere" size=".03" mass=".05"/></body>
... </worldbody></mujoco>''')
>>> scene = {"step": 0.005, "duration": 1, "garments": [
...     {"mesh": {"generator": "quad_grid", "nodes": [9, 9], "size": [0.3, 0.3]},
...      "transform": {"translation": [-0.15, -0.15, 0.001]}, "fabric": {"thickness": 0.002}}]}
>>> bridge = Bridge(model, mujoco.MjData(model), scene)
>>> for _ in range(60):
...     reports = bridge.step()
>>> bool(0.02 < bridge.data.body("ball").xpos[2] < 0.04)
True
"""

import pathlib
import tempfile
import typing
import warnings

import mujoco
import numpy

from ._simulation import Simulation
from .errors import SceneError, SceneWarning

_GEOM = mujoco.mjtGeom
_SHORTEST = 1e-5  # of a force with which a body's response is asked for, over that which moves it by a metre


class _Solid(typing.NamedTuple):
    """A geom that the cloth meets."""

    geom: int
    body: int
    shape: dict
    place: numpy.ndarray  # of the shape's origin in the frame of the geom [m]
    turn: numpy.ndarray  # quaternion w, x, y, z of the shape's axes there


class Bridge:
    """A MuJoCo model and its data beside the cloths of a scene.

    model, data: MuJoCo's; ``data`` is stepped in place. scene: as in :class:`isocloth.Simulation`, a dict or a
    :class:`isocloth.scene.Scene`, without the geoms, which are added to its obstacles and bodies; its step is a whole number
    of MuJoCo's ``timestep``. geoms: names or numbers of those that the cloth meets; None: all that collide
    (``contype`` or ``conaffinity`` not 0). friction: of cloth and geom; None: the first of ``geom_friction``. rounding: of
    edges of boxes and cylinders [m], at most a tenth of their size. reach: bodies farther than this from all cloth at the
    beginning of a step are moved as if nothing could touch them [m]. options: of :class:`isocloth.Simulation`.

    Geoms of bodies that no joint moves are obstacles, those of mocap bodies are obstacles that are steered, all others are
    external bodies. Gravity of both is MuJoCo's, which must point along -z. A mesh is met as its convex hull, as MuJoCo
    does. Raises :class:`isocloth.SceneError` for a geom that the cloth has no counterpart of, with its name.
    """

    def __init__(self, model, data, scene, *, geoms=None, friction=None, rounding=0.002, reach=0.05, **options):
        self.model, self.data, self.reach = model, data, reach
        mujoco.mj_forward(model, data)
        solids = [_solid(model, g, rounding) for g in _chosen(model, geoms)]
        self._solids = [s for s in solids if model.body_weldid[s.body] != 0 or _is_mocap(model, s.body)]
        scene = dict(scene.to_dict() if hasattr(scene, "to_dict") else scene)
        self.steps = _steps_per_step(model, scene)
        gravity = model.opt.gravity
        if abs(gravity[0]) + abs(gravity[1]) > 1e-9:
            raise SceneError(f"gravity: found {gravity.tolist()} in the model, expected one along z")
        scene["gravity"] = -float(gravity[2])
        with tempfile.TemporaryDirectory(prefix="isocloth-") as folder:
            things = {True: [], False: []}
            for number, solid in enumerate(solids):
                is_external = solid in self._solids and not _is_mocap(model, solid.body)
                things[is_external].append(self._thing(solid, number, friction, pathlib.Path(folder)))
                if is_external:
                    things[True][-1]["external"] = True
            scene["obstacles"] = [*scene.get("obstacles", []), *things[False]]
            scene["bodies"] = [*scene.get("bodies", []), *things[True]]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SceneWarning)
                self.simulation = Simulation(scene, **options)
        self._mocap = [s for s in self._solids if _is_mocap(model, s.body)]
        self._external = [s for s in self._solids if not _is_mocap(model, s.body)]
        self._bodies = list(dict.fromkeys(s.body for s in self._external))
        self._free, self._tried = mujoco.MjData(model), mujoco.MjData(model)
        self._names = {s.geom: _name(model, s.geom) for s in self._solids}
        known = self.simulation.body_names
        self._numbers = [known.index(self._names[s.geom]) for s in self._external]
        self._radii = {s.geom: float(model.geom_rbound[s.geom]) for s in self._external}
        self.wrenches = {name: numpy.zeros(6) for name in self._names.values()}

    def step(self):
        """A step of the cloth and as many of MuJoCo as it takes; returns the reports of the cloth."""
        model, data, free, h = self.model, self.data, self._free, self.simulation.step_length
        asked = data.xfrc_applied.copy()  # the program's own, in every step
        begin = self._poses(data, self._external)
        state = _state(model, data)
        self._advance(free, state, asked)
        free_end = self._poses(free, self._external)
        near = self._near()
        response = self._response(state, asked, free, near)
        if self._external:
            self.simulation.set_external_motion(self._external_names(), begin, free_end, response)
        if self._mocap:
            self.simulation.set_body_poses([self._names[s.geom] for s in self._mocap], self._poses(free, self._mocap))
        reports = self.simulation.step()
        forces = asked.copy()
        if self._external:
            found = self.simulation.body_wrenches()[self._numbers]
            ends = self.simulation.body_poses(self._external_names())
            for solid, wrench, pose in zip(self._external, found, ends):
                # About the body's centre of mass, where xfrc_applied acts.
                at = free.xipos[solid.body] + (pose[:3] - self._place(free, solid))
                forces[solid.body, :3] += wrench[:3]
                forces[solid.body, 3:] += wrench[3:] + numpy.cross(pose[:3] - at, wrench[:3])
                self.wrenches[self._names[solid.geom]] = wrench
        self._advance(data, state, forces)
        data.xfrc_applied[:] = asked
        mujoco.mj_forward(model, data)
        return reports

    @property
    def time(self):
        """Of both [s]."""
        return self.data.time

    def _thing(self, solid, number, friction, folder):
        """The geom in a scene."""
        model, name = self.model, _name(self.model, solid.geom)
        shape = dict(solid.shape)
        if "vertices" in shape:
            path = folder / f"{number}.obj"
            vertices, faces = shape.pop("vertices"), shape.pop("faces")
            path.write_text("".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in vertices.tolist())
                            + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces.tolist()))
            shape["file"] = str(path)
        pose = self._poses(self.data, [solid])[0]
        mu = float(model.geom_friction[solid.geom, 0] if friction is None else friction)
        return {"name": name, "shape": shape, "position": pose[:3].tolist(),
                "rotation_degrees": numpy.degrees(_rotation_vector(pose[3:])).tolist(), "friction": {"static": mu}}

    def _external_names(self):
        return [self._names[s.geom] for s in self._external]

    @staticmethod
    def _place(data, solid):
        return data.geom_xpos[solid.geom] + data.geom_xmat[solid.geom].reshape(3, 3) @ solid.place

    def _poses(self, data, solids):
        poses = numpy.zeros((len(solids), 7))
        quaternion = numpy.zeros(4)
        for pose, solid in zip(poses, solids):
            pose[:3] = self._place(data, solid)
            mujoco.mju_mat2Quat(quaternion, data.geom_xmat[solid.geom])
            mujoco.mju_mulQuat(pose[3:], quaternion, solid.turn)
        return poses

    def _advance(self, data, state, forces):
        """MuJoCo's part of a step from `state`."""
        model = self.model
        mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        data.xfrc_applied[:] = forces
        for _ in range(self.steps):
            mujoco.mj_step(model, data)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)

    def _near(self):
        """Bodies that the cloth may touch in the step."""
        clouds = [self.simulation.positions(g) for g in range(self.simulation.garment_count)]
        points = numpy.concatenate(clouds)
        near = set()
        for solid in self._external:
            centre, radius = self._place(self.data, solid), self._radii[solid.geom] + self.reach
            if (numpy.abs(points - centre).max(-1) <= radius).any():
                near.add(solid.body)
        return near

    def _response(self, state, asked, free, near):
        """W of the external geoms, shape (6 geoms, 6 geoms)."""
        model, h = self.model, self.simulation.step_length
        count = len(self._external)
        columns = {}
        before = {b: (free.xpos[b].copy(), free.xquat[b].copy()) for b in self._bodies}
        other = self._tried
        for body in (b for b in self._bodies if b in near):
            for k in range(6):
                size = self._probe(body, k)
                forces = asked.copy()
                forces[body, k] += size
                if k < 3:  # at the body's origin
                    push = numpy.zeros(3)
                    push[k] = size
                    forces[body, 3:] += numpy.cross(self.data.xpos[body] - self.data.xipos[body], push)
                self._advance(other, state, forces)
                columns[body, k] = numpy.concatenate([self._way(before[b], other, b) for b in self._bodies]) / (size * h * h)
        w = numpy.zeros((6 * len(self._bodies),) * 2)
        for (body, k), column in columns.items():
            w[:, 6 * self._bodies.index(body) + k] = column
        kept = [6 * self._bodies.index(b) + k for b, k in columns]
        mask = numpy.zeros(len(w), dtype=bool)
        mask[kept] = True
        w[~mask] = 0
        w = (w + w.T) / 2
        values, vectors = numpy.linalg.eigh(w)
        w = vectors @ (numpy.maximum(values, 0)[:, None] * vectors.T)
        # From origins of bodies to those of shapes.
        moves = numpy.zeros((6 * count, len(w)))
        for i, solid in enumerate(self._external):
            b = 6 * self._bodies.index(solid.body)
            moves[6 * i:6 * i + 6, b:b + 6] = numpy.eye(6)
            moves[6 * i:6 * i + 3, b + 3:b + 6] = -_cross(self._place(free, solid) - free.xpos[solid.body])
        return moves @ w @ moves.T

    def _probe(self, body, k):
        """A force [N] or torque [N m] that moves a body by about a hundredth of a millimetre, or milliradian, in a step if
        it were free: so small that what gives way does so in proportion, so large that it is more than rounding."""
        h = self.simulation.step_length
        mass = max(self.model.body_mass[body], 1e-3)
        inertia = max(self.model.body_inertia[body].max(), 1e-6)
        return _SHORTEST * (mass if k < 3 else 10 * inertia) / (h * h)

    @staticmethod
    def _way(before, data, body):
        """Translation [m] and rotation vector [rad]."""
        place, turn = before
        inverse, between, way = numpy.zeros(4), numpy.zeros(4), numpy.zeros(3)
        mujoco.mju_negQuat(inverse, turn)
        mujoco.mju_mulQuat(between, data.xquat[body], inverse)
        mujoco.mju_quat2Vel(way, between, 1.0)
        return numpy.concatenate([data.xpos[body] - place, way])


def _chosen(model, geoms):
    if geoms is None:
        return [g for g in range(model.ngeom) if model.geom_contype[g] or model.geom_conaffinity[g]]
    chosen = []
    for geom in [geoms] if isinstance(geoms, (str, int)) else geoms:
        try:
            chosen.append(model.geom(geom).id)
        except (KeyError, IndexError):
            names = [_name(model, g) for g in range(model.ngeom)]
            raise SceneError(f"geom: found {geom!r}, expected a number or a name: {', '.join(map(repr, names[:8]))}"
                             f"{', ...' if len(names) > 8 else ''}") from None
    return chosen


def _name(model, geom):
    name = model.geom(geom).name
    body = model.body(model.geom_bodyid[geom]).name or f"body {model.geom_bodyid[geom]}"
    return name or f"{body} geom {geom}"


def _is_mocap(model, body):
    return model.body_mocapid[body] >= 0


def _steps_per_step(model, scene):
    step, own = float(scene["step"]), float(model.opt.timestep)
    steps = round(step / own)
    if steps < 1 or abs(steps * own - step) > 1e-9 * step:
        raise SceneError(f"step: found {step} s, expected a whole number of the model's timestep, {own} s, such as "
                         f"{max(steps, 1) * own} s")
    return steps


def _state(model, data):
    state = numpy.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_INTEGRATION))
    mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    return state


def _rotation_vector(quaternion):
    way = numpy.zeros(3)
    mujoco.mju_quat2Vel(way, quaternion, 1.0)
    return way


def _cross(v):
    """The matrix of v x."""
    return numpy.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def _solid(model, geom, rounding):
    size = model.geom_size[geom].astype(float)
    kind = _GEOM(model.geom_type[geom])
    body = int(model.geom_bodyid[geom])
    place, turn = numpy.zeros(3), numpy.array([1.0, 0, 0, 0])
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
        shape = {"type": "mesh", **_ellipsoid(size)}
    elif kind == _GEOM.mjGEOM_MESH:
        shape = {"type": "mesh", **_hull(model, geom)}
    elif kind == _GEOM.mjGEOM_HFIELD:
        shape, place = _height_field(model, geom)
    else:
        raise SceneError(f"geom {_name(model, geom)!r}: found type {kind.name[7:].lower()}, expected plane, hfield, sphere, "
                         "capsule, ellipsoid, cylinder, box or mesh; name those that the cloth meets by geoms=")
    is_fixed = model.body_weldid[body] == 0
    if kind in (_GEOM.mjGEOM_PLANE, _GEOM.mjGEOM_HFIELD) and not is_fixed:
        raise SceneError(f"geom {_name(model, geom)!r}: found a {kind.name[7:].lower()} of a body that moves, expected one of "
                         "the world")
    return _Solid(geom, body, shape, place, turn)


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
    return {"vertices": numpy.array(points) * radii, "faces": numpy.array(faces)}


def _hull(model, geom):
    """The convex hull that MuJoCo's compiler has found of a mesh, faces counter-clockwise from outside."""
    mesh = model.geom_dataid[geom]
    begin = model.mesh_graphadr[mesh]
    if begin < 0:
        raise SceneError(f"geom {_name(model, geom)!r}: found a mesh without a convex hull, expected one: let it collide in "
                         "the model (contype, conaffinity)")
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
    return {"vertices": vertices, "faces": faces}


def _height_field(model, geom):
    field = model.geom_dataid[geom]
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    half_x, half_y, top, _ = model.hfield_size[field]
    spacing = 2 * half_x / (columns - 1)
    if abs(spacing - 2 * half_y / (rows - 1)) > 1e-6 * spacing:
        raise SceneError(f"geom {_name(model, geom)!r}: found a height field with samples {spacing} m and "
                         f"{2 * half_y / (rows - 1)} m apart, expected the same distance along x and y")
    first = model.hfield_adr[field]
    heights = top * model.hfield_data[first:first + rows * columns].astype(float)
    shape = {"type": "height_field", "spacing": float(spacing),
             "heights": {"samples": [columns, rows], "values": heights.tolist()}}
    return shape, numpy.array([-half_x, -half_y, 0.0])
