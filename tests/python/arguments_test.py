"""What calls say whose arguments do not fit, and what names, sizes and clocks they take."""

import ast
import inspect

import isocloth
import numpy
import pytest
from isocloth import _arguments, _core

HUGE = numpy.broadcast_to(0.0, (10**9, 3))  # of 24 bytes, until somebody copies it
MANY = numpy.broadcast_to(0, (10**9,))


@pytest.fixture
def room(sheet):
    """Two sheets with grippers, an obstacle and a body."""
    sheet["garments"][0]["grippers"] = [{"name": "hand", "region": {"type": "sphere", "radius": 0.05},
                                         "position": [0, 0.2, 0], "holds": []}]
    sheet["garments"][0]["fabric"] = {"bending_stiffness": 1e-4, "mass_damping": 1}
    sheet["garments"].append({**sheet["garments"][0], "name": "other", "transform": {"translation": [0, 0, 0.5]},
                              "grippers": [{**sheet["garments"][0]["grippers"][0], "position": [0, 0.2, 0.5]}]})
    sheet["obstacles"] = [{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "position": [0, 0, -1]}]
    sheet["bodies"] = [{"name": "box", "shape": {"type": "box", "size": [0.2, 0.2, 0.2]}, "mass": 1,
                        "position": [3, 0, 0]}]
    return sheet


@pytest.fixture
def simulation(room):
    return isocloth.Simulation(room, threads=1)


def test_names_stand_for_numbers(room):
    by_name, by_number = isocloth.Simulation(room, threads=1), isocloth.Simulation(room, threads=1)
    way = [[0, 0, 0], [0.1, 0, 0.1]]
    for simulation, other, hand, ball, box, corners in ((by_name, "other", "hand", "ball", "box", "corners"),
                                                        (by_number, numpy.int64(-1), 0, 0, -1, numpy.array(0))):
        simulation.set_obstacle_motion(ball, [0, 1], way)
        simulation.set_gripper_motion(other, hand, [0, 1], way)
        simulation.close_gripper(other, hand)
        simulation.set_body_velocity(box, [1, 0, 0], [0, 0, 1])
        simulation.move_pin(other, corners, [[0, 0, 0.6], [0.3, 0, 0.6]], 0.05)
        simulation.set_gravity(other, 3.0)
        simulation.set_fabric(other, bending_stiffness=1e-3)
        simulation.set_fabrics([other], mass_damping=2)
        simulation.set_forces(other, numpy.full((35, 3), 1e-4))
        simulation.advance(10)
        simulation.reset([other])
        simulation.advance(3)
        assert simulation.garment_time(other) == pytest.approx(0.03) and not simulation.frozen(other)
        assert simulation.holds(other).count > 0 and simulation.info(other).node_count == 35
        assert simulation.positions([other]).shape == (1, 35, 3) and simulation.positions(other).shape == (35, 3)
        assert simulation.gravity(other) == 3 and len(simulation.pin_nodes(other)) == 1
    numpy.testing.assert_array_equal(by_name.positions(1), by_number.positions(1))
    numpy.testing.assert_array_equal(by_name.obstacle_poses(), by_number.obstacle_poses())
    by_name.write("positions", by_name.positions("sheet"), "sheet")
    by_name.add_force(lambda state: numpy.zeros(state.positions.shape), "sheet", "none")
    by_name.step()


def test_of_a_batch_names_are_told_apart(batch):
    simulation = isocloth.Simulation(batch)
    names = simulation.garment_names
    for number, name in enumerate(names):
        if names.count(name) == 1:
            numpy.testing.assert_array_equal(simulation.positions(name), simulation.positions(number))
        else:
            with pytest.raises(isocloth.ShapeError, match="expected a number"):
                simulation.positions(name)


@pytest.mark.parametrize("wrong", ["nosuch", "", "\ud800", "ball\0", 7, -3, 10**30, -10**30, 1.0, True, [0],
                                   numpy.array([0, 1]), {}, object()])
