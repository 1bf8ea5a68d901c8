"""isocloth as a simulator of RGBench (Hu et al., AAAI 2026, https://rgbench.github.io/): the methods of its
``BaseEnvWrapper``, in its mode ``fixed_point``.

In that mode a vertex of the garment is held by each hand. For ``grasp`` and ``fold`` they are the vertices that are
nearest to the hands when the evaluation begins; from then on they follow the hands. For ``fling`` they are the
``shoulder_index`` of the garment, led to the first pose of the hands in ``fling_prepare_time`` and held there for
``fling_wait_time``.

What differs from the wrappers that come with RGBench, and is not fitted:

- The fabric is a preset with the garment's own mass per area (``density``, g/m^2) and coefficients of friction;
  ``stretch`` and ``bending`` of RGBench's files are numbers of another simulator, in units that it does not publish.
- A held vertex does not jump to the hand when the evaluation begins: it goes there in 0.1 s, and before it lies still.
- Cloth meets itself (``contact.cloth``) where the mesh does not cross itself at the start; else ``meets_itself`` is
  False.
"""

import csv
import pathlib

import isocloth
import numpy

BASES = {"left": (0.0, 0.25, 0.0), "right": (0.0, -0.25, 0.0)}  # of the arms, as the wrappers have them [m]
POSE = ("pos_x", "pos_y", "pos_z")
GRAB_TIME = 0.1  # in which a vertex goes to the hand [s]
MARGIN = 1.0  # of the motion behind the last pose [s]


