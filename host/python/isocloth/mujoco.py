"""Cloth beside MuJoCo: geoms of its model meet the cloth of a scene, and feel it. Needs mujoco.

A step of the cloth is one or several of MuJoCo. Light fingers that were only told the last step's force would be thrown
about, so the two are solved together (:meth:`isocloth.Simulation.set_external_motion`):

1. MuJoCo takes the step without cloth: free poses. Once more for each degree of freedom that moves bodies near cloth,
with
   a small force there: W, how poses at the end of the step give way, with all that actuators, joints' limits,
   equalities and contacts of MuJoCo have to say.
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

import numbers
import pathlib
import tempfile
import typing

import mujoco
import numpy

from ._mujoco_shapes import chosen_geoms, depths_in, solid_of
from ._mujoco_worlds import Worlds
from ._simulation import Simulation
from .errors import NumericalError, SceneError, ShapeError

__all__ = ["Bridge", "State", "Worlds"]

_STATE = mujoco.mjtState.mjSTATE_INTEGRATION
_PROBE = 1e-5  # way by which a degree of freedom is pushed to ask how it gives way [m], [rad]
_LEAP = 0.05  # way between two steps that is no motion [m]


class State(typing.NamedTuple):
    """Of both sides: numbers of ``mjSTATE_INTEGRATION`` and an :class:`isocloth.Snapshot`."""

    mujoco: numpy.ndarray
    cloth: typing.Any


class Bridge:
    """A MuJoCo model and its data beside the cloths of a scene.

    model, data: MuJoCo's; ``data`` is stepped in place. scene: as in :class:`isocloth.Simulation`, a dict or a
    :class:`isocloth.scene.Scene`, without the geoms, which are added to its obstacles and bodies; its step is a whole
    number of MuJoCo's ``timestep``. geoms: names or numbers of those that the cloth meets, beside all that collide
    (``contype`` or ``conaffinity`` not 0) of ``bodies``; both None: all that collide. friction: of cloth and geom;
    None: the first of ``geom_friction``. meshes: "hulls", as MuJoCo takes them, or "surfaces", as they are, which must
    be closed. rounding: of edges of boxes and cylinders [m], at most a tenth of their size. reach: bodies farther than
    this from all cloth at the beginning of a step are moved as if nothing could touch them [m]. options: of
    :class:`isocloth.Simulation`.

    Geoms of bodies that no joint moves are obstacles, those of mocap bodies are obstacles that are steered, all others
    are external bodies. Gravity of both is MuJoCo's, which must point along -z. ``wrenches``: forces [N] and torques
    about the origins of geoms [N m], along the axes of the world, that cloth gave to each in the last step, by names;
    sensors of ``data`` feel them, too.

    Raises :class:`isocloth.SceneError` for a geom that the cloth has no counterpart of, with its name.
    """

    def __init__(self, model, data, scene, *, geoms=None, bodies=None, friction=None, meshes="hulls", rounding=0.002,
                 reach=0.05, **options):
        if meshes not in ("hulls", "surfaces"):
            raise SceneError(f'meshes: found {meshes!r}, expected "hulls" or "surfaces"')
        if not isinstance(model, mujoco.MjModel) or not isinstance(data, mujoco.MjData):
            raise ShapeError(f"model and data: found {type(model).__name__} and {type(data).__name__}, expected "
                             "mujoco.MjModel and its mujoco.MjData")
        for name, value in (("reach", reach), *([("friction", friction)] if friction is not None else [])):
            if not isinstance(value, numbers.Real) or not 0 <= value < float("inf"):
                raise SceneError(f"{name}: found {value!r}, expected a number >= 0")
        self.model, self.data, self.reach = model, data, reach
        _require_finite(model, data)
        mujoco.mj_forward(model, data)
        solids = self._solids = [solid_of(model, g, rounding, meshes) for g in chosen_geoms(model, geoms, bodies)]
        scene = dict(scene.to_dict() if hasattr(scene, "to_dict") else scene)
        self.steps = _steps_per_step(model, scene)
        self._deepest = 2 * float(scene.get("contact", {}).get("tolerance", 1e-4))
        gravity = model.opt.gravity
        if abs(gravity[0]) + abs(gravity[1]) > 1e-9:
            raise SceneError(f"gravity: found {gravity.tolist()} in the model, expected one along z")
        scene["gravity"] = -float(gravity[2])
        self._mocap = [s for s in solids if _is_mocap(model, s.body)]
        self._external = [s for s in solids if not _is_mocap(model, s.body) and model.body_weldid[s.body] != 0]
        external = {s.geom for s in self._external}
        with tempfile.TemporaryDirectory(prefix="isocloth-") as folder:
            things = [self._thing(s, friction, pathlib.Path(folder)) for s in solids]
            scene["obstacles"] = [*scene.get("obstacles", []),
                                  *(t for t, s in zip(things, solids) if s.geom not in external)]
            scene["bodies"] = [*scene.get("bodies", []),
                               *({**t, "external": True} for t, s in zip(things, solids) if s.geom in external)]
            self.simulation = Simulation(scene, **options)
        self._free, self._tried = mujoco.MjData(model), mujoco.MjData(model)
        self._names = [s.name for s in self._external]
        known = self.simulation.body_names
        self._numbers = [known.index(name) for name in self._names]
        self._radii = [float(model.geom_rbound[s.geom]) for s in self._external]
        self._longest = [_longest_edge(self.simulation, g) for g in range(self.simulation.garment_count)]
        self._start = self.state()
        self._remember()
        self.wrenches = {s.name: numpy.zeros(6) for s in solids}

    def step(self):
        """A step of the cloth and as many of MuJoCo as it takes; returns the reports of the cloth.

        What the program set in ``ctrl``, ``qfrc_applied``, ``xfrc_applied`` and mocap poses acts throughout. Raises
        :class:`isocloth.ShapeError` for what is not finite there, for a body that was moved far since the last step
        other than by :meth:`reset` and :meth:`restore` (or ``mj_resetData``), and :class:`isocloth.NumericalError`
        where MuJoCo becomes unstable, with names; of the step nothing has then happened to ``data``.
        """
        model, data, free = self.model, self.data, self._free
        _require_finite(model, data)
        asked = data.xfrc_applied.copy()
        mujoco.mj_kinematics(model, data)  # what the program may have changed
        mujoco.mj_comPos(model, data)
        begin = self._poses(data, self._external)
        self._require_rest(begin)
        state = _state(model, data)
        self._advance(free, state, asked)
        if self._external:
            response = self._response(state, asked, self._near(begin))
            self.simulation.set_external_motion(self._names, begin, self._poses(free, self._external), response)
        if self._mocap:
            try:
                self.simulation.set_body_poses([s.name for s in self._mocap], self._poses(free, self._mocap))
            except SceneError as error:
                said = str(error).split(";")[0]
                raise ShapeError(f"{said}; lead mocap bodies by shorter ways, or reset() after a leap") from None
        reports = self.simulation.step()
        forces = self._pushed(asked)
        try:
            self._advance(data, state, forces)
        except NumericalError:
            mujoco.mj_setState(model, data, state, _STATE)
            data.xfrc_applied[:] = asked
            mujoco.mj_forward(model, data)
            raise
        mujoco.mj_forward(model, data)  # sensors with the forces of the cloth
        data.xfrc_applied[:] = asked
        self._remember()
        return reports

    def reset(self, keyframe=None):
        """Both as they were when the bridge was made, or MuJoCo's side as in a keyframe, by its name or number."""
        if keyframe is None:
            return self.restore(self._start)
        try:
            number = self.model.key(keyframe).id
        except (KeyError, IndexError, TypeError):
            names = [self.model.key(k).name for k in range(self.model.nkey)]
            raise ShapeError(f"keyframe: found {keyframe!r}, expected one of {len(names)}: {names[:8]}") from None
        mujoco.mj_resetDataKeyframe(self.model, self.data, number)
        mujoco.mj_forward(self.model, self.data)
        self.simulation.restore(self._start.cloth)
        self._remember()

    def state(self):
        """A :class:`State` to come back to by :meth:`restore`."""
        return State(_state(self.model, self.data), self.simulation.snapshot())

    def restore(self, state):
        """Both as they were at a :meth:`state`."""
        if not isinstance(state, State):
            raise ShapeError(f"state: found {type(state).__name__}, expected what state() has returned")
        mujoco.mj_setState(self.model, self.data, state.mujoco, _STATE)
        mujoco.mj_forward(self.model, self.data)
        self.simulation.restore(state.cloth)
        self._remember()

    def set_cloth(self, positions, velocities=None, garment=0):
        """Has the nodes of a garment at these positions [m] with these velocities [m/s], shapes (nodes, 3); None: at
        rest. Raises :class:`isocloth.ShapeError` for a node inside of a geom, where that is now, by more than twice
        ``contact.tolerance``; geoms of ``meshes="surfaces"`` that are not convex are not looked at."""
        nodes = self.simulation.info(garment).node_count
        told = {"positions": positions, "velocities": numpy.zeros((nodes, 3)) if velocities is None else velocities}
        for field, values in told.items():
            told[field] = values = numpy.asarray(values, dtype=float)
            if values.shape != (nodes, 3):
                raise ShapeError(f"{field}: found shape {values.shape}, expected {(nodes, 3)}")
        self._require_outside(told["positions"])
        for field, values in told.items():
            self.simulation.write(field, values, garment)

    def draw(self, scene, rgba=(0.25, 0.45, 0.8, 1.0), garments=None):
        """Adds the cloth to a ``mjvScene`` as triangles, after ``update_scene()`` of a ``mujoco.Renderer`` (its
        ``scene``) or to the ``user_scn`` of a passive viewer, where ``user_scn.ngeom = 0`` comes first.

        rgba: one color, or one for each garment. garments: as in :meth:`isocloth.Simulation.positions`; None: all.
        Returns the number of triangles for which there was no room: ``mujoco.Renderer(model, max_geom=)`` makes more.
        """
        simulation = self.simulation
        chosen = range(simulation.garment_count) if garments is None else simulation._numbers_of(garments)
        colors = numpy.broadcast_to(numpy.asarray(rgba, dtype=numpy.float32), (len(chosen), 4))
        left_out, ones = 0, numpy.ones(3)
        for garment, color in zip(chosen, colors):
            faces = simulation.faces(garment)
            faces = numpy.concatenate([faces[:, [0, 1, 2]], faces[faces[:, 3] >= 0][:, [0, 2, 3]]])
            corners = simulation.positions(garment)[faces]
            sides = numpy.stack([corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], axis=-1)
            normals = numpy.cross(sides[..., 0], sides[..., 1])
            normals /= numpy.maximum(numpy.linalg.norm(normals, axis=-1, keepdims=True), 1e-30)
            # A triangle of MuJoCo is (0, 0), (1, 0), (0, 1), and its matrix any.
            matrices = numpy.concatenate([sides, normals[..., None]], axis=-1).reshape(-1, 9)
            room = max(scene.maxgeom - scene.ngeom, 0)
            left_out += max(len(faces) - room, 0)
            for place, matrix in zip(corners[:room, 0], matrices):
                geom = scene.geoms[scene.ngeom]
                mujoco.mjv_initGeom(geom, mujoco.mjtGeom.mjGEOM_TRIANGLE, ones, place, matrix, color)
                scene.ngeom += 1
        return left_out

    @property
    def time(self):
        """Of MuJoCo [s]."""
        return self.data.time

    def _thing(self, solid, friction, folder):
        """The geom in a scene."""
        model, shape = self.model, dict(solid.shape)
        if solid.mesh is not None:
            path = folder / f"{solid.geom}.obj"
            vertices, faces = solid.mesh
            path.write_text("".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in vertices.tolist())
                            + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces.tolist()))
            shape["file"] = str(path)
        pose = self._poses(self.data, [solid])[0]
        turn = numpy.zeros(3)
        mujoco.mju_quat2Vel(turn, pose[3:], 1.0)
        mu = float(model.geom_friction[solid.geom, 0] if friction is None else friction)
        return {"name": solid.name, "shape": shape, "position": pose[:3].tolist(),
                "rotation_degrees": numpy.degrees(turn).tolist(), "friction": {"static": mu}}

    @staticmethod
    def _poses(data, solids):
        poses = numpy.zeros((len(solids), 7))
        for pose, solid in zip(poses, solids):
            turn = data.geom_xmat[solid.geom]
            pose[:3] = data.geom_xpos[solid.geom] + turn.reshape(3, 3) @ solid.place
            mujoco.mju_mat2Quat(pose[3:], turn)
        return poses

    def _remember(self):
        """Where the step ends."""
        self._ends, self._end_time = self._poses(self.data, self._external), self.data.time

    def _require_outside(self, positions):
        """Throws for the deepest node inside of a geom."""
        mujoco.mj_kinematics(self.model, self.data)
        for solid, pose in zip(self._solids, self._poses(self.data, self._solids)):
            depths = depths_in(solid, (positions - pose[:3]) @ self.data.geom_xmat[solid.geom].reshape(3, 3))
            node = int(depths.argmax())
            if depths[node] > self._deepest:
                inside = int((depths > self._deepest).sum())
                raise ShapeError(f"positions[{node}]: found it {depths[node]:.3g} m inside of geom {solid.name!r}, the "
                                 f"deepest of {inside} nodes there, expected cloth outside; place it farther off, or "
                                 "move the geom first")

    def _require_rest(self, begin):
        """A body that the program has put elsewhere would be inside the cloth in silence."""
        if self.data.time < self._end_time:
                return  # put back by the program
        ways = numpy.linalg.norm(begin[:, :3] - self._ends[:, :3], axis=-1)
        for solid, way, radius in zip(self._external, ways, self._radii):
            if way > max(2 * radius, _LEAP):
                raise ShapeError(f"geom {solid.name!r}: found a leap of {way:.3g} m since the last step, expected less "
                                 "than its size; move it by its actuators or forces, or put both back by reset() or "
                                 "restore()")

    def _advance(self, data, state, forces, more=None):
        """MuJoCo's part of a step from `state`."""
        model = self.model
        mujoco.mj_setState(model, data, state, _STATE)
        data.xfrc_applied[:] = forces
        if more is not None:
            data.qfrc_applied[more[0]] += more[1]
        before = _complaints(data)
        for _ in range(self.steps):
            mujoco.mj_step(model, data)
        _require_stable(model, data, before, state)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)

    def _pushed(self, asked):
        """Forces of the program and those of the cloth, about centres of mass, as ``xfrc_applied`` has them."""
        forces, free = asked.copy(), self._free
        if self._external:
            found = self.simulation.body_wrenches()[self._numbers]
            ends, free_ends = self.simulation.body_poses(self._names), self._poses(free, self._external)
            for solid, wrench, end, free_end in zip(self._external, found, ends, free_ends):
                forces[solid.body, :3] += wrench[:3]
                forces[solid.body, 3:] += wrench[3:] + numpy.cross(free_end[:3] - free.xipos[solid.body], wrench[:3])
                self.wrenches[solid.name] = wrench
        others = [n for n in self.wrenches if n not in self._names]
        if others:
            for name, wrench in zip(others, self.simulation.wrenches(others).sum(0)):
                self.wrenches[name] = wrench
        return forces

    def _near(self, begin):
        """Numbers of external geoms that the cloth may touch in the step."""
        clouds = [self.simulation.positions(g) for g in range(self.simulation.garment_count)]
        low, high = (numpy.array([getattr(c, f)(0) for c in clouds]) for f in ("min", "max"))
        near = []
        for i, (pose, radius) in enumerate(zip(begin, self._radii)):
            reach = radius + self.reach + numpy.array(self._longest)
            inside = (low - reach[:, None] < pose[:3]) & (pose[:3] < high + reach[:, None])
            for g in numpy.flatnonzero(inside.all(-1)):
                if (((clouds[g] - pose[:3]) ** 2).sum(-1) < reach[g] ** 2).any():
                    near.append(i)
                    break
        return near

    def _response(self, state, asked, near):
        """W = J A J^T of the external geoms, shape (6 geoms, 6 geoms), with A, how the degrees of freedom end by
        forces on them, over h^2; 0 for what is not near."""
        model, free, h = self.model, self._free, self.simulation.step_length
        w = numpy.zeros((6 * len(self._external),) * 2)
        if near:
            solids = [self._external[i] for i in near]
            moving = _degrees_of_freedom(model, {s.body for s in solids})
            jacobian = numpy.zeros((len(solids), 6, model.nv))
            for own, solid, pose in zip(jacobian, solids, self._poses(free, solids)):
                mujoco.mj_jac(model, free, own[:3], own[3:], pose[:3], solid.body)
            jacobian = jacobian.reshape(-1, model.nv)[:, moving]
            inverse, way = numpy.zeros((len(moving), len(moving))), numpy.zeros(model.nv)
            for k, dof in enumerate(moving):
                push = _PROBE * max(model.dof_M0[dof], 1e-9) / (h * h)
                self._advance(self._tried, state, asked, (dof, push))
                mujoco.mj_differentiatePos(model, way, 1.0, free.qpos, self._tried.qpos)
                inverse[:, k] = way[moving] / (push * h * h)
            values, vectors = numpy.linalg.eigh((inverse + inverse.T) / 2)
            root = jacobian @ (vectors * numpy.sqrt(numpy.maximum(values, 0)))
            rows = (6 * numpy.array(near)[:, None] + numpy.arange(6)).ravel()
            w[numpy.ix_(rows, rows)] = root @ root.T
        return w