def test_what_is_none_of_them_is_said(simulation, wrong):
    calls = {"garment": [lambda: simulation.info(wrong), lambda: simulation.contacts(wrong),
                         lambda: simulation.set_gravity(wrong, 1.0), lambda: simulation.set_forces(wrong, None),
                         lambda: simulation.garment_time(wrong), lambda: simulation.rest_positions(wrong),
                         lambda: simulation.membrane_stress(wrong, numpy.zeros((0, 3)), numpy.zeros((0, 3)))],
             "obstacle": [lambda: simulation.set_obstacle_motion(wrong, [0])],
             "body": [lambda: simulation.set_body_velocity(wrong, [0, 0, 0], [0, 0, 0])],
             "gripper": [lambda: simulation.close_gripper(0, wrong), lambda: simulation.open_gripper("other", wrong),
                         lambda: simulation.set_gripper_motion(0, wrong, [0])],
             "pin": [lambda: simulation.set_pin_motion(0, wrong, [0])]}
    for what, own in calls.items():
        for call in own:
            with pytest.raises(isocloth.ShapeError, match=f"^{what}: found .*, expected 0 to . or a name: "):
                call()


@pytest.mark.parametrize("call, text", [
    (lambda s: s.advance("x"), "Simulation.advance: steps: found 'x', expected an integer"),
    (lambda s: s.advance(10**12), "Simulation.advance: steps: found 1000000000000, expected an integer from -"),
    (lambda s: s.advance(), r"Simulation.advance: missing .*'steps', expected Simulation.advance\(steps\)"),
    (lambda s: s.step(1), r"Simulation.step: too many positional arguments, expected Simulation.step\(\)"),
    (lambda s: s.move_pin(0, 0, [[0, 0, 0]] * 2, "soon"), "Simulation.move_pin: duration: found 'soon', expected a n"),
    (lambda s: s.set_gravity(0, None), "Simulation.set_gravity: gravity: found None, expected a number"),
    (lambda s: s.set_obstacle_motion(None, [0]), "Simulation.set_obstacle_motion: obstacle: found None, expected an"),
    (lambda s: s.set_wind([0, 0, 0], "strong"), "Simulation.set_wind: gusts: found 'strong', expected a number or Non"),
    (lambda s: s.restore(None), "Simulation.restore: snapshot: found None, expected isocloth.Snapshot"),
    (lambda s: s.read(3), "Simulation.read: field: found 3, expected a text"),
    (lambda s: s.views(3), "Simulation.views: field: found 3, expected a text"),
    (lambda s: isocloth.Tape(3), "Tape: simulation: found 3, expected isocloth.Simulation"),
    (lambda s: isocloth.Simulation({"step": 1}, threads="x"), "Simulation: threads: found 'x', expected an integer"),
    (lambda s: isocloth.run({"step": 1}, backend=3), "run: backend: found 3, expected a text"),
])
def test_arguments_that_do_not_fit_are_named(simulation, call, text):
    with pytest.raises(TypeError, match="^" + text) as raised:
        call(simulation)
    assert "\n" not in str(raised.value)


def functions():
    for name, value in vars(_core).items():
        for method, function in vars(value).items() if isinstance(value, type) else ((name, value),):
            function = inspect.unwrap(function.__func__ if isinstance(function, staticmethod) else function)
            if type(function).__name__ in ("nb_func", "nb_method"):
                yield f"{name}.{method}", function


def test_every_bound_function_has_such_a_text():
    count = 0
    for name, function in functions():
        if name.split(".")[1].startswith("__") and not name.endswith("__init__"):
            continue
        signature = _arguments._signature(function)
        arguments = [object()] * 40
        text = _arguments._message(name, signature, arguments, {})
        assert text.startswith(name + ": ") and "\n" not in text
        for parameter in signature.parameters.values():
            if isinstance(parameter.annotation, str) and parameter.annotation:
                ast.parse(parameter.annotation)
        count += 1
    assert count > 60
    for name, value in vars(_core).items():  # none was left as it is
        assert type(value).__name__ not in ("nb_func", "nb_method"), name
        if isinstance(value, type):
            assert not [m for m, f in vars(value).items() if type(f).__name__ in ("nb_func", "nb_method")], name


