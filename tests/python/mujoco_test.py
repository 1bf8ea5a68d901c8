"""Cloth beside MuJoCo: geoms that it meets, forces both ways, light bodies, what goes wrong."""

import pathlib
import re

import numpy
import pytest

mujoco = pytest.importorskip("mujoco")

from isocloth import Error, NumericalError, SceneError, ShapeError  # noqa: E402
from isocloth.mujoco import Bridge, Worlds  # noqa: E402

G = 9.81


def model_of(bodies, step=0.005, more=""):
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{step}" integrator="implicitfast"/>{more}<worldbody>{bodies}</worldbody></mujoco>')


def sheet(nodes=9, side=0.3, height=0.001, step=0.005, density=0.2, damping=2.0, projection=(), **more):
    """A towel above the origin."""
    return {"recipe": "membrane", "step": step, "duration": 100, "contact": {"tolerance": 1e-4},
            "projection": {"on_violation": "continue", **dict(projection)},
            "garments": [{"mesh": {"generator": "quad_grid", "nodes": [nodes, nodes], "size": [side, side]},
                          "transform": {"translation": [-side / 2, -side / 2, height]},
                          "fabric": {"density": density, "gravity_density": density, "bending_stiffness": 2e-5,
                                     "mass_damping": damping, "stretch_stiffness": 2000, "shear_stiffness": 100,
                                     "thickness": 0.002}, **more}]}


def weight(side=0.3, density=0.2):
    return density * side * side * G


def run(bridge, seconds):
    for _ in range(round(seconds / bridge.simulation.step_length)):
        bridge.step()


# Above what lies at the origin: distance of a point to the surface of the geom, outside positive.
FRUSTUM = " ".join(f"{x * w} {y * w} {z}" for z, w in ((-0.05, 0.1), (0.05, 0.06)) for x in (-1, 1) for y in (-1, 1))
GEOMS = {
    "plane": ('<geom name="g" type="plane" size="1 1 .1"/>', lambda x: x[:, 2]),
    "sphere": ('<geom name="g" type="sphere" size=".08" friction="2"/>',
               lambda x: numpy.linalg.norm(x, axis=-1) - 0.08),
    "capsule": ('<geom name="g" type="capsule" size=".05 .1" euler="90 0 0" friction="2"/>',
                lambda x: numpy.linalg.norm(x - numpy.clip(x * [0, 1, 0], -0.1, 0.1), axis=-1) - 0.05),
    "cylinder": ('<geom name="g" type="cylinder" size=".08 .05" friction="2"/>',
                 lambda x: numpy.maximum(numpy.hypot(x[:, 0], x[:, 1]) - 0.08, numpy.abs(x[:, 2]) - 0.05)),
    "box": ('<geom name="g" type="box" size=".08 .06 .05" friction="2"/>',
            lambda x: (numpy.abs(x) - [0.08, 0.06, 0.05]).max(-1)),
    "ellipsoid": ('<geom name="g" type="ellipsoid" size=".1 .08 .06" friction="2"/>',
                  lambda x: 0.06 * (numpy.linalg.norm(x / [0.1, 0.08, 0.06], axis=-1) - 1)),
    "mesh": ('<geom name="g" type="mesh" mesh="m" friction="2"/>',
             lambda x: numpy.maximum(x[:, 2] - 0.05, (abs(x[:, :2]).max(-1) - 0.08 + 0.4 * x[:, 2]) / 1.16 ** 0.5)),
    "hfield": ('<geom name="g" type="hfield" hfield="h"/>', lambda x: x[:, 2] - 0.05 * (x[:, 0] + 0.5)),
}


