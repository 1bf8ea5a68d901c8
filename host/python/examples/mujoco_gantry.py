"""Two fingers of a gantry close on a towel, lift it by 0.2 m, turn it once around and hold it: how well light fingers
are coupled with the cloth, over masses of the fingers and steps of both.

    pip install 'isocloth[mujoco]'
    python host/python/examples/mujoco_gantry.py                         # the table of docs/ROBOTS.md
    python host/python/examples/mujoco_gantry.py --mass 0.1 --hold 60    # one row

Each finger is pushed by a motor of 1 N. Printed: the largest force while it closes; how far it departs from the
motor's from 0.2 s after it touched until the lift, and by mean and at most while the towel is held at rest after all
motions; how far it slips then; steps that missed their tolerance; CPU time.
"""

import argparse
import time

import mujoco
import numpy
from isocloth.mujoco import Bridge

MODEL = """<mujoco><option timestep="{own}" integrator="implicitfast"/><worldbody>
<body name="hand"><joint name="z" type="slide" axis="0 0 1" damping="50"/>
 <joint name="yaw" type="hinge" axis="0 0 1" damping="2"/>
 <geom type="box" size=".03 .05 .01" pos="0 0 .12" mass="1" contype="0" conaffinity="0"/>
 <body name="left" pos="0 -.021 0"><joint name="left" type="slide" axis="0 1 0" damping="20" range="-.02 .03"/>
  <geom name="left" type="box" size=".03 .01 .02" mass="{mass}" friction=".5" contype="0" conaffinity="0"/></body>
 <body name="right" pos="0 .021 0"><joint name="right" type="slide" axis="0 -1 0" damping="20" range="-.02 .03"/>
  <geom name="right" type="box" size=".03 .01 .02" mass="{mass}" friction=".5" contype="0" conaffinity="0"/></body>
</body></worldbody>
<actuator><position joint="z" kp="{lift}"/><position joint="yaw" kp="50"/>
 <motor joint="left"/><motor joint="right"/></actuator></mujoco>"""


def towel(step):
    """Hangs by its upper edge until its 2 s are over."""
    return {"recipe": "membrane", "step": step, "duration": 1000, "contact": {"tolerance": 1e-4},
            "projection": {"on_violation": "continue"},
            "garments": [{"mesh": {"generator": "quad_grid", "nodes": [16, 16], "size": [0.3, 0.3]},
                          "transform": {"rotation": [90, 0, 0], "translation": [-0.15, 0, -0.24]},
                          "fabric": {"density": 0.2, "gravity_density": 0.2, "bending_stiffness": 2e-5,
                                     "mass_damping": 0.2, "stretch_stiffness": 2000, "shear_stiffness": 100,
                                     "thickness": 0.002},
                          "grippers": [{"name": "line", "region": {"type": "box", "size": [0.32, 0.05, 0.004]},
                                        "position": [0, 0, 0.06], "holds": [{"from": 0, "to": 2.0}]}]}]}


def between(t, begin, end):
    """From 0 to 1, at rest at both ends."""
    s = numpy.clip((t - begin) / (end - begin), 0, 1)
    return s * s * s * (10 + s * (6 * s - 15))


def run(mass, step, own, hold):
    """One row: fingers of a mass [kg], steps of the cloth and of MuJoCo [s], held for so long [s]."""
    model = mujoco.MjModel.from_xml_string(MODEL.format(mass=mass, own=own, lift=4000 * max(1, 2 * mass)))
    data = mujoco.MjData(model)
    bridge = Bridge(model, data, towel(step), geoms=["left", "right"], threads=1)
    began, rows, chosen = time.process_time(), [], None
    for k in range(round((10 + hold) / step)):
        t = k * step
        data.ctrl[:] = [0.2 * between(t, 2.2, 3.5), 2 * numpy.pi * between(t, 3.5, 9), 1, 1]
        [report] = bridge.step()
        axes = data.body("hand").xmat.reshape(3, 3)
        middle = (data.geom("left").xpos + data.geom("right").xpos) / 2  # the fingers float between their motors
        x = (bridge.simulation.positions(0) - middle) @ axes
        if t >= 2 and chosen is None:
            chosen = (numpy.abs(x[:, [0, 2]]) < [0.028, 0.018]).all(-1)
        rows.append([t, -bridge.wrenches["left"][:3] @ axes[:, 1], bridge.wrenches["right"][:3] @ axes[:, 1],
                     *(x[chosen].mean(0) if chosen is not None else (0, 0, 0)), report.status != "converged"])
    rows = numpy.array(rows)
    touch = rows[numpy.argmax(rows[:, 1] > 1e-6), 0]
    pressed = rows[(rows[:, 0] > touch + 0.2) & (rows[:, 0] < 2)][:, 1:3]
    held = rows[rows[:, 0] > 10]
    return {"mass": mass, "step": step, "own": own, "peak": rows[rows[:, 0] < 2][:, 1:3].max(),
            "pressed": numpy.abs(pressed - 1).max() if len(pressed) else numpy.nan,
            "held": abs(held[:, 1:3].mean() - 1), "held_most": numpy.abs(held[:, 1:3] - 1).max(),
            "slip": numpy.ptp(held[:, 3:6], axis=0).max(), "missed": int(rows[:, 6].sum()),
            "cpu": (time.process_time() - began) / len(rows)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mass", type=float, nargs="*", default=[0.01, 0.1, 1, 10], help="of a finger [kg]")
    parser.add_argument("--step", type=float, nargs="*", default=[0.001, 0.005, 0.01], help="of the cloth [s]")
    parser.add_argument("--own", type=float, help="timestep of MuJoCo [s]; default: that of the cloth")
    parser.add_argument("--hold", type=float, default=2.0, help="[s]")
    arguments = parser.parse_args()
    print("| finger [kg] | step [ms] | MuJoCo's [ms] | peak [N] | off 1 N, closed | held, mean | held, most "
          "| slip [mm] | missed | CPU [ms/step] |\n|---|---|---|---|---|---|---|---|---|---|")
    for mass in arguments.mass:
        for step in arguments.step:
            r = run(mass, step, arguments.own or step, arguments.hold)
            print(f"| {mass:g} | {1e3 * step:g} | {1e3 * r['own']:g} | {r['peak']:.2f} | {100 * r['pressed']:.2f} % | "
                  f"{100 * r['held']:.2f} % | {100 * r['held_most']:.2f} % | {1e3 * r['slip']:.4f} | {r['missed']} | "
                  f"{1e3 * r['cpu']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