def test_what_is_bound_has_a_repr(simulation):
    plain = {"step": 0.01, "duration": 1, "garments": [
        {"mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.4, 0.4]}}]}
    classes = [value for value in map(vars(isocloth).get, isocloth.__all__)
               if isinstance(value, type) and value.__module__ == "isocloth._core"]
    assert isocloth.ContactMeasures in classes and len(classes) >= 8
    assert all("__repr__" in vars(value) for value in classes), classes
    simulation.step()
    for thing, start in ((simulation, "Simulation(garments=2, step_index=1, time=0.01)"),
                         (simulation.contacts(0), "ContactMeasures(count=0, force=[0, 0, 0], rubbing=0"),
                         (simulation.holds(0), "HoldMeasures(count=0, force=[0, 0, 0])"),
                         (simulation.info(0), "GarmentInfo(node_count=35"),
                         (simulation.snapshot(), "Snapshot(garments=2"),
                         (simulation.measures()[0], "Measures(residual="), (simulation.strains()[0], "Strain(max="),
                         (isocloth.Tape(isocloth.Simulation(plain)), "Tape(Simulation(garments=1")):
        assert repr(thing).startswith(start), repr(thing)
    assert repr(simulation.step()[0]).startswith("StepReport(status='converged'")


def test_sizes_are_looked_at_before_anything_is_copied(simulation):
    """Of arrays of 24 GB, which would take the process with them."""
    for call in (lambda: simulation.set_forces(0, HUGE), lambda: simulation.write("positions", HUGE),
                 lambda: simulation.move_pin(0, 0, HUGE, 1.0), lambda: simulation.set_obstacle_motion(0, MANY, HUGE),
                 lambda: simulation.set_obstacle_motion(0, [0], HUGE),
                 lambda: simulation.set_pin_motion(0, 0, [0, 1], rotations=HUGE),
                 lambda: simulation.set_gripper_motion(0, 0, [0, 1], center=MANY),
                 lambda: simulation.membrane_stress(0, HUGE, HUGE), lambda: simulation.set_wind(MANY),
                 lambda: simulation.set_body_velocity(0, HUGE, [0, 0, 0]),
                 lambda: simulation.set_fabric(0, bending_stiffness=MANY),
                 lambda: simulation.set_fabrics(MANY, bending_stiffness=1),
                 lambda: simulation.set_fabrics(range(10**12), bending_stiffness=1),
                 lambda: simulation.read("positions", MANY), lambda: simulation.positions(MANY),
                 lambda: simulation.reset(MANY), lambda: simulation.add_force(len, MANY),
                 lambda: isocloth.save_mesh("x.obj", HUGE, []),
                 lambda: isocloth.save_recording("x.csv", [0], HUGE[None])):
        with pytest.raises(isocloth.ShapeError, match="found .*, expected"):
            call()
    simulation.add_force(lambda state: numpy.broadcast_to(0.0, (10**5, 10**4, 3)), name="huge")
    with pytest.raises(isocloth.ForceError, match=r"found shape \(100000, 10000, 3\), expected \(2, 35, 3\)"):
        simulation.step()


def test_sizes_of_losses_are_looked_at_first(sheet):
    tape = isocloth.Tape(isocloth.Simulation(sheet))
    tape.step()
    with pytest.raises(isocloth.ShapeError, match=r"positions: found shape \(2, 1000000000, 3\), expected \(2, 3"):
        tape.gradient(numpy.broadcast_to(0.0, (2, 10**9, 3)))
    function = isocloth.RunFunction(sheet, 2)
    with pytest.raises(isocloth.ShapeError, match="forces: found shape"):
        function.run(forces=HUGE)


def test_what_memory_does_not_hold_is_a_memory_error(simulation):
    class Array:
        shape = (35, 3)

        def __array__(self, *_, **__):
            raise MemoryError("none left")

    with pytest.raises(MemoryError, match="none left"):
        simulation.set_forces(0, Array())
