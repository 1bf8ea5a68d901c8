"""Forces that are computed in Python, beside commands, closed forms and what they may do wrong."""

import gc
import threading
import weakref

import isocloth
import numpy
import pytest


@pytest.fixture
def free(sheet):
    """A sheet that nothing acts on."""
    sheet["gravity"] = 0
    sheet["garments"][0] |= {
        "pins": [],
        "fabric": {"density": 0.2, "gravity_density": 0.2, "mass_damping": 0, "stiffness_damping": 0}}
    return sheet


def test_a_constant_force_has_the_bits_of_a_given_one(batch):
    computed, given = isocloth.Simulation(batch), isocloth.Simulation(batch)
    force = numpy.full((35, 3), [1e-4, 2e-4, -1e-4])
    computed.add_force(lambda state: numpy.broadcast_to(force, state.positions.shape), [1, 4], "constant")
    for garment in (1, 4):
        given.set_forces(garment, force)
    computed.advance(5)
    computed.step()
    given.advance(6)
    numpy.testing.assert_array_equal(computed.positions(slice(None)), given.positions(slice(None)))
    computed.remove_force("constant")
    assert computed.forces == []


def test_mass_times_gravity_is_gravity(free):
    light = isocloth.Simulation(free)
    heavy = isocloth.Simulation(free | {"gravity": 9.8})
    light.add_force(lambda state: state.masses[..., None] * numpy.array([0, 0, -9.8]), name="gravity")
    light.advance(10)
    heavy.advance(10)
    numpy.testing.assert_allclose(light.velocities(), heavy.velocities(), rtol=0, atol=1e-10)
    assert heavy.velocities()[0, 2] < -0.9


def test_the_state_is_that_of_the_garments(batch):
    batch["garments"].append({"name": "other", "mesh": {"generator": "quad_grid", "nodes": [4, 4], "size": [0.2, 0.2]}})
    simulation = isocloth.Simulation(batch)
    seen = []

    @simulation.add_force
    def watch(state):
        seen.append((state, threading.current_thread()))
        with pytest.raises(isocloth.Error, match="asks a force"):
            simulation.positions()
        with pytest.raises(ValueError):
            state.positions[0, 0, 0] = 1
        return numpy.zeros(state.positions.shape)

    before = simulation.positions(slice(0, 6))
    simulation.advance(2)
    between, velocities = simulation.positions(slice(0, 6)), simulation.velocities(slice(0, 6))
    simulation.reset([2])
    simulation.advance(2)
    assert simulation.forces == ["watch"]
    assert [state.garments for state, _ in seen] == [[0, 1, 2, 3, 4, 5], [6]] * 4
    assert {thread for _, thread in seen} == {threading.current_thread()}
    numpy.testing.assert_array_equal(seen[0][0].positions, before)
    third = seen[4][0]
    others = [0, 1, 3, 4, 5]
    numpy.testing.assert_array_equal(third.positions[others], between[others])
    numpy.testing.assert_array_equal(third.velocities[others], velocities[others])
    numpy.testing.assert_allclose(third.times, [0.02, 0.02, 0, 0.02, 0.02, 0.02], atol=1e-15)
    assert third.step_length == 0.01 and third.masses.shape == (6, 35)
    assert seen[1][0].positions.shape == (1, 16, 3)


# x_{n+1} = (2 x_n - x_{n-1} + w^2 a) / (1 + w^2) of backward Euler, of every shape that a stiffness may have.
@pytest.mark.parametrize("shape", ["nodes", "axes", "tensors"])
def test_a_stiff_spring_is_backward_euler(free, shape):
    free["projection"] = {"integrator": "backward_euler"}
    simulation = isocloth.Simulation(free)
    start = simulation.positions()
    anchor, omega2 = start + [0.01, 0.02, -0.01], 1e6

    def spring(state):
        k = state.masses * omega2
        stiffness = {"nodes": k, "axes": k[..., None] * numpy.ones(3),
                     "tensors": k[..., None, None] * numpy.eye(3)}[shape]
        return isocloth.SlopedForce(k[..., None] * (anchor - state.positions), stiffness)

    simulation.add_force(spring)
    w2 = omega2 * 0.01**2
    before = now = 0.0
    for _ in range(4):
        simulation.step()
        before, now = now, (2 * now - before + w2) / (1 + w2)
        numpy.testing.assert_allclose(simulation.positions(), start + now * (anchor - start), rtol=0, atol=1e-11)
    assert now > 0.99


def test_damping_is_backward_euler(free):
    free["projection"] = {"integrator": "backward_euler"}
    simulation = isocloth.Simulation(free)
    simulation.write("velocities", numpy.full((35, 3), [1.0, 0, 0]))
    simulation.add_force(lambda s: isocloth.SlopedForce(
        -50 * s.masses[..., None] * s.velocities, damping=50 * s.masses), name="drag")
    simulation.advance(3)
    numpy.testing.assert_allclose(simulation.velocities(), numpy.full((35, 3), [1.5**-3, 0, 0]), rtol=0, atol=1e-11)