def _longest_edge(simulation, garment):
    """At rest [m]: nodes may be so far from a body that touches the cloth between them."""
    corners = simulation.rest_positions(garment)[simulation.faces(garment)]
    return float(numpy.linalg.norm(corners - numpy.roll(corners, 1, axis=1), axis=-1).max())


def _is_mocap(model, body):
    return model.body_mocapid[body] >= 0


def _steps_per_step(model, scene):
    step, own = float(scene["step"]), float(model.opt.timestep)
    steps = round(step / own)
    if steps < 1 or abs(steps * own - step) > 1e-9 * step:
        raise SceneError(f"step: found {step} s, expected a whole number of the model's timestep, {own} s, such as "
                         f"{max(steps, 1) * own:.6g} s")
    return steps


def _state(model, data):
    state = numpy.empty(mujoco.mj_stateSize(model, _STATE))
    mujoco.mj_getState(model, data, state, _STATE)
    return state


def _degrees_of_freedom(model, bodies):
    """Numbers of those that move any of these bodies."""
    found = set()
    for body in bodies:
        while body != 0:
            first = model.body_dofadr[body]
            found.update(range(first, first + model.body_dofnum[body]))
            body = model.body_parentid[body]
    return sorted(found)


def _joint_at(model, number, first):
    """Joint and body of a number of qpos or qvel."""
    joint = int(numpy.searchsorted(first, number, side="right")) - 1
    return f"joint {model.joint(joint).name or joint!r} of body {model.body(model.jnt_bodyid[joint]).name!r}"


