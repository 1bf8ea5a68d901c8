"""Bodies that others move: poses in, wrenches out, one clock."""

import warnings

import isocloth
import numpy
import pytest

LIFT = {"name": "lift", "shape": {"type": "box", "size": [1, 1, 0.1], "rounding": 0.01}, "position": [0, 0, -0.05],
        "friction": {"static": 0.5}}
CLOTH = {"mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.2, 0.2]},
         "transform": {"translation": [-0.1, -0.1, 0.001]}, "fabric": {"preset": "cotton", "thickness": 0.002}}


def lifted(replicas=2, **more):
    """Towels on a table that is still, each in a world of its own."""
    return {"step": 0.005, "duration": 10, "contact": {"tolerance": 5e-4}, "obstacles": [LIFT],
            "garments": [{"replicas": replicas, **CLOTH}], **more}


def made(scene, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return isocloth.Simulation(scene, threads=1, **options)


def weight(simulation, garment=0):
    area = 0.2 * 0.2
    return 9.8 * simulation.fabric(garment)["density"] * area


def test_what_a_program_moves_goes_by_one_clock():
    simulation = made(lifted())
    simulation.advance(100)
    simulation.reset([1])
    assert (simulation.time, simulation.garment_time(0), simulation.garment_time(1)) == (0.5, 0.5, 0)
    simulation.set_obstacle_motion("lift", [0.5, 0.7], [[0, 0, 0], [0, 0, 0.1]])
    simulation.advance(40)
    assert simulation.obstacle_poses()[0][2] == pytest.approx(0.05, abs=1e-6)
    assert min(simulation.positions(g)[:, 2].mean() for g in (0, 1)) > 0.095
    simulation.reset([0])  # steered obstacles stay where they are
    assert simulation.body_poses("lift")[0, 2] == pytest.approx(0.05)


def test_what_the_scene_moves_begins_again_with_a_garment():
    scene = lifted()
    scene["obstacles"] = [{**LIFT, "motion": {"type": "keyframes", "times": [0, 0.2],
                                              "translations": [[0, 0, 0], [0, 0, 0.1]]}}]
    simulation = made(scene)
    simulation.advance(60)
    simulation.reset([1])
    simulation.advance(1)
    assert simulation.positions(0)[:, 2].mean() > 0.095 and simulation.positions(1)[:, 2].mean() < 0.01


@pytest.mark.parametrize("reset_before", [True, False])
def test_grippers_go_by_one_clock_and_stay_closed_over_a_reset(reset_before):
    scene = lifted()
    scene["garments"][0]["grippers"] = [{"name": "hand", "region": {"type": "sphere", "radius": 0.08},
                                         "position": [0, 0, 0], "holds": []}]
    simulation = made(scene)
    simulation.advance(100)
    if reset_before:
        simulation.reset([1])
    for garment in (0, 1):
        begin = simulation.time
        simulation.set_gripper_motion(garment, "hand", [begin, begin + 0.2], [[0, 0, 0], [0, 0, 0.1]])
        simulation.close_gripper(garment, "hand")
    if not reset_before:
        simulation.reset([1])
    simulation.advance(40)
    tops = [simulation.positions(g)[:, 2].max() for g in (0, 1)]
    assert tops[0] == pytest.approx(tops[1], abs=5e-3) and min(tops) > 0.09
    assert [simulation.holds(g).count for g in (0, 1)] == [25 - 12, 25 - 12] or min(
        simulation.holds(g).count for g in (0, 1)) > 0


def test_pins_go_by_one_clock():
    scene = lifted()
    scene["garments"][0]["pins"] = [{"name": "corner", "select": {"nodes": [0]}}]
    simulation = made(scene)
    simulation.advance(20)
    simulation.reset([1])
    begin = simulation.time
    for garment in (0, 1):
        simulation.set_pin_motion(garment, "corner", [begin, begin + 0.1], [[0, 0, 0], [0, 0, 0.05]])
    simulation.advance(10)
    heights = [simulation.positions(g)[0, 2] for g in (0, 1)]
    assert heights == pytest.approx([0.026, 0.026], abs=1e-9)


def test_poses_are_reached_and_turn_by_the_shorter_way():
    simulation = made(lifted(1))
    quarter = numpy.sqrt(0.5)
    simulation.set_body_poses("lift", [0, 0, -0.2], [quarter, 0, 0, quarter], duration=0.1)
    simulation.advance(10)
    half = simulation.body_poses("lift")[0]
    assert half[:3] == pytest.approx([0, 0, -0.125], abs=1e-12)
    assert half[3:] == pytest.approx([numpy.cos(numpy.pi / 8), 0, 0, numpy.sin(numpy.pi / 8)], abs=1e-12)
    simulation.advance(30)
    assert simulation.body_poses("lift")[0] == pytest.approx([0, 0, -0.2, quarter, 0, 0, quarter], abs=1e-12)


def test_a_full_turn_is_many_steps_of_quaternions():
    """Rotation vectors would have to be unwound by hand."""
    simulation = made(lifted(1))
    turned = 0
    before = simulation.body_poses("lift")[0, 3:]
    for angle in numpy.linspace(0, 4 * numpy.pi, 81)[1:]:
        simulation.set_body_poses("lift", [0, 0, -0.05], [numpy.cos(angle / 2), 0, 0, numpy.sin(angle / 2)])
        simulation.step()
        now = simulation.body_poses("lift")[0, 3:]
        turned += 2 * numpy.arccos(min(1.0, abs(before @ now)))
        before = now
    assert turned == pytest.approx(4 * numpy.pi, rel=1e-6)
    assert abs(simulation.velocities(0)).max() > 0.2  # the towel has been taken along


def test_velocities_go_on():
    simulation = made(lifted(1))
    simulation.set_body_poses("lift", [0, 0, -0.06], linear_velocities=[0, 0, -1], angular_velocities=[0, 0, 2])
    simulation.advance(11)
    pose = simulation.body_poses("lift")[0]
    assert pose[:3] == pytest.approx([0, 0, -0.11], abs=1e-12)
    assert 2 * numpy.arctan2(pose[6], pose[3]) == pytest.approx(0.1, abs=1e-12)


def test_each_world_has_its_own():
    simulation = made(lifted(3))
    assert simulation.worlds == [0, 1, 2]
    places = numpy.zeros((3, 1, 3))
    places[:, 0, 2] = [-0.05, 0.0, -0.1]
    simulation.set_body_poses(["lift"], places, duration=0.1)
    simulation.advance(60)
    assert [simulation.body_poses(world=w)[0, 2] for w in range(3)] == pytest.approx([-0.05, 0.0, -0.1])
    heights = [simulation.positions(g)[:, 2].mean() for g in range(3)]
    assert heights == pytest.approx([0.001, 0.051, -0.049], abs=2e-3)
    simulation.set_body_poses("lift", [0, 0, -0.05], worlds=[2], duration=0.1)
    simulation.advance(60)
    assert simulation.positions(2)[:, 2].mean() == pytest.approx(0.001, abs=2e-3)
    assert simulation.positions(1)[:, 2].mean() == pytest.approx(0.051, abs=2e-3)


def test_grippers_of_worlds_are_moved_in_one_call():
    scene = lifted(2)
    scene["garments"][0]["grippers"] = [{"name": "hand", "region": {"type": "sphere", "radius": 0.03},
                                         "position": [-0.1, -0.1, 0], "holds": []}]
    simulation = made(scene)
    for g in (0, 1):
        simulation.close_gripper(g, "hand")
    simulation.step()
    places = numpy.array([[[-0.1, -0.1, 0.05], [0, 0, -0.05]], [[-0.1, -0.1, 0.1], [0, 0, -0.07]]])
    simulation.set_body_poses(["hand", "lift"], places, duration=0.2)
    simulation.advance(40)
    assert simulation.gripper_poses(0)[0, 2] == pytest.approx(0.05)
    assert [simulation.positions(g)[0, 2] for g in (0, 1)] == pytest.approx([0.051, 0.101], abs=1e-6)
    assert simulation.body_poses("lift", world=1)[0, 2] == pytest.approx(-0.07)


def test_wrenches_are_those_of_weight():
    simulation = made(lifted(2, contact={"tolerance": 1e-4}, projection={"force_tolerance": 1e-6}))
    simulation.advance(200)
    wrenches = simulation.wrenches()
    assert wrenches.shape == (2, 1, 6)
    for w in range(2):
        own = weight(simulation, w)
        assert wrenches[w, 0, 2] == pytest.approx(-own, rel=1e-4)
        centre = simulation.positions(w).mean(0)
        assert abs(wrenches[w, 0, 3:]).max() < 0.02 * own and abs(centre[:2]).max() < 0.01
    points = simulation.contact_points()
    assert set(points["world"]) == {0, 1} and set(points["body"]) == {0}
    assert points["normal"] == pytest.approx(numpy.tile([0.0, 0, 1], (len(points), 1)), abs=1e-6)
    of_first = points[points["garment"] == 0]
    assert of_first["force"].sum(0) == pytest.approx(-wrenches[0, 0, :3], abs=1e-12)
    torque = numpy.cross(of_first["position"] - [0, 0, -0.05], -of_first["force"]).sum(0)
    assert torque == pytest.approx(wrenches[0, 0, 3:], abs=1e-12)
    assert (of_first["pressure"] * 0.2 * 0.2).mean() == pytest.approx(weight(simulation), rel=1.0)


def test_views_of_contacts_have_the_numbers_of_obstacles():
    simulation = made(lifted(2, obstacles=[{**LIFT, "name": "far", "position": [0, 0, -2]}, LIFT]))
    simulation.advance(10)
    [view] = simulation.views("contact_obstacles")
    assert set(numpy.unique([view.cloth(c) for c in range(2)])) == {-1, 1}


def test_friction_changes_while_it_runs_and_for_some():
    slope = {"name": "slope", "shape": {"type": "plane"}, "rotation_degrees": [0, 15, 0], "friction": {"static": 0.5}}
    scene = lifted(2, obstacles=[slope])
    scene["garments"][0]["transform"] = {"rotation": [0, 15, 0], "translation": [-0.1, -0.1, 0.03]}
    simulation = made(scene)
    simulation.advance(100)
    before = [simulation.positions(g).mean(0) for g in (0, 1)]
    simulation.set_friction("slope", 0.05, garments=1)
    simulation.advance(60)
    ways = [numpy.linalg.norm(simulation.positions(g).mean(0) - before[g]) for g in (0, 1)]
    assert ways[0] < 1e-3 and ways[1] > 0.05
    with pytest.raises(isocloth.SceneError, match="friction.dynamic: found 0.3"):
        simulation.set_friction("slope", 0.1, 0.3)


def test_friction_of_cloth_on_cloth_changes():
    def way(mu):
        scene = lifted(1, contact={"tolerance": 5e-4, "cloth": True, "cloth_friction": {"static": 0.6}}, gravity=9.8)
        scene["garments"] = [CLOTH, {**CLOTH, "transform": {"translation": [-0.1, -0.1, 0.0035]}}]
        simulation = made(scene)
        simulation.advance(40)
        simulation.set_cloth_friction(mu)
        force = numpy.zeros((25, 3))
        force[:, 0] = 0.3 * weight(simulation, 1) / 25
        simulation.set_forces(1, force)
        begin = simulation.positions(1)[:, 0].mean()
        simulation.advance(40)
        return simulation.positions(1)[:, 0].mean() - begin

    assert way(0.6) < 2e-3 and way(0.0) > 0.02


BALL = {"name": "ball", "shape": {"type": "sphere", "radius": 0.05}, "mass": 0.1, "position": [0.02, 0.02, 0.1],
        "friction": {"static": 0.3}}


@pytest.mark.parametrize("held", ["all", "rim", "all but one"])
def test_a_ball_lands_on_cloth_that_is_held(held):
    n = 9
    rim = [i for i in range(n * n) if i // n in (0, n - 1) or i % n in (0, n - 1)]
    select = {"all": {"all": True}, "rim": {"nodes": rim},
              "all but one": {"nodes": [i for i in range(n * n) if i != n * n // 2]}}[held]
    simulation = made({"step": 0.005, "duration": 5, "projection": {"on_violation": "continue"}, "bodies": [BALL],
                       "garments": [{"mesh": {"generator": "quad_grid", "nodes": [n, n], "size": [0.4, 0.4]},
                                     "transform": {"translation": [-0.2, -0.2, 0]},
                                     "fabric": {"preset": "cotton", "thickness": 0.002},
                                     "pins": [{"select": select}]}]})
    simulation.advance(200)
    height = simulation.body_poses("ball")[0, 2]
    assert (0.045 if held != "rim" else 0.03) < height < 0.053
    forces = []
    for _ in range(100):
        simulation.step()
        forces.append([simulation.body_wrenches()[0, 2], simulation.wrenches("ball")[0, 0, 2]])
    assert numpy.mean(forces, axis=0) == pytest.approx([0.1 * 9.8] * 2, rel=0.05)


def test_a_driven_cloth_takes_a_ball_along():
    times = numpy.linspace(0, 1, 101)
    speed = numpy.minimum(2 * times, 0.4)
    way = numpy.concatenate([[0], numpy.cumsum(speed[1:] * numpy.diff(times))])
    box = {"name": "box", "shape": {"type": "box", "size": [0.08, 0.08, 0.04], "rounding": 0.003}, "mass": 0.2,
           "position": [0, 0, 0.022], "friction": {"static": 0.6}}
    simulation = made({"step": 0.005, "duration": 5, "projection": {"on_violation": "continue"}, "bodies": [box],
                       "contact": {"tolerance": 1e-4},
                       "garments": [{"mesh": {"generator": "quad_grid", "nodes": [15, 9], "size": [0.6, 0.3]},
                                     "transform": {"translation": [-0.3, -0.15, 0]},
                                     "fabric": {"rho": 0.2, "kappa": 2e-5, "thickness": 0.002},
                                     "pins": [{"select": {"all": True},
                                               "motion": {"type": "keyframes", "times": times.tolist(),
                                                          "translations": [[x, 0, 0] for x in way]}}]}]})
    simulation.advance(200)
    assert simulation.body_velocities()[0, 0] == pytest.approx(0.4, abs=0.02)
    assert simulation.body_poses("box")[0, 0] == pytest.approx(way[-1], abs=0.01)


def fingers(mass=0.1, gap=0.0):
    """Two external fingers above and beneath a sheet in free space."""
    shape = {"type": "box", "size": [0.04, 0.04, 0.02], "rounding": 0.004}
    return {"step": 0.005, "duration": 10, "gravity": 0, "contact": {"tolerance": 1e-5},
            "projection": {"force_tolerance": 1e-6},
            "garments": [{**CLOTH, "transform": {"translation": [-0.1, -0.1, 0]}}],
            "bodies": [{"name": name, "shape": shape, "external": True, "position": [0, 0, z],
                        "friction": {"static": 0.5}} for name, z in (("upper", 0.0112), ("lower", -0.0112))]}


def test_external_bodies_press_with_the_forces_that_drive_them():
    simulation = made(fingers())
    mass, force, damping, h = 0.1, 1.0, 20.0, simulation.step_length
    inverse = numpy.diag(([1 / (mass + h * damping)] * 3 + [0] * 3) * 2)
    z, v = numpy.array([0.0112, -0.0112]), numpy.zeros(2)
    signs = numpy.array([-1.0, 1.0])
    peak = 0
    for _ in range(200):
        poses = numpy.zeros((2, 7))
        poses[:, 2], poses[:, 3] = z, 1
        free = poses.copy()
        speed = (mass * v + h * signs * force) / (mass + h * damping)
        free[:, 2] += h * speed
        simulation.set_external_motion(["upper", "lower"], poses, free, inverse)
        [report] = simulation.step()
        assert report.status == "converged"
        push = simulation.body_wrenches()[:, 2]
        found = simulation.body_poses(["upper", "lower"])[:, 2]
        # Exactly as the inverse inertia says.
        assert found == pytest.approx(free[:, 2] + push * h * h / (mass + h * damping), abs=1e-10)
        v, z, peak = (found - z) / h, found, max(peak, abs(push).max())
    assert push == pytest.approx([force, -force], rel=1e-3) and peak < 2
    assert simulation.wrenches()[0, :, 2] == pytest.approx(push, rel=1e-3)


def test_external_bodies_rest_where_nothing_is_said():
    simulation = made(fingers())
    before = simulation.body_poses()
    simulation.advance(20)
    assert (simulation.body_poses() == before).all()


@pytest.mark.parametrize(("call", "words"), [
    (lambda s: s.set_body_poses("hand", [0, 0, 0]), "body: found 'hand', expected an obstacle or a gripper: 'lift'"),
    (lambda s: s.set_body_poses("lift", [0, 0]), r"positions: found shape \(2,\)"),
    (lambda s: s.set_body_poses("lift", [0, 0, numpy.nan]), r"positions\[0\] of 'lift': found what is not finite"),
    (lambda s: s.set_body_poses("lift", [0, 0, 0], [0, 0, 0, 0]), r"quaternions\[0\] of 'lift': found a quaternion of"),
    (lambda s: s.set_body_poses("lift", [0, 0, 5]), r'obstacles\[0\] "lift": found a way of 5.05 m in a step'),
    (lambda s: s.set_body_poses("lift", [0, 0, 0], worlds=[7]), r"world: found 7, expected one of 2: 0, 1"),
    (lambda s: s.set_body_poses("lift", [0, 0, 0], worlds=[True, False]), "world: found True, expected one of 2"),
    (lambda s: s.set_body_poses("lift", [0, 0, 0], worlds=[1, 1]), r"worlds\[1\]: found 1, which is worlds\[0\]"),
    (lambda s: s.set_body_poses(["lift", "lift"], numpy.zeros((2, 3))), r"bodies\[1\]: found 'lift', which is bodies"),
    (lambda s: s.set_body_poses(1.5, [0, 0, 0]), "bodies: found 1.5, expected numbers or names"),
    (lambda s: s.set_friction("lift", "a"), "friction.static: found 'a', expected a number >= 0"),
    (lambda s: s.set_body_poses(["lift"], numpy.zeros((5, 1, 3))), r"positions: found 5 worlds, expected 2"),
    (lambda s: s.set_body_poses("lift", "here"), "positions: found no array of numbers"),
    (lambda s: s.set_external_motion("lift", numpy.eye(1, 7), numpy.eye(1, 7), numpy.eye(6)), "which is an obst"),
    (lambda s: s.set_friction("lift", -1), "friction.static: found -1"),
])
def test_what_is_wrong_is_named_and_changes_nothing(call, words):
    simulation = made(lifted())
    before = simulation.body_poses()
    with pytest.raises((isocloth.ShapeError, isocloth.SceneError), match=words):
        call(simulation)
    simulation.step()
    assert (simulation.body_poses() == before).all()


def test_external_motion_is_checked():
    simulation = made(fingers())
    poses = numpy.tile([0, 0, 0.0112, 1, 0, 0, 0], (2, 1))
    for inverse, words in ((numpy.eye(6), r"inverse_inertia: found shape \(6, 6\), expected \(12, 12\)"),
                           (-numpy.eye(12), "inverse_inertia: found an eigenvalue of -1"),
                           (numpy.triu(numpy.ones((12, 12))), "inverse_inertia: found entries that differ"),
                           (numpy.full((12, 12), numpy.nan), "inverse_inertia: found what is not finite")):
        with pytest.raises(isocloth.ShapeError, match=words):
            simulation.set_external_motion(["upper", "lower"], poses, poses, inverse)
    with pytest.raises(isocloth.ShapeError, match="already, expected each once"):
        simulation.set_external_motion(["upper", "upper"], poses, poses, numpy.eye(12))
    with pytest.raises(isocloth.SceneError, match="found mass of an external body, expected neither"):
        scene = fingers()
        scene["bodies"][0]["mass"] = 1
        made(scene)