@pytest.mark.parametrize("steps", [1, 5])
def test_what_a_force_raises_is_raised_with_the_state_before(sheet, steps):
    simulation, same = isocloth.Simulation(sheet), isocloth.Simulation(sheet)
    simulation.step()
    same.step()

    def magnet(state):
        if state.times[0] > 0.025:
            raise KeyError("pole")
        return numpy.zeros(state.positions.shape)

    simulation.add_force(magnet)
    same.add_force(lambda state: numpy.zeros(state.positions.shape))
    with pytest.raises(KeyError, match="pole") as caught:
        while True:
            simulation.advance(steps)
    if hasattr(caught.value, "add_note"):  # Python 3.11
        assert caught.value.__notes__ == ["in the force \"magnet\" at t = 0.03 s"]
    assert any(entry.name == "magnet" for entry in caught.traceback)
    assert simulation.step_index == 3
    same.advance(2)
    numpy.testing.assert_array_equal(simulation.positions(), same.positions())
    simulation.remove_force("magnet")
    simulation.step()
    assert simulation.step_index == 4


@pytest.mark.parametrize("spoil, text", [
    (lambda f: f[0], r"force \"bad\" at t = 0 s: forces: found shape \(35, 3\), expected \(1, 35, 3\)"),
    (lambda f: None, "forces: found"),
    (lambda f: "none", "found no array of numbers"),
    (lambda f: f + numpy.nan, r"force \"bad\" at t = 0 s, garments\[0\] \"sheet\", node 0: found \(nan, nan, nan\)"),
    (lambda f: isocloth.SlopedForce(f, numpy.ones(35)), r"stiffness: found shape \(35,\), expected \(\) or \(1, 35\)"),
    (lambda f: isocloth.SlopedForce(f, damping=-1), "node 0: found a damping with a negative eigenvalue"),
    (lambda f: isocloth.SlopedForce(f, numpy.full((1, 35), numpy.inf)), "node 0: found a stiffness"),
])
def test_what_is_no_force_is_refused(sheet, spoil, text):
    simulation = isocloth.Simulation(sheet)
    before = simulation.positions()
    simulation.add_force(lambda state: spoil(numpy.zeros(state.positions.shape)), name="bad")
    with pytest.raises(isocloth.ForceError, match=text):
        simulation.step()
    numpy.testing.assert_array_equal(simulation.positions(), before)


def test_names_and_garments_are_checked(sheet):
    simulation = isocloth.Simulation(sheet)
    simulation.add_force(lambda s: numpy.zeros(s.positions.shape), name="there")
    for call, text in ((lambda: simulation.add_force(len, name="there"), "\"there\": found another"),
                       (lambda: simulation.add_force(7), "found 7, expected a function"),
                       (lambda: simulation.add_force(len, [1]), "garment: found 1, expected 0 to 0"),
                       (lambda: simulation.add_force(len, []), "garments: found none"),
                       (lambda: simulation.remove_force("magnet"), "found \"magnet\", expected one of \"there\"")):
        with pytest.raises(isocloth.ShapeError, match=text):
            call()
    assert simulation.forces == ["there"]
    simulation.step()
    with pytest.raises(isocloth.SceneError, match="force \"there\""):
        isocloth.Tape(simulation)


def test_ctrl_c_ends_a_run_with_forces(sheet, interrupt_when):
    simulation, asked = isocloth.Simulation(sheet), []

    def idle(state):
        asked.append(state.times[0])
        return numpy.zeros(state.positions.shape)

    simulation.add_force(idle)
    interrupt_when(lambda: len(asked) > 5)
    with pytest.raises(KeyboardInterrupt):
        simulation.advance(10_000_000)
    done = simulation.step_index
    assert 5 <= done < 10_000_000
    simulation.step()
    assert simulation.step_index == done + 1


def test_threads_step_side_by_side(sheet):
    def run(force):
        simulation = isocloth.Simulation(sheet, threads=1)
        simulation.add_force(lambda state: numpy.full(state.positions.shape, force), name="push")
        simulation.advance(100)
        return simulation.positions()

    alone = [run(f) for f in (1e-4, 2e-4)]
    found = {}
    threads = [threading.Thread(target=lambda f=f: found.update({f: run(f)})) for f in (1e-4, 2e-4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for expected, force in zip(alone, (1e-4, 2e-4)):
        numpy.testing.assert_array_equal(found[force], expected)


def test_a_force_that_knows_its_simulation_is_collected(sheet):
    simulation = isocloth.Simulation(sheet)
    simulation.add_force(lambda state, own=simulation: numpy.zeros(state.positions.shape), name="own")
    simulation.step()
    gone = weakref.ref(simulation._forces)
    del simulation
    gc.collect()
    assert gone() is None