@pytest.mark.parametrize("kind", GEOMS)
def test_cloth_rests_on_geom_and_its_weight_is_carried(kind):
    geom, distance = GEOMS[kind]
    assets = (f'<asset><mesh name="m" vertex="{FRUSTUM}"/><hfield name="h" nrow="11" ncol="11" size=".5 .5 .05 .1"/>'
              '</asset><compiler angle="degree"/>')
    model = model_of(geom, more=assets)
    if kind == "hfield":  # a slope of 5 per cent along x
        model.hfield_data[:] = numpy.tile(numpy.linspace(0, 1, 11), 11)
    data = mujoco.MjData(model)
    top = {"plane": 0.003, "sphere": 0.084, "capsule": 0.054, "cylinder": 0.054, "box": 0.054, "ellipsoid": 0.064,
           "mesh": 0.054, "hfield": 0.035}[kind]
    bridge = Bridge(model, data, sheet(side=0.2, height=top), threads=1)
    forces = []
    for k in range(200):
        [report] = bridge.step()
        assert report.status == "converged"
        x = bridge.simulation.positions(0)
        # The middle surface stays half a thickness off; faceted ellipsoids lie a little within.
        assert distance(x).min() > 0.001 - 2.5e-4 - (6e-4 if kind == "ellipsoid" else 0)
        forces.append(bridge.wrenches["g"][2])
    assert numpy.mean(forces[-40:]) == pytest.approx(-weight(0.2), rel=0.02)


FINGERS = """
<body name="hand"><joint name="z" type="slide" axis="0 0 1" damping="50"/>
 <geom name="palm" type="box" size=".03 .05 .01" pos="0 0 .12" mass="1" contype="0" conaffinity="0"/>
 <body name="left" pos="0 -.021 0"><joint name="left" type="slide" axis="0 1 0" damping="20" range="-.02 .03"/>
  <geom name="left" type="box" size=".03 .01 .02" mass="{mass}" friction=".5" contype="0" conaffinity="0"/></body>
 <body name="right" pos="0 .021 0"><joint name="right" type="slide" axis="0 -1 0" damping="20" range="-.02 .03"/>
  <geom name="right" type="box" size=".03 .01 .02" mass="{mass}" friction=".5" contype="0" conaffinity="0"/></body>
</body></worldbody><actuator><position joint="z" kp="4000"/><motor joint="left"/><motor joint="right"/></actuator>
<worldbody>"""


def gantry(mass=0.1, step=0.005, own=0.005):
    model = model_of(FINGERS.format(mass=mass), own)
    scene = sheet(nodes=13, step=step)
    scene["garments"][0] |= {"transform": {"rotation": [90, 0, 0], "translation": [-0.15, 0, -0.24]}, "grippers": [
        {"name": "line", "region": {"type": "box", "size": [0.32, 0.05, 0.004]}, "position": [0, 0, 0.06],
         "holds": [{"from": 0, "to": 0.8}]}]}
    return Bridge(model, mujoco.MjData(model), scene, geoms=["left", "right"], threads=1)


@pytest.mark.parametrize("mass, step, own", [(0.01, 0.005, 0.005), (0.1, 0.005, 0.005), (0.1, 0.01, 0.002)])
def test_light_fingers_close_lift_and_hold(mass, step, own):
    bridge = gantry(mass, step, own)
    peak, rows = 0, []
    for k in range(round(1.6 / step)):
        t = k * step
        bridge.data.ctrl[:] = [0.1 * numpy.clip((t - 0.9) / 0.4, 0, 1), 1, 1]
        bridge.step()
        left, right = bridge.wrenches["left"], bridge.wrenches["right"]
        peak = max(peak, abs(left[1]), abs(right[1]))
        x = bridge.simulation.positions(0)
        if t < 0.7:
            between = (numpy.abs(x[:, 0]) < 0.028) & (numpy.abs(x[:, 2]) < 0.018)
        rows.append([t, left[1], right[1], left[2] + right[2],
                     (x[between, 2].mean() if between.any() else 0) - bridge.data.qpos[0]])
    rows = numpy.array(rows)
    closed = rows[(rows[:, 0] > 0.45) & (rows[:, 0] < 0.85)]
    assert peak < 3
    assert closed[:, 1] == pytest.approx(-1, rel=0.02) and closed[:, 2] == pytest.approx(1, rel=0.02)
    held = rows[rows[:, 0] > 1.4]
    assert held[:, 1].mean() == pytest.approx(-1, rel=0.02) and held[:, 2].mean() == pytest.approx(1, rel=0.02)
    assert held[:, 3].mean() == pytest.approx(-weight(), rel=0.1)
    assert numpy.ptp(held[:, 4]) < 1e-4


