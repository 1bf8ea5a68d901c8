"""Towels in this engine, in MuJoCo's flex and Newton's cloth: frames per second of one core, beside the strain reached.

usage: compare_peers.py [--repetitions 5] [--frames 200] [--only NAME...] [--json FILE]
needs: pip install mujoco newton warp-lang; engines that are not there are left out, and named

Each towel is a sheet of 13 x 13 nodes, 0.4 m, 0.2 kg/m^2, that starts flat, is held by two corners and swings down
under 9.81 m/s^2, without contact; a frame is 5 ms. Stretching is that of 2000 N/m, where nothing else is said, with a
Poisson's ratio of 0.3, where an engine takes one. Strain is measured alike for all, from positions after every frame:
|l / l0 - 1| of the 312 edges along warp and weft. Engines take turns; times are processor time of a process that uses
one thread, of stepping alone.
"""

import argparse
import importlib.metadata
import json
import statistics
import time

import numpy

NODES, SIZE, DENSITY, FRAME = 13, 0.4, 0.2, 0.005
STIFFNESS, POISSON, KAPPA, THICKNESS = 2000.0, 0.3, 2e-5, 0.002
CELL, MASS = SIZE / (NODES - 1), DENSITY * SIZE**2


class Isocloth:
    """Membrane elements of some ``stiffness`` [N/m], projection: one step of 5 ms."""

    package = "isocloth"

    def __init__(self, towels, stiffness=STIFFNESS):
        import isocloth

        self.simulation = isocloth.Simulation(
            {"recipe": "membrane", "step": FRAME, "duration": 1, "projection": {"tolerance": 0.005}, "garments": [{
                "mesh": {"generator": "quad_grid", "nodes": [NODES, NODES], "size": [SIZE, SIZE]}, "replicas": towels,
                "fabric": {"rho": DENSITY, "delta": DENSITY, "alpha": 0, "kappa": KAPPA, "poisson_ratio": POISSON,
                           "stretch_stiffness": stiffness, "shear_stiffness": stiffness / 2 / (1 + POISSON)},
                "pins": [{"select": {"nodes": [0, NODES - 1]}}]}]}, threads=1, measure_strain=False)

    def advance(self):
        self.simulation.step()

    def positions(self):
        return self.simulation.positions(0)


class MujocoFlex:
    """Flex of triangles: one model, a state for each towel."""

    package = "mujoco"

    def __init__(self, towels, flex, integrator):
        import mujoco

        model = mujoco.MjModel.from_xml_string(
            f'<mujoco><option timestep="{FRAME}" integrator="{integrator}"><flag contact="disable"/></option>'
            '<worldbody>'
            f'<flexcomp name="towel" type="grid" dim="2" count="{NODES} {NODES} 1" spacing="{CELL} {CELL} {CELL}" '
            f'mass="{MASS}" radius="0.001">{flex}<contact selfcollide="none" contype="0" conaffinity="0"/>'
            f'<pin id="0 {NODES - 1}"/></flexcomp></worldbody></mujoco>')
        self.states = [mujoco.MjData(model) for _ in range(towels)]
        self.step = lambda: [mujoco.mj_step(model, state) for state in self.states]
        self.update = lambda: mujoco.mj_fwdPosition(model, self.states[0])  # a step leaves positions of its start

    def advance(self):
        self.step()

    def positions(self):
        self.update()
        return self.states[0].flexvert_xpos.copy()


class NewtonVbd:
    """Triangles, vertex block descent: ``substeps`` of ``iterations`` in a frame, all towels in one model."""

    package = "newton"

    def __init__(self, towels, substeps, iterations):
        import newton
        import warp

        warp.config.quiet = True
        warp.set_device("cpu")
        builder = newton.ModelBuilder()
        for towel in range(towels):
            builder.add_cloth_grid(
                pos=warp.vec3(0.0, 0.0, 0.0), rot=warp.quat_identity(), vel=warp.vec3(0.0, 0.0, 0.0), dim_x=NODES - 1,
                dim_y=NODES - 1, cell_x=CELL, cell_y=CELL, mass=MASS / NODES**2, tri_ke=STIFFNESS, tri_ka=STIFFNESS,
                tri_kd=1e-3, edge_ke=KAPPA, edge_kd=0.0, particle_radius=0.001)
            for node in (towel * NODES**2, towel * NODES**2 + NODES - 1):
                builder.particle_mass[node] = 0.0
                builder.particle_flags[node] &= ~int(newton.ParticleFlags.ACTIVE)
        builder.color(include_bending=True)
        model = builder.finalize(device="cpu")
        model.set_gravity((0.0, 0.0, -9.81))
        self.solver = newton.solvers.SolverVBD(model, iterations=iterations)
        self.states, self.control, self.substeps = [model.state(), model.state()], model.control(), substeps
        self.contacts = newton.CollisionPipeline(model).contacts()

    def advance(self):
        for _ in range(self.substeps):
            self.states[0].clear_forces()
            self.solver.step(*self.states, self.control, self.contacts, FRAME / self.substeps)
            self.states.reverse()

    def positions(self):
        return self.states[0].particle_q.numpy()[:NODES**2].copy()


