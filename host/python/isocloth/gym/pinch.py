"""Cloth that is held by friction alone."""

import gymnasium
import numpy

from .arguments import one_of
from .camera import Camera
from .scenery import boxes
from .vector_env import THICKNESS, ClothEnv, ClothVectorEnv, looking_at
from .worlds import Worlds


class PinchTowels(ClothVectorEnv):
    """A towel hangs from a rail, which lets go of it after a second: two parallel fingers are to hold it by friction,
    and to raise it.

    The score is minus the distance of the towel's middle from ``lift`` [m] above where it hung, in edges of the towel:

        score = -|(1/n) sum_i x_i - g| / size

    Success: above -0.1, held by both fingers, with a slip below 5 mm. ``infos``, too: ``slip`` [m], how far the cloth
    has moved along the fingers since both have held it, 0 before; ``held``, whether both press it. An episode also
    fails as ``slipped``: once the rail has let go no finger touches it; ``overloaded`` is of the fingers' normal forces
    here. A towel below the fingers by more than its edge is dropped.

    Actions, shape (4,): velocity of the hand in parts of 0.5 m/s, and the grip: with ``control`` ``position`` the speed
    of each finger in parts of 0.05 m/s, inwards if positive; with ``force`` the normal force, from 0 at -1 to
    ``grip_force`` [N] at 1, which is sought by the forces of contacts: an approach that slows down in front of the
    cloth, then steps of 0.03 mm times the logarithm of the ratio of the two forces, as force grows with squeeze
    exponentially. Observations have ``fingers`` in the place of ``grippers``: place of the hand [m], how far the
    fingers are apart [m], and the normal forces of the left and right one [N], shape (6,).

    Fingers are obstacles, 60 x 20 x 60 mm, with friction 0.5 unless it is drawn. Each world is a simulation of its own,
    and they step in threads. nodes: along an edge. Other arguments: :class:`isocloth.gym.ClothVectorEnv`, without
    ``cloth_contact``.
    """

    action_shape = (4,)
    failures = (*ClothVectorEnv.failures, "slipped")
    moving = ("left", "right")
    lift = 0.15
    finger = numpy.array([0.06, 0.02, 0.06])  # size [m]
    most_apart = 0.06  # of the fingers' inner sides [m]
    finger_speed = 0.05
    release_time = 1.0  # [s]
    camera = Camera(right=(1, 0, 0), up=(0, 0, 1), centre=(0, 0, -0.1), reach=0.35, far=2.0)
    render_camera = looking_at((0, 0, -0.1), 1.1)
    workspace = ((-0.1, -0.1, -0.25), (0.1, 0.1, 0.2))
    shift = (0.02, 0.0, 0.0)
    gripper_radius = 0.0
    max_depth = 0.05  # squeezed between fingers, which max_force bounds

    def __init__(self, num_envs=1, *, control="force", grip_force=10.0, nodes=13, size=0.3, horizon=60, **arguments):
        if "cloth_contact" in arguments:
            raise TypeError("cloth_contact: found an argument that there is not, expected none: one layer hangs")
        self.control = one_of("control", control, ("force", "position"))
        if not (isinstance(grip_force, (int, float)) and 0 < grip_force < numpy.inf):
            raise ValueError(f"grip_force: found {grip_force!r}, expected a number above 0")
        if not nodes >= 3:
            raise ValueError(f"nodes: found {nodes}, expected at least 3")
        self.grip_force, self.nodes, self.size, self.extent = float(grip_force), nodes, size, 1.5 * size
        self._hand, self._gaps = numpy.zeros((num_envs, 3)), numpy.full(num_envs, self.most_apart)
        self._normals = numpy.zeros((num_envs, 2))
        self._goals, self._slips = numpy.zeros((num_envs, 3)), numpy.zeros(num_envs)
        self._patches = [None] * num_envs  # nodes between the fingers, and where they were in the hand
        self._is_free = numpy.zeros(num_envs, dtype=bool)
        super().__init__(num_envs, horizon=horizon, **arguments)

    def garment(self):
        return {"mesh": {"generator": "quad_grid", "nodes": [self.nodes] * 2, "size": [self.size] * 2},
                "transform": {"rotation": [90, 0, 0], "translation": [-self.size / 2, 0, -self.size]},
                "rest_noise": {"normal_deviation": 1e-5}}

    def obstacles(self):
        # Keyframes at a point: an obstacle that moves.
        return [{"name": name, "friction": {"static": 0.5}, "position": [0, side * self._away(self.most_apart), 0],
                 "shape": {"type": "box", "size": self.finger.tolist(), "rounding": 0.004},
                 "motion": {"type": "keyframes", "times": [0, 1], "translations": [[0, 0, 0], [0, 0, 0]]}}
                for name, side in (("left", -1), ("right", 1))]

    def _away(self, gap):
        """Of a finger from the middle of the hand [m]."""
        return gap / 2 + self.finger[1] / 2

    def _scene(self, replicas, is_drawn=False):
        scene = super()._scene(replicas, is_drawn)
        scene["contact"]["tolerance"], scene["contact"]["margin"] = 1e-4, 0
        scene["projection"]["max_iterations"] = 20
        rail = {"type": "box", "size": [2 * self.size, 0.05, 0.5 * self.size / self.nodes]}
        scene["garments"][0]["grippers"] = [{"name": "rail", "region": rail, "holds": []}]
        return scene

    def _simulation(self, replicas, is_drawn=False):
        frictions, alone = self._frictions, []
        for world in range(replicas):
            if frictions is not None:
                self._frictions = frictions[world:world + 1]
            alone.append(super()._simulation(1, is_drawn))
        self._frictions = frictions
        return Worlds(alone)

    def handles(self, points):
        """Where the hand begins [m], shape (envs, 3): open, around the middle of the cloth."""
        return points.mean(1) * [1, 0, 1]

    def score(self, points, envs=slice(None)):
        return -numpy.linalg.norm(points.mean(1) - self._goals[envs], axis=-1) / self.size

    def is_success(self, scores):
        return (scores > -0.1) & (self._slips < 0.005)

    def is_dropped(self, points):
        return points[:, :, 2].max(1) < self._hand[:, 2] - self.size

    def begin(self, envs, points):
        self._goals[envs] = points.mean(1) + [0, 0, self.lift]
        self._slips[envs], self._is_free[envs] = 0, False
        for env in envs:
            self._patches[env] = None

    def _hand_spaces(self):
        low, high = ([*corner, *more] for corner, more in zip(self.workspace, ((0, 0, 0), (
            self.most_apart, 1e3, 1e3))))
        return {"fingers": gymnasium.spaces.Box(numpy.array(low, numpy.float32), numpy.array(high, numpy.float32))}

    def _hands_seen(self, envs):
        return {"fingers": numpy.concatenate([self._hand[envs], self._gaps[envs, None], self._normals[envs]], axis=1)}

    def _hands_shown(self, envs):
        sides = numpy.array([-1.0, 1.0])[:, None] * [0, 1, 0]
        places = self._hand[envs][:, None] + self._away(self._gaps[envs])[:, None, None] * sides
        return boxes(places, -self.finger / 2, self.finger / 2)

    def _place_hands(self, envs, chosen, points):
        self._hand[envs] = numpy.clip(self.handles(points), *self.workspace)
        self._gaps[envs], self._normals[envs] = self.most_apart, 0
        for env in chosen:
            world = self.simulation[env]
            top = [self._points[env, :, 0].mean(), 0, self._points[env, :, 2].max()]
            world.set_gripper_motion(0, 0, [0.0], [top])
            world.close_gripper(0, 0)
            self._lead(env, world, self._hand[env], self.most_apart, [0.0])

    def _lead(self, env, world, hand, gap, times):
        """Fingers to a place and a gap at the end of ``times`` [s], from where they are at their beginning."""
        for finger, side in enumerate((-1, 1)):
            ends = [self._hand[env] + [0, side * self._away(self._gaps[env]), 0], hand + [0, side * self._away(gap), 0]]
            start = [0, side * self._away(self.most_apart), 0]
            world.set_obstacle_motion(finger, times, numpy.array(ends)[-len(times):] - start)
        self._hand[env], self._gaps[env] = hand, gap

    def _resting(self, envs):
        rest = numpy.zeros((len(envs), 4))
        rest[:, 3] = 0 if self.control == "position" else -1
        return rest

    def _steer(self, envs, actions):
        self._commands = numpy.clip(actions, -1, 1)
        self._steered = envs

    def _advance(self):
        steered = numpy.zeros(self.num_envs, dtype=bool)
        steered[self._steered] = True
        return self.simulation.each(lambda env, world: self._advance_one(env, world, steered[env]),
                                    range(self.num_envs))

    def _advance_one(self, env, world, is_steered):
        """Step by step, since force is measured and sought in each."""
        worst, h = None, world.step_length
        for _ in range(self._steps_per_frame):
            if world.time >= self.release_time - h / 2 and not self._is_free[env]:
                world.open_gripper(0, 0)
                self._is_free[env] = True
            if is_steered:
                command, now = self._commands[env], world.time
                hand = numpy.clip(self._hand[env] + h * self.top_speed * command[:3], *self.workspace)
                gap = self._gaps[env] - 2 * h * self._closing_speed(env, command[3], h)
                self._lead(env, world, hand, float(numpy.clip(gap, 0, self.most_apart)), [now, now + h])
            [report] = world.step()
            forces = world.contacts(0).forces
            self._normals[env] = max(0.0, forces[0, 1]), max(0.0, -forces[1, 1])
            worst = report if worst is None or _severity(report) > _severity(worst) else worst
            if is_steered and self._normals[env].max() > self.max_force:
                break  # it has failed
        return worst

    def _closing_speed(self, env, command, h):
        """Of each finger [m/s]."""
        if self.control == "position":
            return self.finger_speed * command
        wanted, found = (command + 1) / 2 * self.grip_force, self._normals[env].mean()
        if wanted < 0.01 * self.grip_force:
            return -self.finger_speed
        if found > 0.001 * wanted:
            return numpy.clip(3e-5 * numpy.log(wanted / found) / h, -self.finger_speed, self.finger_speed)
        return numpy.clip((self._gaps[env] - THICKNESS) / (8 * h), 3e-5 / h, self.finger_speed)

    def _more_failures(self):
        self._forces = self._normals.max(-1)
        touched = self._normals > 0
        for env in range(self.num_envs):
            self._note_slip(env, touched[env].all())
        return {"slipped": self._is_free & ~touched.any(-1)}

    def _note_slip(self, env, is_held):
        if not is_held:
            if self._patches[env] is not None and not self._is_free[env]:
                self._patches[env], self._slips[env] = None, 0.0  # taken anew
            return
        ways = self._points[env] - self._hand[env]
        if self._patches[env] is None:
            nodes = numpy.flatnonzero((numpy.abs(ways[:, [0, 2]]) <= self.finger[[0, 2]] / 2).all(-1))
            self._patches[env] = (nodes, ways[nodes].mean(0)) if len(nodes) else None
        if self._patches[env] is not None:
            nodes, place = self._patches[env]
            self._slips[env] = numpy.linalg.norm((ways[nodes].mean(0) - place)[[0, 2]])

    def _more_infos(self):
        return {"slip": self._slips.copy(), "held": (self._normals > 0).all(-1)}

    def _is_let_go(self):
        """Held here: fingers are to hold the towel, and the rail is not."""
        return self._is_free & (self._normals > 0).all(-1)


def _severity(report):
    return report.status in ("non_finite", "diverged"), report.strain.max, report.penetration


class PinchTowel(ClothEnv):
    """One of :class:`PinchTowels`."""

    vector = PinchTowels
