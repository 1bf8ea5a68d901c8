"""Several worlds of one model."""

import concurrent.futures
import os
import warnings

import mujoco
import numpy

from .errors import Error, SceneWarning, ShapeError

_FULL = mujoco.mjtState.mjSTATE_FULLPHYSICS


class Worlds:
    """Several worlds of a MuJoCo model, each with its cloth: a :class:`Bridge` each, stepped side by side in threads.

    model, scene, options: as for :class:`Bridge`; count: number of worlds; threads: 0 for all cores, results do not
    depend on it. Arrays are as those of ``mujoco.rollout`` and of batched MJX states: the first axis is the world. A
    world that fails is frozen, and named in ``errors`` by its number with what it raised, until it is reset; others go
    on.

    >>> import mujoco
    >>> model = mujoco.MjModel.from_xml_string('''<mujoco><option timestep="0.01"/><worldbody>
    ...   <body><joint name="up" type="slide" axis="0 0 1"/>
    ...   <geom type="sphere" size=".03" mass=".05" pos="0 0 .1"/></body>
    ...   </worldbody><actuator><motor joint="up"/></actuator></mujoco>''')
    >>> scene = {"step": 0.01, "duration": 1, "garments": [
    ...     {"mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.3, 0.3]}}]}
    >>> worlds = Worlds(model, scene, 3)
    >>> worlds.ctrl[:] = [[0], [0.5], [1]]
    >>> _ = worlds.step()
    >>> worlds.qpos.shape, worlds.positions().shape
    ((3, 1), (3, 25, 3))
    """

    def __init__(self, model, scene, count, *, threads=0, **options):
        from .mujoco import Bridge  # which names this class

        if count < 1:
            raise ShapeError(f"count: found {count}, expected at least 1")
        self.model = model
        self.bridges = [Bridge(model, mujoco.MjData(model), scene, threads=1, **options) for _ in range(count)]
        self.errors = {}
        self._pool = concurrent.futures.ThreadPoolExecutor(min(count, threads or os.cpu_count() or 1))
        self.ctrl = self._gathered("ctrl")

    def _gathered(self, field):
        return numpy.array([getattr(b.data, field) for b in self.bridges])

    @property
    def qpos(self):
        """A copy, shape (worlds, nq)."""
        return self._gathered("qpos")

    @property
    def qvel(self):
        """A copy, shape (worlds, nv)."""
        return self._gathered("qvel")

    @property
    def sensordata(self):
        """A copy, shape (worlds, nsensordata)."""
        return self._gathered("sensordata")

    @property
    def states(self):
        """Of ``mjSTATE_FULLPHYSICS``, shape (worlds, numbers), as ``mujoco.rollout`` has them."""
        found = numpy.empty((len(self.bridges), mujoco.mj_stateSize(self.model, _FULL)))
        for row, bridge in zip(found, self.bridges):
            mujoco.mj_getState(self.model, bridge.data, row, _FULL)
        return found

    def positions(self, garment=0):
        """Of a garment in each world [m], shape (worlds, nodes, 3)."""
        return numpy.array([b.simulation.positions(garment) for b in self.bridges])

    def wrenches(self):
        """What cloth gave to each geom in the last step, shape (worlds, geoms, 6), in the order of ``geom_names``."""
        return numpy.array([[b.wrenches[n] for n in self.geom_names] for b in self.bridges])

    @property
    def geom_names(self):
        """Of the geoms that the cloth meets."""
        return list(self.bridges[0].wrenches)

    def step(self, ctrl=None):
        """A step of all worlds with ``ctrl``, shape (worlds, nu), which None takes from the attribute; returns the
        reports of each world, None of those that are frozen."""
        if self._pool is None:
            raise Error("step: found worlds that were closed, expected open ones; make them anew")
        if ctrl is not None:
            ctrl = numpy.asarray(ctrl, dtype=float)
            if ctrl.shape != self.ctrl.shape:
                raise ShapeError(f"ctrl: found shape {ctrl.shape}, expected {self.ctrl.shape}")
            self.ctrl[:] = ctrl

        def step(world):
            if world in self.errors:
                return None
            bridge = self.bridges[world]
            bridge.data.ctrl[:] = self.ctrl[world]
            try:
                return bridge.step()
            except Error as error:
                return error

        found = list(self._pool.map(step, range(len(self.bridges))))
        for world, reports in enumerate(found):
            if isinstance(reports, Error):
                self.errors[world], found[world] = reports, None
                warnings.warn(f"world {world}: {reports}; it is frozen until reset({world})", SceneWarning,
                              stacklevel=2)
        return found

    def rollout(self, ctrl):
        """Steps with ``ctrl``, shape (worlds, steps, nu); returns states after each, shape (worlds, steps, numbers),
        and positions of the first garment, shape (worlds, steps, nodes, 3)."""
        ctrl = numpy.asarray(ctrl, dtype=float)
        if ctrl.ndim != 3 or ctrl.shape[::2] != self.ctrl.shape:
            raise ShapeError(f"ctrl: found shape {ctrl.shape}, expected {self.ctrl.shape[:1]} worlds, steps and "
                             f"{self.ctrl.shape[1]} controls")
        states, positions = [], []
        for k in range(ctrl.shape[1]):
            self.step(ctrl[:, k])
            states.append(self.states)
            positions.append(self.positions())
        return numpy.stack(states, 1), numpy.stack(positions, 1)

    def reset(self, worlds=None, keyframe=None):
        """These worlds, by numbers, as :meth:`Bridge.reset` does; None: all."""
        chosen = range(len(self.bridges)) if worlds is None else numpy.atleast_1d(worlds).tolist()
        for world in chosen:
            if not 0 <= world < len(self.bridges):
                raise ShapeError(f"world: found {world}, expected 0 to {len(self.bridges) - 1}")
            self.bridges[world].reset(keyframe)
            self.errors.pop(world, None)

    def close(self):
        """Ends the threads."""
        if self._pool is not None:
            self._pool.shutdown()
        self._pool = None