BALL = """<body name="ball" pos="0 0 {height}"><freejoint/><geom name="ball" type="sphere" size=".03" mass=".05"/>
</body>"""


def test_momentum_is_kept():
    """A ball lands on a sheet that floats: gravity alone changes what both have together."""
    model = model_of(BALL.format(height=0.05))
    data = mujoco.MjData(model)
    # Forces that are found to so much; what lies on cloth for long needs it less.
    bridge = Bridge(model, data, sheet(height=0.0, damping=0.0, projection={"force_tolerance": 1e-4}), threads=1)
    data.qvel[2] = -1.5
    mass = 0.2 * 0.3 * 0.3

    def momentum():
        return 0.05 * data.qvel[:3] + bridge.simulation.measures()[0].linear_momentum

    start, touched = momentum(), 0
    for k in range(60):
        bridge.step()
        touched = max(touched, bridge.wrenches["ball"][2])
        expected = start - [0, 0, (mass + 0.05) * G * 0.005 * (k + 1)]
        assert momentum() == pytest.approx(expected, abs=1e-6)
    assert touched > 0.3


def test_body_lies_on_cloth_and_is_pulled_by_it():
    table = '<geom name="table" type="box" size=".5 .5 .02" pos="0 0 -.02" friction=".1"/>'
    box = ('<body name="box" pos="0 0 .0123"><freejoint/><geom name="box" type="box" size=".03 .03 .01" mass=".1" '
           'friction=".8" contype="2" conaffinity="2"/></body>')
    model = model_of(table + box)
    data = mujoco.MjData(model)
    scene = sheet(nodes=13, pins=[{"name": "edge", "select": {"box": {"min": [0.149, -1, -1], "max": [1, 1, 1]}}}])
    bridge = Bridge(model, data, scene, threads=1)
    run(bridge, 0.3)
    assert bridge.wrenches["box"][2] == pytest.approx(0.1 * G, rel=0.02)
    edge = bridge.simulation.positions(0)[bridge.simulation.pin_nodes(0)[0]]
    bridge.simulation.move_pin(0, 0, edge + [0.1, 0, 0], 0.5)
    run(bridge, 0.7)
    assert data.body("box").xpos[0] == pytest.approx(0.1, abs=0.005)
    # Off the cloth's edge nothing is left of it.
    assert abs(data.qvel[:3]).max() < 0.01


def test_mocap_bodies_are_steered():
    model = model_of('<body name="plate" mocap="true"><geom name="plate" type="box" size=".2 .2 .01"/></body>')
    data = mujoco.MjData(model)
    bridge = Bridge(model, data, sheet(height=0.012), threads=1)
    for k in range(100):
        data.mocap_pos[0, 2] = 0.001 * min(k, 60)
        bridge.step()
    assert bridge.simulation.positions(0)[:, 2] == pytest.approx(0.071, abs=3e-4)
    assert bridge.wrenches["plate"][2] == pytest.approx(-weight(), rel=0.02)


def test_sensors_feel_the_cloth():
    model = model_of('<body name="pan" pos="0 0 0"><joint type="slide" axis="0 0 1" stiffness="1000" damping="20"/>'
                     '<site name="s"/><geom name="pan" type="box" size=".2 .2 .01" mass=".2"/></body>',
                     more='<sensor><force site="s"/></sensor>')
    data = mujoco.MjData(model)
    bridge = Bridge(model, data, sheet(height=0.0115), threads=1)
    run(bridge, 1.5)
    assert data.qpos[0] == pytest.approx(-(0.2 * G + weight()) / 1000, rel=0.01)
    assert not data.xfrc_applied.any()


