"""A mechanic's walk: a sheet with a force of one's own, in Python and in C++, its energies, and VTKHDF read back.

    python host/python/examples/walk_mechanics.py FOLDER [--prefix PREFIX]

PREFIX: where the library is installed (cmake --install build/release --prefix PREFIX); without it there is no program
of C++. Prints the time of each stage. Needs pip install isocloth[export,record] matplotlib.
"""

import argparse
import pathlib
import subprocess
import time

import isocloth
import isocloth.scene
import numpy
from stages import Stages

STIFFNESS, ANCHOR, STEPS = 20.0, numpy.array([0.2, 0.3, 0.1]), 300  # [N/m], [m]
NAMES = ("kinetic", "gravity and bending", "elastic", "spring")
PROGRAM = pathlib.Path(__file__).resolve().parents[3] / "tests" / "package"
SCENE = {"step": 0.01, "duration": STEPS * 0.01, "frame_interval": 0.04, "recipe": "membrane", "garments": [
    {"name": "sheet", "mesh": {"generator": "quad_grid", "nodes": [21, 21], "size": [0.4, 0.4]},
     "fabric": {"preset": "cotton"}, "transform": {"rotation": [90, 0, 0]},
     "pins": [{"name": "upper corners", "select": {"nodes": [420, 440]}}]}]}


def energies(scene):
    """Of every step [J], shape (steps, 5): time [s] and NAMES."""
    simulation = isocloth.Simulation(scene, threads=1)

    @simulation.add_force
    def spring(state):
        stiffness = numpy.zeros(state.masses.shape)
        stiffness[:, 0] = STIFFNESS
        return isocloth.SlopedForce(stiffness[..., None] * (ANCHOR - state.positions), stiffness)

    rows = []
    for _ in range(STEPS):
        simulation.step()
        [m] = simulation.measures()
        way = ANCHOR - simulation.positions()[0]
        rows.append([simulation.time, m.kinetic_energy, m.potential_energy, m.elastic_energy,
                     STIFFNESS / 2 * way @ way])
    return numpy.array(rows)


def plot(rows, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for column, name in enumerate(NAMES, 1):
        axes.plot(rows[:, 0], 1000 * rows[:, column], label=name)
    axes.plot(rows[:, 0], 1000 * rows[:, 1:].sum(1), "k--", label="sum")
    axes.set(xlabel="time [s]", ylabel="energy [mJ]", title="A sheet on two pins and a spring")
    axes.legend()
    figure.savefig(path, dpi=110)


def read_back(path):
    """Points of every step of a VTKHDF file, by VTK's own reader."""
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOHDF import vtkHDFReader

    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    for step in range(reader.GetNumberOfSteps()):
        reader.SetStep(step)
        reader.Update()
        yield vtk_to_numpy(reader.GetOutput().GetPoints().GetData()).copy()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--prefix", type=pathlib.Path, help="of the installed library, for the program of C++")
    arguments = parser.parse_args()
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    scene = isocloth.scene.Scene.from_dict(SCENE)
    scene.save(folder / "scene.json")
    stages = Stages()
    rows = energies(folder / "scene.json")
    stages.done(f"{STEPS} steps in Python with a spring of {STIFFNESS:g} N/m")
    total = rows[:, 1:].sum(1)
    print(f"           the energies add up to {1000 * total[0]:.3f} mJ at first, {1000 * total[-1]:.3f} mJ at last; "
          f"they grew by {1000 * numpy.diff(total).max():.2g} mJ in a step at most")
    numpy.savetxt(folder / "energies.csv", rows, delimiter=",", header="time," + ",".join(NAMES), comments="",
                  fmt="%.17g")
    plot(rows, folder / "energies.png")
    stages.done("wrote energies.csv and energies.png")
    if arguments.prefix:
        build = folder / "build"
        subprocess.run(["cmake", "--fresh", "-S", PROGRAM, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                        f"-DCMAKE_PREFIX_PATH={arguments.prefix.resolve()}"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", build, "--target", "spring"], check=True, stdout=subprocess.DEVNULL)
        stages.done("compiled the same program in C++")
        done = subprocess.run([build / "spring", folder / "scene.json", str(STEPS)], check=True, capture_output=True,
                              text=True)
        own = numpy.array([line.split(",") for line in done.stdout.splitlines()[1:]], dtype=float)
        stages.done("ran it: its energies differ from those of Python by at most "
                    f"{abs(own[:, 1:] - rows[:, 1:]).max():.2g} J")
    result = isocloth.run(folder / "scene.json", folder / "result", overwrite=True, quiet=True, threads=1)
    [path] = isocloth.export(result, folder / "sheet.vtkhdf")
    stages.done("ran the scene without the spring, and wrote sheet.vtkhdf")
    points = list(read_back(path))
    worst = max(float(abs(found - result.frame(i)).max()) for i, found in enumerate(points))
    stages.done(f"read {len(points)} frames back with VTK: positions differ by at most {worst:.2g} m")
    print(f"{time.perf_counter() - stages.begin:7.1f} s  in all")


if __name__ == "__main__":
    main()
