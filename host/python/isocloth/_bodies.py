"""Bodies that others move: poses in, wrenches out.

Bodies are the obstacles of a scene, then its rigid bodies, by numbers or names; grippers by their names. Poses are
places of the origins of shapes x, y, z [m] and unit quaternions w, x, y, z, as MuJoCo has them; wrenches are forces [N]
and torques about these origins [N m], along the axes of the world.
"""

import numbers

import numpy

from .errors import ShapeError

CONTACT_POINT = numpy.dtype([("world", "i4"), ("garment", "i4"), ("body", "i4"), ("position", "f8", 3),
                             ("normal", "f8", 3), ("force", "f8", 3), ("slip", "f8"), ("pressure", "f8"),
                             ("is_sticking", "?")])


class Bodies:
    """Part of :class:`isocloth.Simulation`."""

    @property
    def worlds(self):
        """Numbers of the worlds, ascending: the replicas of a garment are in worlds of their own, as are their
        grippers, and each world's garments may see obstacles elsewhere. A scene without replicas is one world, 0."""
        return sorted({world for world in self._worlds if world >= 0}) or [0]

    def set_body_poses(self, bodies, positions, quaternions=None, linear_velocities=None, angular_velocities=None, *,
                       worlds=None, duration=None):
        """Has obstacles and grippers at these poses ``duration`` from now.

        bodies: numbers of obstacles, or names of obstacles and grippers, one or a sequence of these. positions [m],
        shape (bodies, 3), for all worlds, or (worlds, bodies, 3); quaternions w, x, y, z, shape (bodies, 4) or
        (worlds, bodies, 4), of any length but 0; positions of seven numbers, x, y, z and a quaternion, are poses; of
        three without quaternions: axes stay. linear_velocities [m/s], angular_velocities [rad/s], shapes as positions,
        with which they go on from there; None: they rest there. worlds: numbers of the worlds that are meant, None:
        all. duration: [s], None: a step; 0: they are there at once, whatever is on the way. Places go straight and axes
        turn about one axis by the shorter way.

        An obstacle that would go farther in a step than it is long, and than 5 cm, is refused, as a leap over cloth.

        >>> import isocloth
        >>> simulation = isocloth.Simulation({"step": 0.01, "duration": 1, "gravity": 0,
        ...     "obstacles": [{"name": "finger", "shape": {"type": "box", "size": [0.02, 0.02, 0.04]}}],
        ...     "garments": [{"mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.4, 0.4]},
        ...                   "transform": {"translation": [0.1, 0, 0]}}]})
        >>> simulation.set_body_poses("finger", [0, 0, 0.01], [1, 0, 0, 0])
        >>> _ = simulation.step()
        >>> simulation.body_poses("finger").tolist()
        [[0.0, 0.0, 0.01, 1.0, 0.0, 0.0, 0.0]]
        """
        names = self._listed(bodies)
        poses = self._poses(names, positions, quaternions, worlds)
        velocities = [self._shaped("velocities", v, poses, 3) for v in (linear_velocities, angular_velocities)]
        said = self._said_worlds(worlds)
        is_for_all = max(self._worlds) < 0 or (len(poses) == 1 and worlds is None)
        frames, chosen = [], []
        for w in range(poses.shape[0]):
            for i, name in enumerate(names):
                own = self._frames(name, None if is_for_all else said[w])
                frames += own
                chosen += [(w, i)] * len(own)
        w, i = numpy.array(chosen, dtype=int).reshape(-1, 2).T
        speeds = numpy.concatenate([v[w, i] for v in velocities], axis=-1)
        self._move_frames(frames, poses[w, i], speeds, self.step_length if duration is None else float(duration))

    def body_poses(self, bodies=None, world=None):
        """Poses now, shape (bodies, 7); None: of all obstacles and rigid bodies. world: whose obstacles."""
        if world is not None:
            self._require_world(world)
        found = self._shape_poses(-1 if world is None else world)
        return found if bodies is None else found[self._numbers(self._listed(bodies))]

    def gripper_poses(self, garment=0):
        """Poses of the grippers of a garment now, shape (grippers, 7)."""
        return self._gripper_poses()[self._numbers_of(garment)[0]]

    def wrenches(self, bodies=None):
        """What cloth does to obstacles and rigid bodies at the end of the last step, shape (worlds, bodies, 6); None:
        to all. Forces are minus those that :meth:`contacts` has of the garments of a world; cloths of every world count
        in each."""
        found = self._wrenches()
        worlds = numpy.array(self._worlds)
        of_worlds = [found[(worlds == w) | (worlds < 0)].sum(0) for w in self.worlds]
        return numpy.array(of_worlds)[:, slice(None) if bodies is None else self._numbers(self._listed(bodies))]

    def body_wrenches(self):
        """Means over the last step of all that pushed each rigid body but gravity, shape (rigid bodies, 6): cloth,
        obstacles and other bodies. Of one that its mass moves they are its change of momentum over the step; what
        :meth:`wrenches` has of it is as exact as forces are balanced (``projection.force_tolerance``: 1e-3 for equality
        to 1e-5 N where a cup of 200 g slides on cloth, 0.09 N in some steps without)."""
        return self._body_wrenches()

    def body_velocities(self):
        """Velocities of the centres of mass of the rigid bodies [m/s] and angular velocities [rad/s], shape (rigid
        bodies, 6)."""
        return self._body_velocities()

    def contact_points(self, garments=None):
        """Where obstacles and rigid bodies push garments at the end of the last step: an array of records ``world``,
        ``garment``, ``body`` (number; rigid bodies follow the obstacles), ``position`` of the cloth's middle surface
        [m], ``normal`` out of the body, ``force`` on the garment [N], ``slip`` since the point last stuck [m],
        ``pressure`` [Pa], ``is_sticking``. garments: as in :meth:`positions`; None: all."""
        found = self._contact_points(self._numbers_of(slice(None) if garments is None else garments))
        points = numpy.empty(len(found["garment"]), dtype=CONTACT_POINT)
        for name, values in found.items():
            points[name] = values
        points["world"] = numpy.array(self._worlds, dtype=int)[points["garment"]]
        return points

    def set_external_motion(self, bodies, poses, free_poses, inverse_inertia):
        """Says how external bodies (``bodies[].external``) move in the next step, and how they give way.

        Their ``poses`` now, and ``free_poses`` at the end of the step if no cloth touched them, shape (bodies, 7);
        inverse_inertia: W = J M^-1 J^T, shape (6 bodies, 6 bodies), with the generalised masses M of the mechanism and
        the Jacobian J of its bodies, whose twists at the origins of the shapes are J v, velocity before angular
        velocity, by generalised velocities v. W may be singular: what no joint allows does not move. The step solves
        cloth and bodies together, so that light bodies are as stable as heavy ones: :meth:`body_poses` has where they
        went, and :meth:`body_wrenches` by what, the mean over the step, to be given to the other program. In a step for
        which nothing was said external bodies rest.
        """
        names = self._listed(bodies)
        first = len(self.obstacle_names)
        chosen = self._numbers(names)
        for name, number in zip(names, chosen):
            if number < first:
                raise ShapeError(f"body: found {name!r}, which is an obstacle, expected an external body")
        poses, free_poses = (numpy.asarray(p, dtype=float).reshape(-1, 7) if numpy.size(p) == 7 * len(names) else p
                             for p in (poses, free_poses))
        _require_unit("poses", poses, names)
        _require_unit("free_poses", free_poses, names)
        self._set_external_motion([n - first for n in chosen], poses, free_poses, inverse_inertia)

    def set_friction(self, body, static, dynamic=None, garments=None):
        """Friction of some garments with an obstacle or rigid body from now on. dynamic: None: as static; garments: as
        in :meth:`positions`, None: all."""
        [number] = self._numbers(self._listed(body))
        self._set_friction(number, self._numbers_of(slice(None) if garments is None else garments),
                           *_coefficients(static, dynamic))

    def set_cloth_friction(self, static, dynamic=None):
        """Friction of cloths that meet from now on, but for pairs of which the scene has said it. dynamic: None: as
        static."""
        self._set_cloth_friction(*_coefficients(static, dynamic))

    def _listed(self, bodies):
        if isinstance(bodies, (str, numbers.Integral)):
            return [bodies]
        try:
            names = list(bodies)
        except TypeError:
            raise ShapeError(f"bodies: found {bodies!r}, expected numbers or names, one or several") from None
        for i, name in enumerate(names):
            if name in names[:i]:
                raise ShapeError(f"bodies[{i}]: found {name!r}, which is bodies[{names.index(name)}] already, expected "
                                 "each once")
        return names

    def _numbers(self, names):
        """Of obstacles and rigid bodies."""
        known = [*self.obstacle_names, *self.body_names]
        found = []
        for name in names:
            if isinstance(name, numbers.Integral) and not isinstance(name, bool) and -len(known) <= name < len(known):
                found.append(int(name) % len(known))
            elif isinstance(name, str) and name in known:
                found.append(known.index(name))
            else:
                expected = f"0 to {len(known) - 1} or a name: {_some(known)}" if known else "none: there is no body"
                raise ShapeError(f"body: found {name!r}, expected {expected}")
        return found

    def _frames(self, name, world):
        """(obstacle, garment, gripper, world) of what a name means in a world; None: in all."""
        obstacles = self.obstacle_names
        if isinstance(name, str) and name not in obstacles:
            found = [(-1, g, names.index(name), -1) for g, names in enumerate(self._gripper_names)
                     if name in names and (world is None or self._worlds[g] in (world, -1))]
            if found:
                return found
            if name in self.body_names:
                raise ShapeError(_not_steered(name))
            known = [*obstacles, *dict.fromkeys(n for names in self._gripper_names for n in names)]
            raise ShapeError(f"body: found {name!r}, expected an obstacle or a gripper: {_some(known)}")
        [number] = self._numbers([name])
        if number >= len(obstacles):
            raise ShapeError(_not_steered(name))
        return [(number, 0, 0, -1 if world is None else world)]

    def _said_worlds(self, worlds):
        if worlds is None:
            return self.worlds
        said = [worlds] if isinstance(worlds, numbers.Integral) else list(worlds)
        for i, world in enumerate(said):
            self._require_world(world)
            if world in said[:i]:
                raise ShapeError(f"worlds[{i}]: found {world!r}, which is worlds[{said.index(world)}] already, "
                                 "expected each once")
        return said

    def _require_world(self, world):
        if isinstance(world, (bool, numpy.bool_)) or world not in self.worlds:
            raise ShapeError(f"world: found {world!r}, expected one of {len(self.worlds)}: {_some(self.worlds)}")

    def _poses(self, names, positions, quaternions, worlds):
        """Shape (worlds or 1, bodies, 7)."""
        said = self._said_worlds(worlds)
        places = _stacked("positions", positions, len(names), (3, 7))
        if places.shape[-1] == 7 and quaternions is None:
            poses = places
        else:
            turns = (self._axes_now(names)[None] if quaternions is None
                     else _stacked("quaternions", quaternions, len(names), (4,)))
            if places.shape[-1] != 3 or len(turns) not in (1, len(places)):
                raise ShapeError(f"quaternions: found shape {turns.shape} beside positions of {places.shape}, expected "
                                 f"{(len(places), len(names), 4)} and {(len(places), len(names), 3)}")
            poses = numpy.concatenate([places, numpy.broadcast_to(turns, (*places.shape[:-1], 4))], axis=-1)
        if len(poses) == 1 and worlds is not None:
            poses = numpy.broadcast_to(poses, (len(said), *poses.shape[1:]))
        if len(poses) not in (1, len(said)):
            raise ShapeError(f"positions: found {len(poses)} worlds, expected {len(said)}, or ({len(names)}, ...) for "
                             "all")
        for world, own in zip(said, poses):
            of_world = "" if len(poses) == 1 else f"world {world}: "
            _require_unit(of_world + "positions", own, names, of_world + ("positions" if quaternions is None
                                                                          else "quaternions"))
        return poses

    def _axes_now(self, names):
        grippers = self._gripper_poses()
        now = self._shape_poses(-1)
        found = []
        for name in names:
            obstacle, garment, gripper, _ = self._frames(name, None)[0]
            found.append((now[obstacle] if obstacle >= 0 else grippers[garment][gripper])[3:])
        return numpy.array(found).reshape(-1, 4)

    @staticmethod
    def _shaped(name, values, poses, size):
        shape = (*poses.shape[:-1], size)
        found = numpy.zeros(shape) if values is None else _stacked(name, values, shape[1], (size,))
        if len(found) not in (1, shape[0]):
            raise ShapeError(f"{name}: found {len(found)} worlds, expected {shape[0]}")
        return numpy.broadcast_to(found, shape)


