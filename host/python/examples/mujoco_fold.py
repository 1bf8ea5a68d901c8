"""Two position-controlled grippers of MuJoCo fold a towel: they pinch the corners that lie over the edge of a table,
lead them in an arc onto the others, let go and draw their fingers out sideways from between the layers.

    pip install 'isocloth[mujoco,record]' matplotlib
    MUJOCO_GL=egl python host/python/examples/mujoco_fold.py results/fold --film

Printed: how far nodes are from where a perfect fold has them, in edges of the mesh, the forces on the fingers, steps
that missed their tolerance, CPU time.
"""

import argparse
import pathlib
import time

import mujoco
import numpy
from isocloth.mujoco import Bridge

STEP = 0.005
SIZE, NODES = 0.3, 21
OVER = 0.03  # of the towel lies beyond the edge of the table [m]
HAND = """<body name="{n}" pos="{x} -.018 0" gravcomp="1">
 <joint name="{n}_x" type="slide" axis="{s} 0 0" damping="80"/>
 <joint name="{n}_y" type="slide" axis="0 1 0" damping="80"/>
 <joint name="{n}_z" type="slide" axis="0 0 1" damping="80"/>
 <joint name="{n}_turn" type="hinge" axis="-1 0 0" damping="1"/>
 <geom type="box" size=".012 .012 .02" pos="{palm} 0 0" mass=".4" contype="0" conaffinity="0" rgba=".3 .3 .32 1"/>
 <body name="{n}_low" pos="0 0 -.03" gravcomp="1"><joint name="{n}_low" type="slide" axis="0 0 1" damping="10"/>
  <geom name="{n}_low" type="box" size=".014 .01 .003" mass=".05" friction=".8" rgba=".15 .15 .15 1"/>
  <geom type="box" size=".02 .006 .003" pos="{link} 0 0" mass=".02" contype="0" conaffinity="0"
   rgba=".3 .3 .32 1"/></body>
 <body name="{n}_high" pos="0 0 .03" gravcomp="1"><joint name="{n}_high" type="slide" axis="0 0 -1" damping="10"/>
  <geom name="{n}_high" type="box" size=".014 .01 .003" mass=".05" friction=".8" rgba=".15 .15 .15 1"/>
  <geom type="box" size=".02 .006 .003" pos="{link} 0 0" mass=".02" contype="0" conaffinity="0"
   rgba=".3 .3 .32 1"/></body>
</body>"""
MOTORS = """<position joint="{n}_x" kp="2000"/><position joint="{n}_y" kp="2000"/><position joint="{n}_z" kp="2000"/>
<position joint="{n}_turn" kp="20"/>
<position joint="{n}_low" kp="400" forcerange="-1.5 1.5"/><position joint="{n}_high" kp="400" forcerange="-1.5 1.5"/>"""
MODEL = """<mujoco><option timestep="0.005" integrator="implicitfast"/>
<visual><global offwidth="640" offheight="480"/><headlight ambient=".4 .4 .4" diffuse=".4 .4 .4"/></visual>
<asset><texture type="skybox" builtin="gradient" rgb1=".95 .96 .98" rgb2=".75 .79 .85" width="64" height="64"/></asset>
<worldbody>
<light pos="-.5 -1 2" dir=".25 .4 -1" diffuse=".5 .5 .5"/>
<geom name="table" type="box" size=".3 .25 .02" pos="0 .25 -.02" rgba=".8 .75 .68 1" friction=".5"/>
{hands}</worldbody><actuator>{motors}</actuator></mujoco>"""
TOWEL = {"recipe": "membrane", "step": STEP, "duration": 1000,
         "contact": {"tolerance": 1e-4, "cloth": True, "cloth_friction": {"static": 0.4}},
         "projection": {"on_violation": "continue"},
         "garments": [{"mesh": {"generator": "quad_grid", "nodes": [NODES, NODES], "size": [SIZE, SIZE]},
                       "transform": {"translation": [-SIZE / 2, -OVER, 0.0012]},
                       "fabric": {"density": 0.25, "gravity_density": 0.25, "bending_stiffness": 3e-5,
                                  "mass_damping": 0.3, "stretch_stiffness": 2000, "shear_stiffness": 100,
                                  "thickness": 0.002}}]}


