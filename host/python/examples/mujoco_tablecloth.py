"""A cloth is pulled from under two boxes of MuJoCo: slowly they come along, fast they stay.

    pip install 'isocloth[mujoco]' matplotlib
    MUJOCO_GL=egl python host/python/examples/mujoco_tablecloth.py results/tablecloth

A box on cloth that slides under it is driven by mu g for as long as the cloth is under it, then braked by the table:
with an edge of the cloth that is a distance d away and is pulled at a velocity v it moves by about mu g (d / v)^2 / 2
before.
"""

import argparse
import pathlib

import mujoco
import numpy
from isocloth.mujoco import Bridge

MODEL = """<mujoco><option timestep="0.005" integrator="implicitfast"/>
<visual><global offwidth="640" offheight="400"/><headlight ambient=".4 .4 .4" diffuse=".4 .4 .4"/></visual><worldbody>
<light pos="-.5 -1 2" dir=".25 .4 -1" diffuse=".5 .5 .5"/>
<geom name="table" type="box" size=".6 .25 .02" pos=".15 0 -.02" rgba=".8 .75 .68 1" friction=".3"/>
<body name="low" pos="0 -.05 .0235"><freejoint/><geom name="low" type="box" size=".03 .03 .02" mass=".2" friction=".4"
 rgba=".8 .3 .2 1" condim="3"/></body>
<body name="high" pos="0 .06 .0435"><freejoint/><geom name="high" type="box" size=".03 .025 .04" mass=".3" friction=".4"
 rgba=".2 .5 .3 1" condim="3"/></body></worldbody></mujoco>"""
CLOTH = {"recipe": "membrane", "step": 0.005, "duration": 100, "projection": {"on_violation": "continue"},
         "garments": [{"mesh": {"generator": "quad_grid", "nodes": [17, 17], "size": [0.32, 0.32]},
                       "transform": {"translation": [-0.12, -0.16, 0.0015]},
                       "fabric": {"density": 0.2, "gravity_density": 0.2, "bending_stiffness": 2e-5,
                                  "mass_damping": 0.2, "stretch_stiffness": 2000, "shear_stiffness": 100,
                                  "thickness": 0.002},
                       "pins": [{"name": "edge", "select": {"box": {"min": [0.199, -1, -1], "max": [1, 1, 1]}}}]}]}


def pull(velocity):
    """Displacements of the boxes [m], and three pictures."""
    model = mujoco.MjModel.from_xml_string(MODEL)
    data = mujoco.MjData(model)
    bridge = Bridge(model, data, CLOTH, threads=1)
    for _ in range(20):
        bridge.step()
    start = data.qpos[[0, 7]].copy()
    edge = bridge.simulation.positions(0)[bridge.simulation.pin_nodes(0)[0]]
    way = 0.36
    bridge.simulation.move_pin(0, 0, edge + [way, 0, 0], way / velocity)
    steps = round((way / velocity + 0.1) / 0.005)
    renderer = mujoco.Renderer(model, 400, 640, max_geom=5000)
    camera = mujoco.MjvCamera()
    camera.lookat[:], camera.distance, camera.azimuth, camera.elevation = [0.18, 0, 0.0], 1.1, 115, -28
    pictures = []
    for k in range(steps + 1):
        if k in (0, steps // 3, steps):
            renderer.update_scene(data, camera)
            bridge.draw(renderer.scene)
            pictures.append(renderer.render().copy())
        bridge.step()
    renderer.close()
    return data.qpos[[0, 7]] - start, numpy.concatenate(pictures, axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for velocity in (0.4, 3.0):
        ways, row = pull(velocity)
        rows.append(row)
        print(f"pulled at {velocity} m/s: boxes moved by {1e3 * ways[0]:.1f} and {1e3 * ways[1]:.1f} mm", flush=True)
    import matplotlib.image

    matplotlib.image.imsave(arguments.folder / "tablecloth.png", numpy.concatenate(rows))


if __name__ == "__main__":
    main()