def _stacked(name, values, count, sizes):
    """Rows of bodies as (worlds or 1, bodies, size)."""
    found = _numbers_in(name, values)
    fits = found.shape[-1:] and found.shape[-1] in sizes and found.ndim <= 3
    if fits and found.ndim == 1 and count == 1:
        return found[None, None]
    if fits and found.ndim > 1 and found.shape[-2] == count:
        return found if found.ndim == 3 else found[None]
    size = " or ".join(map(str, sizes))
    raise ShapeError(f"{name}: found shape {found.shape}, expected ({count}, {size}), or (worlds, {count}, {size})")


def _coefficients(static, dynamic):
    for name, value in (("static", static), ("dynamic", dynamic)):
        if not isinstance(value, numbers.Real) and not (name == "dynamic" and value is None):
            raise ShapeError(f"friction.{name}: found {value!r}, expected a number >= 0")
    return float(static), float(static if dynamic is None else dynamic)


def _numbers_in(name, values):
    try:
        return numpy.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{name}: found no array of numbers ({error})") from None


def _require_unit(name, poses, names, turns=None):
    """Throws for the first pose that is not finite or has no axes. turns: the name of the quaternions, where they were
    given apart."""
    poses = _numbers_in(name, poses)
    if poses.ndim != 2 or poses.shape[1] != 7:
        raise ShapeError(f"{name}: found shape {poses.shape}, expected ({len(names)}, 7)")
    apart = turns is not None and turns != name
    parts = ((name, poses[:, :3]), (turns, poses[:, 3:])) if apart else ((name, poses),)
    for own, part in parts:
        lost = ~numpy.isfinite(part).all(-1)
        flat = numpy.linalg.norm(part[:, -4:], axis=-1) < 1e-6 if part.shape[1] > 3 else numpy.zeros(len(part), bool)
        for found, what, expected in ((lost, "what is not finite", "finite numbers"),
                                      (flat, "a quaternion of length 0", "one of length 1, w, x, y, z")):
            if found.any():
                i = int(numpy.flatnonzero(found)[0])
                raise ShapeError(f"{own}[{i}] of {names[i]!r}: found {what}: {part[i].tolist()}, expected {expected}")


def _not_steered(name):
    return (f"body: found {name!r}, a rigid body, which its mass moves, expected an obstacle or a gripper; bodies of "
            "another program: set_external_motion()")


def _some(names, most=8):
    return ", ".join(map(repr, names[:most])) + (", ..." if len(names) > most else "")