def _require_finite(model, data):
    """Throws for the first number of the program that is none."""
    def named(names, width):
        return lambda i: f"{names(i // width).name or i // width!r}"

    for field, where in (("qpos", lambda i: _joint_at(model, i, model.jnt_qposadr)),
                         ("qvel", lambda i: _joint_at(model, i, model.jnt_dofadr)),
                         ("qfrc_applied", lambda i: _joint_at(model, i, model.jnt_dofadr)),
                         ("ctrl", named(model.actuator, 1)), ("xfrc_applied", named(model.body, 6)),
                         ("mocap_pos", lambda i: f"mocap body {i // 3}"),
                         ("mocap_quat", lambda i: f"mocap body {i // 4}")):
        lost = numpy.flatnonzero(~numpy.isfinite(getattr(data, field)))
        if len(lost):
            value = getattr(data, field).flat[lost[0]]
            raise ShapeError(f"{field}[{lost[0]}] of {where(lost[0])}: found {value}, expected a finite number")
    for i, quaternion in enumerate(data.mocap_quat):
        if numpy.linalg.norm(quaternion) < 1e-6:
            raise ShapeError(f"mocap_quat[{i}] of mocap body {i}: found {quaternion.tolist()}, expected a quaternion "
                             "w, x, y, z of length 1")


_COMPLAINTS = tuple((getattr(mujoco.mjtWarning, f"mjWARN_BAD{name}"), what, where) for name, what, where in (
    ("QPOS", "a position", lambda m, i: _joint_at(m, i, m.jnt_qposadr)),
    ("QVEL", "a velocity", lambda m, i: _joint_at(m, i, m.jnt_dofadr)),
    ("QACC", "an acceleration", lambda m, i: _joint_at(m, i, m.jnt_dofadr)),
    ("CTRL", "a control", lambda m, i: f"actuator {m.actuator(i).name or i!r}")))


def _complaints(data):
    return [data.warning[kind].number for kind, *_ in _COMPLAINTS]


def _require_stable(model, data, before, state):
    for (kind, what, where), number in zip(_COMPLAINTS, before):
        if data.warning[kind].number > number:
            name = where(model, data.warning[kind].lastinfo)
            raise NumericalError(f"{name}: found {what} that is not finite or too large in the step from "
                                 f"{state[0]:.6g} s, expected a stable step of MuJoCo: a smaller timestep, more "
                                 "damping or softer actuators")