def test_reset_restore_and_set_cloth():
    bridge = gantry()
    start = bridge.simulation.positions(0)
    bridge.data.ctrl[:] = [0, 1, 1]
    run(bridge, 0.3)
    kept = bridge.state()
    run(bridge, 0.05)
    first = bridge.data.qpos.copy(), bridge.simulation.positions(0)
    bridge.restore(kept)
    run(bridge, 0.05)
    assert (bridge.data.qpos == first[0]).all() and (bridge.simulation.positions(0) == first[1]).all()
    bridge.reset()
    assert bridge.time == 0 and not bridge.data.qpos.any() and (bridge.simulation.positions(0) == start).all()
    run(bridge, 0.05)
    mujoco.mj_resetData(bridge.model, bridge.data)  # by the program, MuJoCo's side alone
    run(bridge, 0.05)
    bridge.set_cloth(start + [0, 0, 0.01])
    assert bridge.simulation.positions(0) == pytest.approx(start + [0, 0, 0.01])
    with pytest.raises(ShapeError, match="positions: found shape"):
        bridge.set_cloth(start[1:])
    before = bridge.simulation.positions(0)
    with pytest.raises(ShapeError, match="velocities: found shape"):
        bridge.set_cloth(start, start[1:])
    assert (bridge.simulation.positions(0) == before).all()


@pytest.mark.parametrize("geom", [
    'type="plane" size="1 1 .1"', 'type="sphere" size=".04"', 'type="capsule" size=".04 .1"',
    'type="cylinder" size=".1 .04"', 'type="box" size=".1 .1 .04"', 'type="ellipsoid" size=".04 .04 .04"'])
def test_cloth_is_not_set_into_geoms(geom):
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="0.005"/><worldbody><body name="thing" pos=".1 .1 1" euler="0 180 0">'
        f'<geom name="thing" {geom}/></body></worldbody></mujoco>')
    bridge = Bridge(model, mujoco.MjData(model), sheet())
    start = bridge.simulation.positions(0)
    centre = numpy.linalg.norm(start[:, :2] - [0.1, 0.1], axis=-1).argmin()
    at = start - start[centre] + [0.1, 0.1, 0]
    bridge.set_cloth(at + [0, 0, 0.8])
    with pytest.raises(ShapeError, match=r"positions\[\d+\]: found it 0.0\d+ m inside of geom 'thing'.*place it"):
        bridge.set_cloth(at + [0, 0, 1.03])
    assert bridge.simulation.positions(0)[centre, 2] == pytest.approx(0.8)


def test_errors_of_the_model():
    ball = BALL.format(height=0.1)
    model = model_of(ball)
    with pytest.raises(SceneError, match="geom: found 'bal', expected a number or a name: 'ball'"):
        Bridge(model, mujoco.MjData(model), sheet(), geoms=["bal"])
    with pytest.raises(SceneError, match="body: found 'hand', expected a number or a name"):
        Bridge(model, mujoco.MjData(model), sheet(), bodies=["hand"])
    with pytest.raises(SceneError, match="step: found 0.007 s, expected a whole number of the model's timestep"):
        Bridge(model, mujoco.MjData(model), sheet(step=0.007))
    with pytest.raises(SceneError, match="meshes: found 'sdf'"):
        Bridge(model, mujoco.MjData(model), sheet(), meshes="sdf")
    model.opt.gravity[0] = 1
    with pytest.raises(SceneError, match="gravity: found .* expected one along z"):
        Bridge(model, mujoco.MjData(model), sheet())
    field = '<asset><hfield name="h" nrow="5" ncol="9" size=".5 .5 .05 .1"/></asset>'
    model = model_of('<geom name="ground" type="hfield" hfield="h"/>', more=field)
    with pytest.raises(SceneError, match="geom 'ground': found a height field with samples"):
        Bridge(model, mujoco.MjData(model), sheet())


