"""Two position-controlled grippers of MuJoCo fold a towel: they pinch the corners that lie over the edge of a table,
lead them in an arc onto the others, let go and draw their fingers out sideways from between the layers.

    pip install 'isocloth[mujoco,record]' matplotlib
    MUJOCO_GL=egl python host/python/examples/mujoco_fold.py results/fold --film

Printed: how far nodes are from where a perfect fold has them, in edges of the mesh, the forces on the fingers, steps
that missed their tolerance, CPU time.
"""

import numpy
from mujoco_towel import Play, between, towel

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
TABLE = """<geom name="table" type="box" size=".3 .25 .02" pos="0 .25 -.02" rgba=".8 .75 .68 1" friction=".5"/>
"""


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
    hands = {"left": -0.13, "right": 0.13}
    largest = [0.0]

    def look(_, bridge):
        largest[0] = max(largest[0], *(numpy.linalg.norm(bridge.wrenches[f"{n}_{finger}"][:3])
                                       for n in hands for finger in ("low", "high")))

    play = Play(
        __doc__, TABLE + "".join(HAND.format(n=n, x=x, s=numpy.sign(x), palm=0.05 * numpy.sign(x),
                                             link=0.03 * numpy.sign(x)) for n, x in hands.items()),
        "".join(MOTORS.format(n=n) for n in hands),
        towel([NODES, NODES], [SIZE, SIZE], {"translation": [-SIZE / 2, -OVER, 0.0012]}),
        targets, end=6.4, camera=([0, 0.14, 0.03], 0.8, 60, -30), moments=(1.1, 2.2, 3.5, 6.4), look=look)
    play.run("fold")
    print(f"nodes of the upper half are {100 * misfit(play.bridge.simulation.positions(0)):.0f} % of an edge from "
          "those that they are to lie on")
    print(f"largest force on a finger {largest[0]:.2f} N; {play.cost()}")


if __name__ == "__main__":
    main()
