"""Two position-controlled grippers of MuJoCo hang a towel on a hook: they take it by its upper corners, lead it over
the hook, lower it behind and let go.

    pip install 'isocloth[mujoco,record]' matplotlib
    MUJOCO_GL=egl python host/python/examples/mujoco_hang.py results/hang --film

Printed: what hangs on either side of the hook, how far it creeps in the last second, the force on the hook beside the
weight, steps that missed their tolerance, CPU time.
"""

import numpy
from mujoco_towel import Play, between, towel

WIDTH, LENGTH, COLUMNS, ROWS = 0.2, 0.4, 17, 33
TOP, HOOK = 0.55, 0.14  # height of the towel's upper edge at the start, and how far the hook is from it [m]
HAND = """<body name="{n}" pos="{x} 0 {top}" gravcomp="1"><joint name="{n}_y" type="slide" axis="0 1 0" damping="80"/>
 <joint name="{n}_z" type="slide" axis="0 0 1" damping="80"/>
 <geom type="box" size=".012 .02 .012" pos="0 0 .05" mass=".4" contype="0" conaffinity="0" rgba=".3 .3 .32 1"/>
 <body name="{n}_near" pos="0 -.025 0" gravcomp="1"><joint name="{n}_near" type="slide" axis="0 1 0" damping="10"/>
  <geom name="{n}_near" type="box" size=".01 .003 .012" mass=".05" friction=".8" rgba=".15 .15 .15 1"/>
  <geom type="box" size=".005 .003 .016" pos="0 0 .028" mass=".02" contype="0" conaffinity="0"
   rgba=".3 .3 .32 1"/></body>
 <body name="{n}_far" pos="0 .025 0" gravcomp="1"><joint name="{n}_far" type="slide" axis="0 -1 0" damping="10"/>
  <geom name="{n}_far" type="box" size=".01 .003 .012" mass=".05" friction=".8" rgba=".15 .15 .15 1"/>
  <geom type="box" size=".005 .003 .016" pos="0 0 .028" mass=".02" contype="0" conaffinity="0"
   rgba=".3 .3 .32 1"/></body>
</body>"""
MOTORS = """<position joint="{n}_y" kp="2000"/><position joint="{n}_z" kp="2000"/>
<position joint="{n}_near" kp="400" forcerange="-1.5 1.5"/><position joint="{n}_far" kp="400" forcerange="-1.5 1.5"/>"""
STAND = """<geom type="box" size=".01 .25 .3" pos="-.21 .14 .45" contype="0" conaffinity="0" rgba=".85 .83 .78 1"/>
<geom name="hook" type="capsule" size=".008" fromto="-.2 {hook} .5 .135 {hook} .5" friction=".4" rgba=".75 .6 .25 1"/>
<geom name="tip" type="capsule" size=".008" fromto=".135 {hook} .5 .15 {hook} .525" friction=".4" rgba=".75 .6 .25 1"/>
"""


def targets(t):
    """Way of a hand along y and z [m], and that of each of its fingers towards the other [m]."""
    y = (HOOK + 0.07) * between(t, 1.4, 3.0)
    z = 0.08 * between(t, 1.3, 2.0) - 0.3 * between(t, 2.9, 4.4) + 0.32 * between(t, 5.0, 6.0)
    closed = 0.03 * between(t, 0.2, 0.9) - 0.025 * between(t, 4.5, 4.9)
    return y, z, closed, closed


def main():
    hands, end = {"left": -0.085, "right": 0.085}, 8.0
    places, forces = [], []

    def look(t, bridge):
        if t >= end - 1:
            places.append(bridge.simulation.positions(0))
            forces.append(bridge.wrenches["hook"][2] + bridge.wrenches["tip"][2])

    play = Play(
        __doc__, STAND.format(hook=HOOK) + "".join(HAND.format(n=n, x=x, top=TOP) for n, x in hands.items()),
        "".join(MOTORS.format(n=n) for n in hands),
        towel([COLUMNS, ROWS], [WIDTH, LENGTH],
              {"rotation": [90, 0, 0], "translation": [-WIDTH / 2, 0, TOP + 0.008 - LENGTH]},
              grippers=[{"name": "line", "region": {"type": "box", "size": [0.22, 0.05, 0.004]},
                         "position": [0, 0, TOP + 0.008], "holds": [{"from": 0, "to": 1.2}]}]),
        targets, end=end, camera=([0, 0.12, 0.4], 1.15, 130, -14), moments=(1.2, 2.6, 4.4, end), look=look)
    play.run("hang")
    rows = places[-1].reshape(ROWS, COLUMNS, 3)
    behind = rows[-1, :, 2].mean() < 0.5
    lowest = 0.5 - rows[0, :, 2].mean(), 0.5 - rows[-1, :, 2].mean()
    print(f"{'hangs' if behind and places[-1][:, 2].min() > 0.02 else 'fell off'}: ends {lowest[0]:.3f} and "
          f"{lowest[1]:.3f} m below the hook; its nodes moved by "
          f"{1e3 * numpy.abs(places[-1] - places[0]).max():.2f} mm in the last second")
    print(f"the hook bears {-numpy.mean(forces):.4f} N of {0.25 * 9.81 * WIDTH * LENGTH:.4f} N; {play.cost()}")


if __name__ == "__main__":
    main()