def test_errors_of_a_step():
    model = model_of(BALL.format(height=0.1) + FINGERS.format(mass=0.1))
    data = mujoco.MjData(model)
    bridge = Bridge(model, data, sheet(), geoms=["ball"], threads=1)
    data.ctrl[1] = numpy.nan
    with pytest.raises(ShapeError, match=r"ctrl\[1\] of .*: found nan, expected a finite number"):
        bridge.step()
    data.ctrl[1] = 0
    data.qpos[2] = numpy.inf
    with pytest.raises(ShapeError, match=r"qpos\[2\] of joint 0 of body 'ball': found inf"):
        bridge.step()
    data.qpos[2] = 0.5
    with pytest.raises(ShapeError, match="geom 'ball': found a leap of 0.4 m since the last step"):
        bridge.step()
    bridge.reset()
    bridge.step()
    before = data.time, data.qpos.copy()
    data.qfrc_applied[7] = 1e14
    with pytest.raises(NumericalError, match="joint 'left' of body 'left': found an acceleration that is not"):
        bridge.step()
    data.qfrc_applied[7] = 0
    data.ctrl[1] = 1e14
    with pytest.raises(NumericalError, match="actuator 1: found a control that is not finite or too large"):
        bridge.step()
    assert data.time == before[0] and (data.qpos == before[1]).all()
    data.ctrl[1] = 0
    bridge.step()


def test_equalities_and_tendons_pass_forces_on():
    """One finger is driven, the other follows by an equality: each gives half of the tendon's force."""
    bodies = """
    <body name="left" pos="0 -.02 0"><joint name="left" type="slide" axis="0 1 0" range="0 .03" limited="true"/>
      <geom name="left" type="box" size=".03 .01 .02" mass=".015" contype="0" conaffinity="0"/></body>
    <body name="right" pos="0 .02 0"><joint name="right" type="slide" axis="0 -1 0" range="0 .03" limited="true"/>
      <geom name="right" type="box" size=".03 .01 .02" mass=".015" contype="0" conaffinity="0"/></body>"""
    more = """<default><joint armature=".1" damping="20"/></default>
    <tendon><fixed name="split"><joint joint="left" coef=".5"/><joint joint="right" coef=".5"/></fixed></tendon>
    <equality><joint joint1="left" joint2="right" solimp=".95 .99 .001" solref=".005 1"/></equality>
    <actuator><motor tendon="split"/></actuator>"""
    model = model_of(bodies, 0.002, more)
    data = mujoco.MjData(model)
    scene = sheet(nodes=13, step=0.004)
    scene["garments"][0] |= {"transform": {"rotation": [90, 0, 0], "translation": [-0.15, 0, -0.24]}, "pins": [
        {"name": "edge", "select": {"box": {"min": [-1, -1, 0.059], "max": [1, 1, 1]}}}]}
    bridge = Bridge(model, data, scene, geoms=["left", "right"], threads=1)
    forces = []
    for k in range(200):
        data.ctrl[0] = 4 * min(1, k / 50)
        bridge.step()
        forces.append([bridge.wrenches["left"][1], bridge.wrenches["right"][1]])
    assert numpy.array(forces[-50:]) == pytest.approx(numpy.tile([-2, 2], (50, 1)), rel=0.02)
    assert numpy.abs(forces).max() < 6