ELASTIC = f'<elasticity young="{STIFFNESS / THICKNESS}" poisson="{POISSON}" thickness="{THICKNESS}" elastic2d="both"/>'

#: Name, class, towels, arguments.
ENTRIES = [
    ("isocloth, membrane", Isocloth, 1, {}),
    ("isocloth, membrane", Isocloth, 64, {}),
    ("isocloth, membrane", Isocloth, 1024, {}),
    ("isocloth, membrane of 8000 N/m", Isocloth, 64, {"stiffness": 8000.0}),
    ("MuJoCo, elasticity, discrete", MujocoFlex, 1, {"flex": ELASTIC, "integrator": "discrete"}),
    ("MuJoCo, elasticity, discrete", MujocoFlex, 64, {"flex": ELASTIC, "integrator": "discrete"}),
    ("MuJoCo, edge equality, Euler", MujocoFlex, 64, {"flex": '<edge equality="true"/>', "integrator": "Euler"}),
    ("Newton, VBD, 1 x 10", NewtonVbd, 16, {"substeps": 1, "iterations": 10}),
    ("Newton, VBD, 1 x 50", NewtonVbd, 16, {"substeps": 1, "iterations": 50}),
    ("Newton, VBD, 5 x 10", NewtonVbd, 16, {"substeps": 5, "iterations": 10}),
]


def measure(kind, towels, arguments, frames):
    """Towel frames per second, strains, shape (frames, edges), and mean height of the free edge at 0.25 s [m]."""
    engine = kind(towels, **arguments)
    seconds, strains, fall = 0.0, [], numpy.nan
    for frame in range(frames):
        begin = time.process_time()
        engine.advance()
        seconds += time.process_time() - begin
        sheet = engine.positions().reshape(NODES, NODES, 3)
        lengths = [numpy.linalg.norm(numpy.diff(sheet, axis=axis), axis=-1).ravel() for axis in (0, 1)]
        strains.append(numpy.abs(numpy.concatenate(lengths) / CELL - 1))
        if frame == round(0.25 / FRAME) - 1:
            fall = sheet[-1, :, 2].mean()
    return towels * frames / seconds, numpy.array(strains), fall


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--only", nargs="+", default=[""], help="entries whose names contain one of these")
    parser.add_argument("--json", help="write the rows here, too")
    arguments = parser.parse_args()
    entries = [entry for entry in ENTRIES if any(word in entry[0] for word in arguments.only)]
    speeds, found, failed = {}, {}, {}
    for repetition in range(arguments.repetitions):
        for number, (name, kind, towels, own) in enumerate(entries):
            if number in failed:
                continue
            try:
                speed, strains, fall = measure(kind, towels, own, arguments.frames)
            except Exception as error:
                failed[number] = error
                print(f"left out: {name}: {type(error).__name__}: {error}", flush=True)
                continue
            speeds.setdefault(number, []).append(speed)
            found[number] = {"engine": name, "version": importlib.metadata.version(kind.package), "towels": towels,
                             "strain_p95": float(numpy.percentile(strains, 95)), "strain_max": float(strains.max()),
                             "free_edge_at_0.25_s_m": float(fall)}
    print("| engine | towels | frames per second: median (least to most) | strain p95 | max | free edge at 0.25 s |")
    print("|---|---|---|---|---|---|")
    for number, row in sorted(found.items()):
        row["frames_per_second"] = speeds[number]
        print(f"| {row['engine']} ({row['version']}) | {row['towels']} | {statistics.median(speeds[number]):.0f} "
              f"({min(speeds[number]):.0f} to {max(speeds[number]):.0f}) | {100 * row['strain_p95']:.2f} % | "
              f"{100 * row['strain_max']:.1f} % | {row['free_edge_at_0.25_s_m']:.3f} m |")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(list(found.values()), file, indent=1)


if __name__ == "__main__":
    main()
