"""Pickles and copies of simulations and snapshots."""

import copy
import json
import pickle

import isocloth
import numpy
import pytest

TOWELS = {
    "step": 0.01, "duration": 1, "contact": {"tolerance": 0.0005},
    "garments": [{
        "name": "towel", "replicas": 3, "mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.4, 0.4]},
        "transform": {"translation": [-0.2, -0.2, 0.01]}, "fabric": {"preset": "cotton"},
        "grippers": [{"name": "hand", "region": {"type": "sphere", "radius": 0.15}, "position": [-0.2, -0.2, 0]}],
        "pins": [{"select": {"nodes": [24]}}]}],
    "obstacles": [{"name": "table", "friction": {"static": 0.4},
                   "shape": {"type": "table", "size": [2, 2], "thickness": 0.04, "rounding": 0.01}}]}


def commanded(scene=TOWELS, **options):
    """One that all kinds of commands have changed."""
    simulation = isocloth.Simulation(scene, **options)
    simulation.advance(5)
    simulation.set_fabric(1, density=0.3, gravity_density=0.3)
    simulation.close_gripper(2, "hand")
    simulation.set_gripper_motion(2, 0, [0.05, 0.3], [[0, 0, 0], [0, 0, 0.1]])
    simulation.close_gripper(1, "hand")
    simulation.advance(3)
    simulation.open_gripper(1, "hand")
    simulation.move_pin(0, 0, [[0.1, 0.1, 0.1]], 0.2)
    simulation.set_gravity(0, 5.0)
    simulation.set_forces(1, numpy.full((25, 3), 1e-3))
    simulation.reset([0])
    return simulation


def bits(simulation):
    return pickle.dumps(simulation.snapshot())


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_copies_go_on_bit_for_bit(copied, precision):
    simulation = commanded(precision=precision)
    other = copied(simulation)
    assert bits(other) == bits(simulation)
    simulation.advance(20)
    assert bits(other) != bits(simulation)
    other.advance(20)
    assert bits(other) == bits(simulation)
    assert other.time == simulation.time and other.garment_time(0) == simulation.garment_time(0)
    assert other.fabric(1) == simulation.fabric(1)


def test_snapshots_are_pickled():
    simulation = commanded()
    snapshot = pickle.loads(pickle.dumps(simulation.snapshot()))
    then = simulation.positions(2)
    simulation.advance(5)
    simulation.restore(snapshot)
    numpy.testing.assert_array_equal(simulation.positions(2), then)
    assert pickle.dumps(copy.deepcopy(snapshot)) == pickle.dumps(snapshot)
    for state, text in ((b"x" * 100, "found bytes of another version"), (snapshot.__getstate__()[:-1], "end too soon")):
        with pytest.raises(isocloth.FileError, match=text):
            isocloth.Snapshot.__new__(isocloth.Snapshot).__setstate__(state)


def test_files_must_be_the_same(tmp_path):
    path = tmp_path / "towels.json"
    path.write_text(json.dumps(TOWELS))
    pickled = pickle.dumps(commanded(path))
    assert pickle.loads(pickled).garment_count == 3
    path.write_text(json.dumps(TOWELS | {"step": 0.005}))
    with pytest.raises(isocloth.FileError, match="found another text"):
        pickle.loads(pickled)


def pulled(state):
    return numpy.full(state.positions.shape, 1e-3)


def test_forces_go_with_them():
    simulation = commanded()
    simulation.add_force(pulled, garments=[1])
    other = pickle.loads(pickle.dumps(simulation))
    assert other.forces == ["pulled"]
    simulation.advance(5), other.advance(5)
    assert bits(other) == bits(simulation)
    other.remove_force("pulled")
    assert simulation.forces == ["pulled"]


def test_obstacles_and_wind_go_with_them():
    simulation = isocloth.Simulation(TOWELS)
    simulation.set_obstacle_motion(0, [0, 0.2], [[0, 0, 0], [0, 0, 0.1]])
    simulation.set_wind([1, 0, 0])
    simulation.advance(3)
    other = copy.deepcopy(simulation)
    simulation.advance(10), other.advance(10)
    assert bits(other) == bits(simulation)
    numpy.testing.assert_array_equal(other.obstacle_poses(), simulation.obstacle_poses())
    numpy.testing.assert_array_equal(other.wind_velocity, [1, 0, 0])


def test_sums_of_energies_do_not():
    with pytest.raises(isocloth.Error, match="energy_balance"):
        pickle.dumps(isocloth.Simulation(TOWELS, energy_balance=True))