def test_worlds_are_as_one_alone_and_one_that_fails_is_frozen():
    model = model_of(BALL.format(height=0.04) + FINGERS.format(mass=0.1))
    worlds = Worlds(model, sheet(), 3, geoms=["ball"], threads=2)
    alone = Bridge(model, mujoco.MjData(model), sheet(), geoms=["ball"], threads=1)
    run(alone, 0.1)
    ctrl = numpy.zeros((3, 20, 3))
    ctrl[1, 5] = numpy.nan
    with pytest.warns(match="world 1: ctrl.0. of .*: found nan.*it is frozen until reset"):
        states, positions = worlds.rollout(ctrl)
    assert list(worlds.errors) == [1]
    assert states.shape == (3, 20, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    assert positions.shape == (3, 20, 81, 3)
    for world in (0, 2):
        assert (worlds.qpos[world] == alone.data.qpos).all()
        assert (positions[world, -1] == alone.simulation.positions(0)).all()
    assert (states[1, 5] == states[1, -1]).all()
    worlds.ctrl[:] = 0
    worlds.reset(1)
    assert not worlds.errors and worlds.step()[1] is not None
    assert worlds.wrenches().shape == (3, 1, 6) and worlds.geom_names == ["ball"]
    with pytest.raises(ShapeError, match="world: found 3, expected 0 to 2"):
        worlds.reset(3)
    worlds.close()


def test_cloth_is_drawn():
    model = model_of('<geom name="floor" type="plane" size="1 1 .1"/>')
    bridge = Bridge(model, mujoco.MjData(model), sheet(nodes=5, height=0.05), threads=1)
    scene = mujoco.MjvScene(model, maxgeom=100)
    assert bridge.draw(scene, rgba=[1, 0, 0, 1]) == 0 and scene.ngeom == 32
    corners = []
    for k in range(scene.ngeom):
        geom = scene.geoms[k]
        assert geom.type == mujoco.mjtGeom.mjGEOM_TRIANGLE and geom.rgba == pytest.approx([1, 0, 0, 1])
        corners += [geom.pos, geom.pos + geom.mat[:, 0], geom.pos + geom.mat[:, 1]]
    corners = numpy.array(corners)
    x = bridge.simulation.positions(0)
    assert numpy.linalg.norm(corners[:, None] - x, axis=-1).min(1).max() < 1e-6
    assert bridge.draw(scene) == 0 and bridge.draw(scene) == 0 and bridge.draw(scene) == 28


def test_triangles_are_drawn_once():
    model = model_of('<geom name="floor" type="plane" size="1 1 .1"/>')
    scene = sheet(nodes=5, height=0.05)
    scene["garments"][0]["mesh"]["generator"] = "triangle_grid"
    bridge = Bridge(model, mujoco.MjData(model), scene, threads=1)
    picture = mujoco.MjvScene(model, maxgeom=1000)
    bridge.draw(picture)
    assert picture.ngeom == len(bridge.simulation.faces(0)) and (bridge.simulation.faces(0)[:, 3] < 0).all()


def test_closed_worlds_and_quaternions_of_no_length_are_refused():
    model = model_of('<body name="hand" mocap="true"><geom size=".02"/></body>')
    worlds = Worlds(model, sheet(nodes=5, height=0.5), 1)
    worlds.close()
    worlds.close()
    with pytest.raises(Error, match="step: found worlds that were closed"):
        worlds.step()
    bridge = Bridge(model, mujoco.MjData(model), sheet(nodes=5, height=0.5))
    bridge.data.mocap_quat[0] = 0
    with pytest.raises(ShapeError, match="mocap_quat.0. of mocap body 0: found"):
        bridge.step()


def test_code_of_the_page_runs():
    page = (pathlib.Path(__file__).parents[2] / "host" / "docs" / "ROBOTS.md").read_text()
    first, sketch = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names = {}
    exec(compile(first, "ROBOTS.md", "exec"), names)
    # The servo, 500 N/m from where the finger is to -0.07 m, is held at its 2 N; a finger of 0.1 kg weighs on, too.
    assert names["bridge"].wrenches["finger"][2] == pytest.approx(2 + 0.1 * G, rel=0.02)
    compile(sketch, "ROBOTS.md", "exec")


@pytest.mark.parametrize(("options", "words"), [
    ({"reach": -1}, "reach: found -1, expected a number >= 0"),
    ({"reach": float("nan")}, "reach: found nan, expected a number >= 0"),
    ({"friction": "a"}, "friction: found 'a', expected a number >= 0"),
])
def test_numbers_of_a_bridge_are_checked(options, words):
    model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='.1'/></worldbody></mujoco>")
    with pytest.raises((SceneError, ShapeError), match=words):
        Bridge(model, mujoco.MjData(model), {"step": 0.002, "garments": []}, **options)
    with pytest.raises((SceneError, ShapeError), match="model and data: found str and NoneType"):
        Bridge("x", None, {})
