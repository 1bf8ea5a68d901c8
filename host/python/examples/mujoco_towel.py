"""What mujoco_fold.py and mujoco_hang.py share: a towel, MuJoCo's model around it, the loop of both, and its film."""

import argparse
import pathlib
import time

import mujoco
import numpy
from isocloth.mujoco import Bridge

STEP = 0.005
MODEL = """<mujoco><option timestep="{step}" integrator="implicitfast"/>
<visual><global offwidth="640" offheight="480"/><headlight ambient=".4 .4 .4" diffuse=".4 .4 .4"/></visual>
<asset><texture type="skybox" builtin="gradient" rgb1=".95 .96 .98" rgb2=".75 .79 .85" width="64" height="64"/></asset>
<worldbody>
<light pos="-.5 -1 2" dir=".25 .4 -1" diffuse=".5 .5 .5"/>
{bodies}</worldbody><actuator>{motors}</actuator></mujoco>"""


def towel(nodes, size, transform, **more):
    """The scene of a towel of these numbers of nodes and lengths [m]; more: further keys of its garment."""
    return {"recipe": "membrane", "step": STEP, "duration": 1000,
            "contact": {"tolerance": 1e-4, "cloth": True, "cloth_friction": {"static": 0.4}},
            "projection": {"on_violation": "continue"},
            "garments": [{"mesh": {"generator": "quad_grid", "nodes": nodes, "size": size}, "transform": transform,
                          "fabric": {"density": 0.25, "gravity_density": 0.25, "bending_stiffness": 3e-5,
                                     "mass_damping": 0.3, "stretch_stiffness": 2000, "shear_stiffness": 100,
                                     "thickness": 0.002}, **more}]}


def between(t, begin, end):
    """From 0 to 1, at rest at both ends."""
    s = numpy.clip((t - begin) / (end - begin), 0, 1)
    return s * s * s * (10 + s * (6 * s - 15))


class Play:
    """A towel among bodies and motors of MuJoCo, which follow ``targets(t)``, alike for both hands, until ``end`` [s].

    camera: lookat, distance, azimuth, elevation; moments: times of the four pictures [s]; look(t, bridge) is called
    after each step.
    """

    def __init__(self, description, bodies, motors, scene, targets, end, camera, moments, look):
        parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("folder", type=pathlib.Path)
        parser.add_argument("--film", action="store_true", help="a film, and a picture of four moments of it")
        parser.add_argument("--fps", type=float, default=25, help="pictures of the film in a second")
        self.arguments = parser.parse_args()
        self.model = mujoco.MjModel.from_xml_string(MODEL.format(step=STEP, bodies=bodies, motors=motors))
        self.data = mujoco.MjData(self.model)
        self.bridge = Bridge(self.model, self.data, scene, threads=1)
        self.targets, self.steps, self.moments, self.look = targets, round(end / STEP), moments, look
        self.camera = mujoco.MjvCamera()
        self.camera.lookat[:], self.camera.distance, self.camera.azimuth, self.camera.elevation = camera
        self.missed, self.cpu_seconds = 0, 0.0

    def run(self, name):
        """All steps, and the film. The CPU time of drawing counts."""
        renderer = mujoco.Renderer(self.model, 480, 640, max_geom=5000) if self.arguments.film else None
        pictures, begin = [], time.process_time()
        for k in range(self.steps):
            t = k * STEP
            self.data.ctrl[:] = [*self.targets(t)] * 2
            [report] = self.bridge.step()
            self.missed += report.status != "converged"
            self.look(t, self.bridge)
            if renderer and len(pictures) < t * self.arguments.fps:
                renderer.update_scene(self.data, self.camera)
                self.bridge.draw(renderer.scene)
                pictures.append(renderer.render().copy())
            self.cpu_seconds = time.process_time() - begin
            if (k + 1) % round(1 / STEP) == 0:
                print(f"{t + STEP:.0f} s: {self.cpu_seconds:.1f} s of CPU", flush=True)
        if pictures:
            write(self.arguments.folder, name, pictures, self.arguments.fps, self.moments)

    def cost(self):
        """Steps that missed their tolerance, and what one cost."""
        milliseconds = self.cpu_seconds / self.steps * 1e3
        return f"{self.missed} steps of {self.steps} not converged; {milliseconds:.1f} ms of CPU a step"


def write(folder, name, pictures, fps, moments):
    """A film and a picture of these moments [s] of it."""
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