def read_hand(file, base):
    """Times of a hand as they were stamped [s], shape (poses,), and its places in the world [m], shape (poses, 3)."""
    file = pathlib.Path(file)
    try:
        with open(file, newline="", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
    except OSError as error:
        raise isocloth.FileError(f"{file}: {error.strerror}, expected the poses of an arm") from None
    missing = [name for name in ("time", *POSE) if not rows or name not in rows[0]]
    if missing:
        raise isocloth.FileError(f"{file}: found no column {missing[0]}, expected time, {', '.join(POSE)} and at least "
                                 "one row, as in left_arm_joint_states_and_end_pose.csv")
    try:
        times = numpy.array([float(row["time"]) for row in rows])
        places = numpy.array([[float(row[name]) for name in POSE] for row in rows])
    except (TypeError, ValueError) as error:
        raise isocloth.FileError(f"{file}: {error}, expected numbers in time and {', '.join(POSE)}") from None
    keep = numpy.concatenate([[True], numpy.diff(times) > 0])
    return times[keep], places[keep] + base


def rotation_vector(w, x, y, z):
    """Of a quaternion [degrees]."""
    axis = numpy.array([x, y, z])
    size = numpy.linalg.norm(axis)
    return [0.0, 0.0, 0.0] if size == 0 else numpy.degrees(2 * numpy.arctan2(size, w) * axis / size).tolist()


def _coefficients(params, static, dynamic):
    """Of friction, from the file of a garment; that of sliding is at most that of sticking."""
    most = float(params.get(static, params.get("friction", 0.3)))
    return {"static": most, "dynamic": min(most, float(params.get(dynamic, most)))}


class IsoclothEnv:
    """One capture. cfg: mapping ``active_run`` of RGBench's ``configs/main.yaml``; preset: kind of cloth; step: [s]."""

    def __init__(self, cfg, preset="cotton", step=0.005, threads=0, **_):
        self.cfg = cfg
        params, action = cfg["cloth_params"], cfg["action"]
        self._hands = {name: read_hand(cfg["data"]["robot_joints"][f"{name}_arm_csv_path"], base)
                       for name, base in BASES.items()}
        self._begin = min(times[0] for times, _ in self._hands.values())
        pose = list(cfg["cloth"]["init_pose"])
        transform = {"translation": [float(x) for x in pose[:3]], "rotation": rotation_vector(*pose[3:])}
        garment = {"name": "garment", "mesh": {"file": str(pathlib.Path(cfg["cloth"]["model_path"]).absolute())},
                   "transform": transform,
                   "fabric": {"preset": preset, "density": 1e-3 * params["density"],
                              "gravity_density": 1e-3 * params["density"]}}
        friction = _coefficients(params, "friction", "kinetic_friction")
        scene = {"name": f"RGBench, {params['name']}, {action['type']}", "recipe": "membrane", "step": step,
                 "duration": 1.0, "gravity": 9.81,
                 "projection": {"tolerance": 0.005, "on_violation": "continue"},
                 "contact": {"cloth": True, "initial": "separate", "resolve_initial_penetration": True,
                             "cloth_friction": friction},
                 "garments": [garment],
                 "obstacles": [{"name": "ground", "shape": {"type": "plane"},
                                "friction": _coefficients(params, "ground_friction", "ground_kinetic_friction")}]}
        start = self._start(scene, threads)
        garment["pins"] = [{"name": name, "select": {"nodes": [node]},
                            "motion": self._motion(name, start[node], action)}
                           for name, node in self._held(start, params, action).items()]
        last = max(pin["motion"]["times"][-1] for pin in garment["pins"]) + MARGIN
        scene["duration"] = numpy.ceil(last / step) * step
        self.scene = scene
        self._simulation = isocloth.Simulation(scene, threads=threads, allow="/")
        self.steps_missed = 0

    def _start(self, scene, threads):
        """Where the vertices are at the start; a mesh that crosses itself there does not meet itself."""
        self.meets_itself = True
        try:
            return isocloth.Simulation(scene, threads=threads, allow="/").positions(0)
        except isocloth.SceneError as error:
            if "passes through cloth" not in str(error) and "lies in cloth" not in str(error):
                raise
        self.meets_itself = False
        scene["contact"] = {"resolve_initial_penetration": True}
        return isocloth.Simulation(scene, threads=threads, allow="/").positions(0)

    def _held(self, start, params, action):
        """Vertex of each hand."""
        if action["type"] == "fling":
            return dict(zip(BASES, (int(node) for node in params["shoulder_index"])))
        grab = self._begin + float(self.cfg["evaluate"]["start_calculate_time"])
        held = {name: int(numpy.linalg.norm(start - self._place(name, grab), axis=1).argmin()) for name in BASES}
        if len(set(held.values())) < len(held):
            raise isocloth.SceneError(f"{self.cfg['data']['root']}: both hands are nearest to vertex {held['left']}, "
                                      "expected one each; is the mesh where the hands are?")
        return held

    def _place(self, name, time):
        """Of a hand at a stamped time [m]: straight between its poses, and still before and after."""
        times, places = self._hands[name]
        return numpy.array([numpy.interp(time, times, places[:, axis]) for axis in range(3)])

    def _motion(self, name, start, action):
        """Keyframes of the vertex at `start` that this hand holds."""
        times, places = self._hands[name]
        if action["type"] == "fling":
            prepare = float(action["fling_prepare_time"])
            begin = prepare + float(action["fling_wait_time"])
            keys = [(0.0, start), (prepare, places[0]), (begin, self._place(name, self._begin))]
        else:
            grab = max(0.0, float(self.cfg["evaluate"]["start_calculate_time"]))
            begin = grab + GRAB_TIME
            keys = [(0.0, start), (grab, start)][grab == 0:] + [(begin, self._place(name, self._begin + begin))]
        offset = begin if action["type"] == "fling" else 0.0
        keys += [(time, place) for time, place in zip(times - self._begin + offset, places) if time > begin + 1e-6]
        return {"type": "keyframes", "times": [float(time) for time, _ in keys],
                "translations": [(place - start).tolist() for _, place in keys]}

    def step(self):
        """One step of the simulation."""
        reports = self._simulation.step()
        self.steps_missed += any(report.status != "converged" for report in reports)

    def step_to_time(self, target_time):
        """Steps until the time of the simulation is at least this [s]."""
        while self._simulation.time < target_time:
            self.step()

    def get_sim_vertices(self):
        """In the world [m], shape (nodes, 3)."""
        return numpy.array(self._simulation.positions(0))

    def get_master_start_time(self):
        """Stamped time at which the simulation begins [s]."""
        return self._begin

    def get_current_sim_time(self):
        """Since then [s]."""
        return self._simulation.time

    def close(self):
        """Nothing is left open."""