def between(t, begin, end):
    """From 0 to 1, at rest at both ends."""
    s = numpy.clip((t - begin) / (end - begin), 0, 1)
    return s * s * s * (10 + s * (6 * s - 15))


def targets(t):
    """Way of a hand outward, along y and along z [m], its turn [rad], and the ways of its fingers towards each other
    [m]."""
    radius = SIZE / 2 - 0.012
    angle = numpy.pi * between(t, 1.2, 3.4)
    x = 0.08 * between(t, 4.2, 5.0)
    y = radius * (1 - numpy.cos(angle))
    z = 0.9 * radius * numpy.sin(angle) + 0.011 * between(t, 2.3, 3.4) + 0.1 * between(t, 5.0, 5.6)
    closed = 0.03 * between(t, 0.5, 1.1)
    return x, y, z, angle, closed - 0.02 * between(t, 3.7, 4.1), closed


def misfit(positions):
    """Mean distance of the nodes of the upper half from those that they lie on, along the table, in edges."""
    rows = positions.reshape(NODES, NODES, 3)
    low, high = rows[NODES // 2 + 1:], rows[:NODES // 2][::-1]
    return numpy.linalg.norm((high - low)[..., :2], axis=-1).mean() / (SIZE / (NODES - 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--film", action="store_true", help="fold.mp4, and fold.png of four moments")
    parser.add_argument("--fps", type=float, default=25, help="pictures of the film in a second")
    arguments = parser.parse_args()
    hands = {"left": -0.13, "right": 0.13}
    model = mujoco.MjModel.from_xml_string(MODEL.format(
        hands="".join(HAND.format(n=n, x=x, s=numpy.sign(x), palm=0.05 * numpy.sign(x), link=0.03 * numpy.sign(x))
                      for n, x in hands.items()),
        motors="".join(MOTORS.format(n=n) for n in hands)))
    data = mujoco.MjData(model)
    bridge = Bridge(model, data, TOWEL, threads=1)
    renderer = mujoco.Renderer(model, 480, 640, max_geom=5000) if arguments.film else None
    camera = mujoco.MjvCamera()
    camera.lookat[:], camera.distance, camera.azimuth, camera.elevation = [0, 0.14, 0.03], 0.8, 60, -30
    pictures, missed, most, cpu = [], 0, 0.0, time.process_time()
    end = 6.4
    for k in range(round(end / STEP)):
        t = k * STEP
        data.ctrl[:] = [*targets(t)] * 2
        [report] = bridge.step()
        missed += report.status != "converged"
        most = max(most, *(numpy.linalg.norm(bridge.wrenches[f"{n}_{f}"][:3]) for n in hands for f in ("low", "high")))
        if renderer and len(pictures) < t * arguments.fps:
            renderer.update_scene(data, camera)
            bridge.draw(renderer.scene)
            pictures.append(renderer.render().copy())
        if (k + 1) % round(1 / STEP) == 0:
            print(f"{t + STEP:.0f} s: {time.process_time() - cpu:.1f} s of CPU", flush=True)
    print(f"nodes of the upper half are {100 * misfit(bridge.simulation.positions(0)):.0f} % of an edge from those "
          "that they are to lie on")
    print(f"largest force on a finger {most:.2f} N; {missed} steps of {round(end / STEP)} not converged; "
          f"{(time.process_time() - cpu) / round(end / STEP) * 1e3:.1f} ms of CPU a step")
    if pictures:
        write(arguments.folder, "fold", pictures, arguments.fps, (1.1, 2.2, 3.5, end))


def write(folder, name, pictures, fps, moments):
    """A film and a picture of four moments [s] of it."""
    import imageio_ffmpeg
    import matplotlib.image

    folder.mkdir(parents=True, exist_ok=True)
    chosen = [pictures[min(int(t * fps), len(pictures) - 1)] for t in moments]
    matplotlib.image.imsave(folder / f"{name}.png", numpy.concatenate(chosen, axis=1))
    writer = imageio_ffmpeg.write_frames(str(folder / f"{name}.mp4"), pictures[0].shape[1::-1], fps=fps, quality=7)
    writer.send(None)
    for picture in pictures:
        writer.send(numpy.ascontiguousarray(picture))
    writer.close()
    print(folder / f"{name}.mp4")


if __name__ == "__main__":
    main()
