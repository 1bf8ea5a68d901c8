"""Simulations step by step, beside what their own reports, files and the command say of them."""

import os
import signal
import threading
import time
import warnings

import isocloth
import numpy
import pytest


def test_a_free_sheet_falls(sheet):
    sheet["garments"][0]["pins"] = []
    sheet["projection"] = {"integrator": "backward_euler"}
    simulation = isocloth.Simulation(sheet)
    start = simulation.positions()
    simulation.advance(10)
    h = sheet["step"]
    fall = -9.8 * h * h * 10 * 11 / 2  # of backward Euler: sum of h v_i, v_i = i h g
    moved = simulation.positions() - start
    assert simulation.time == pytest.approx(0.1)
    assert numpy.abs(moved[:, :2]).max() < 1e-12
    # The gravity of a scene's default is read off it, not known here.
    gravity = moved[0, 2] / (h * h * 55)
    assert -9.9 < gravity < -9.7 and numpy.ptp(moved[:, 2]) < 1e-12 and abs(moved[0, 2] - fall) < 0.01 * abs(fall)


def test_nothing_selected_is_an_empty_array(sheet):
    simulation = isocloth.Simulation(sheet)
    for chosen in ([], slice(0, 0)):
        assert simulation.positions(chosen).shape == (0, 0, 3)
        assert simulation.velocities(chosen).shape == (0, 0, 3)


def test_reports_and_measures_are_those_of_the_positions(sheet):
    simulation = isocloth.Simulation(sheet)
    reports = simulation.advance(20)
    assert [r.status for r in reports] == ["converged"]
    positions, faces = simulation.positions(), simulation.faces(0)
    rest = isocloth.Simulation(sheet).positions()
    edges = {tuple(sorted((a, b))) for face in faces for a, b in zip(face, numpy.roll(face, -1)) if a >= 0 and b >= 0}
    edges = numpy.array(sorted(edges))
    lengths = numpy.linalg.norm(positions[edges[:, 0]] - positions[edges[:, 1]], axis=1)
    at_rest = numpy.linalg.norm(rest[edges[:, 0]] - rest[edges[:, 1]], axis=1)
    [strain] = simulation.strains()
    assert strain.max == pytest.approx(numpy.abs(lengths / at_rest - 1).max(), abs=1e-12)
    [measures] = simulation.measures()
    assert measures.kinetic_energy > 0
    assert measures.linear_momentum.shape == (3,)


def test_views_are_where_the_engine_computes(batch):
    simulation = isocloth.Simulation(batch)
    simulation.advance(5)
    copies = simulation.positions(slice(None))
    assert copies.shape == (6, 35, 3)
    seen = 0
    for view in simulation.views("positions"):
        for number, garment in enumerate(view.garments):
            cloth = view.cloth(number)
            assert numpy.shares_memory(cloth, view.array)
            numpy.testing.assert_array_equal(cloth, copies[garment])
            seen += 1
    assert seen == 6
    view = simulation.views("velocities")[0]
    view.cloth(0)[:] = 0.0
    assert not simulation.velocities(view.garments[0]).any()
    assert not numpy.from_dlpack(view.array)[0, 0].any()
    with pytest.raises(IndexError, match="found 6, expected 0 to 5"):
        view.cloth(6)


def test_views_keep_the_simulation_alive(sheet):
    view = isocloth.Simulation(sheet).views("positions")[0]
    assert numpy.isfinite(view.cloth(0)).all()


def test_a_device_is_chosen_and_named_by_views(sheet):
    with pytest.raises(isocloth.DeviceError, match='device: found 1, expected 0 where the backend is "cpu"'):
        isocloth.Simulation(sheet, device=1)
    try:
        simulation = isocloth.Simulation(sheet, backend="cuda", device=1)
    except isocloth.DeviceError as error:
        pytest.skip(f"no two GPUs: {error}")
    cuda = 2  # kDLCUDA
    for view in simulation.views("positions"):
        assert view.array.__dlpack_device__() == (cuda, 1)


def test_write_and_snapshots_go_back_bit_for_bit(batch):
    simulation = isocloth.Simulation(batch)
    simulation.advance(5)
    snapshot = simulation.snapshot()
    simulation.advance(5)
    ahead = simulation.positions(slice(None))
    simulation.restore(snapshot)
    simulation.advance(5)
    numpy.testing.assert_array_equal(simulation.positions(slice(None)), ahead)
    simulation.reset([1, 4])
    now = simulation.positions(slice(None))
    fresh = isocloth.Simulation(batch).positions(slice(None))
    numpy.testing.assert_array_equal(now[[1, 4]], fresh[[1, 4]])
    numpy.testing.assert_array_equal(now[[0, 2, 3, 5]], ahead[[0, 2, 3, 5]])
    simulation.write("positions", ahead[[1, 4]].reshape(-1, 3), [1, 4])
    numpy.testing.assert_array_equal(simulation.positions([1, 4]), ahead[[1, 4]])
    spoiled = ahead[0].copy()
    spoiled[3, 1] = numpy.nan
    with pytest.raises(isocloth.ShapeError):
        simulation.write("positions", spoiled, [0])
    numpy.testing.assert_array_equal(simulation.positions(0), ahead[0])


def test_a_forked_process_goes_on(sheet):
    sheet["garments"][0]["mesh"]["nodes"] = [33, 33]  # work for both threads
    simulation = isocloth.Simulation(sheet, threads=2)
    simulation.advance(2)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60)
        positions = simulation.positions()
        simulation.advance(3)
        moved = not numpy.array_equal(simulation.positions(), positions)
        del simulation
        os._exit(0 if moved else 1)
    assert os.waitpid(child, 0)[1] == 0
    simulation.advance(3)


def test_commands_have_the_bits_of_the_scene_that_says_so(batch):
    times, ways = [0.0, 0.2], [[0, 0, 0], [0.05, 0, 0.1]]
    told = isocloth.Simulation(batch)
    for g in range(6):
        told.set_pin_motion(g, 0, times, ways)
        told.set_fabric(g, bending_stiffness=3e-5)
    told.set_fabrics(range(6), density=0.3, gravity_density=numpy.full(6, 0.3))
    told.advance(20)
    batch["garments"][0]["pins"][0]["motion"] = {"type": "keyframes", "times": times, "translations": ways}
    batch["garments"][0]["fabric"] = {"bending_stiffness": 3e-5, "density": 0.3, "gravity_density": 0.3}
    del batch["garments"][0]["vary"]
    said = isocloth.Simulation(batch)
    said.advance(20)
    numpy.testing.assert_array_equal(told.positions(slice(None)), said.positions(slice(None)))


def test_grippers_take_and_leave(sheet):
    sheet["garments"][0]["pins"] = []
    sheet["garments"][0]["grippers"] = [
        {"name": "hand", "position": [0, 0, 0], "region": {"type": "sphere", "radius": 0.03}, "holds": []}]
    simulation = isocloth.Simulation(sheet)
    simulation.close_gripper(0, 0)
    simulation.set_gripper_motion(0, 0, [0.0, 0.1], [[0, 0, 0], [0, 0, 0.05]])
    simulation.advance(10)
    assert simulation.holds(0).count == 1
    numpy.testing.assert_allclose(simulation.positions()[0], [0, 0, 0.05], atol=1e-6)
    simulation.open_gripper(0, 0)
    simulation.advance(10)
    assert simulation.holds(0).count == 0
    assert simulation.positions()[0, 2] < 0.05


def test_threads_run_simulations_side_by_side(sheet):
    sheet["garments"][0]["mesh"]["nodes"] = [17, 17]
    steps, asked = threading.Event(), threading.Event()

    def wait(state):
        steps.set()
        asked.wait(60)
        return numpy.zeros(state.positions.shape)

    alone, *others = [isocloth.Simulation(sheet, threads=1) for _ in range(3)]
    for simulation, force in ((alone, lambda state: numpy.zeros(state.positions.shape)), (others[0], wait),
                              (others[1], lambda state: numpy.zeros(state.positions.shape))):
        simulation.add_force(force, name="none")
    alone.advance(50)
    threads = [threading.Thread(target=s.advance, args=(50,)) for s in others]
    for t in threads:
        t.start()
    steps.wait(60)
    with pytest.raises(isocloth.Error, match="stepping in another thread"):
        others[0].positions()
    asked.set()
    for t in threads:
        t.join()
    for s in others:
        numpy.testing.assert_array_equal(s.positions(), alone.positions())


def test_ctrl_c_ends_a_long_step(sheet, interrupt_when):
    sheet["garments"][0]["mesh"]["nodes"] = [33, 33]
    simulation = isocloth.Simulation(sheet)

    def steps():
        try:
            return simulation.step_index < 0
        except isocloth.Error:  # in another thread
            return True

    interrupt_when(steps)
    with pytest.raises(KeyboardInterrupt):
        simulation.advance(10_000_000)
    done = simulation.step_index
    assert 0 <= done < 10_000_000
    simulation.step()
    assert simulation.step_index == done + 1


def test_ctrl_c_ends_a_long_step_after_a_short_one(sheet, interrupt_when):
    sheet["garments"][0] |= {"pins": [], "initial_velocity": [0, 0, 0]}
    sheet["garments"].append({**sheet["garments"][0], "name": "other", "transform": {"translation": [0, 0, 0.5]}})
    for garment in sheet["garments"]:
        garment["fabric"] = {**garment.get("fabric", {}), "thickness": 0.001}
    sheet |= {"recipe": "membrane", "contact": {"cloth": True, "tolerance": 0.00025},
              "projection": {"on_violation": "continue"}}
    simulation = isocloth.Simulation(sheet, threads=1)
    simulation.step()
    simulation.step()
    simulation.write("velocities", numpy.full_like(simulation.velocities(1), 1e16), [1])
    places = simulation.positions(0), simulation.positions(1)
    begun = time.monotonic()
    interrupt_when(lambda: time.monotonic() > begun + 0.05)
    with pytest.raises(KeyboardInterrupt):
        simulation.step()
    assert simulation.step_index == 2
    for garment in (0, 1):
        numpy.testing.assert_array_equal(simulation.positions(garment), places[garment])


@pytest.mark.parametrize("spoil, error, text", [
    (lambda s: s["garments"][0].update(mash=1), isocloth.SceneError, r"scene: garments\[0\]: unknown key \"mash\""),
    (lambda s: s.update(step=-1), isocloth.SceneError, "step: found -1"),
    (lambda s: s["garments"][0].update(mesh={"file": "nowhere.obj"}), isocloth.FileError, "nowhere.obj"),
    (lambda s: s.update(step=object()), isocloth.ShapeError, "scene: found a object"),
])
def test_bad_scenes_are_refused_by_key(sheet, spoil, error, text):
    spoil(sheet)
    with pytest.raises(error, match=text):
        isocloth.Simulation(sheet)


@pytest.mark.parametrize("call, text", [
    (lambda s: s.positions(3), "garment: found 3, expected 0 to 0 or a name: \"sheet\""),
    (lambda s: s.positions("garment 0"), "garment: found 'garment 0', expected 0 to 0 or a name"),
    (lambda s: s.faces(1), "garment: found 1, expected 0 to 0"),
    (lambda s: s.set_fabric(0, kapa=1), "found kapa, expected one of density"),
    (lambda s: s.set_fabric(1, bending_stiffness=1), "garment: found 1"),
    (lambda s: s.set_fabrics([0], bending_stiffness=[1, 2]), "bending_stiffness: found 2 numbers, expected 1 or 1"),
    (lambda s: s.set_fabric(0, density=-1), "fabric.density: found -1"),
    (lambda s: s.views("places"), "found \"places\", expected positions"),
    (lambda s: s.set_wind([1, 2]), "velocity: found 2 numbers, expected 3"),
    (lambda s: s.write("positions", numpy.zeros((2, 3))), "2"),
    (lambda s: s.set_forces(0, [[1, 2]]), r"forces: found shape \(1, 2\), expected \(35, 3\)"),
    (lambda s: s.set_forces(0, [[1, 2], "x"]), "forces: found no array of numbers"),
    (lambda s: s.move_pin(0, 7, numpy.zeros((2, 3)), 0.1), "7"),
])
def test_what_does_not_fit_is_refused(sheet, call, text):
    simulation = isocloth.Simulation(sheet)
    before = simulation.positions()
    with pytest.raises(isocloth.Error, match=text):
        call(simulation)
    numpy.testing.assert_array_equal(simulation.positions(), before)


def test_gusts_stay_where_the_wind_turns(sheet):
    sheet["garments"][0]["fabric"] = {"drag": {"normal": 2.0, "tangential": 0.1}}
    sheet["wind"] = {"velocity": [1, 0, 0], "gusts": 0.5, "gust_period": 0.1}
    told = isocloth.Simulation(sheet)
    told.set_wind([3, 1, 0])
    told.advance(10)
    sheet["wind"]["velocity"] = [3, 1, 0]
    said = isocloth.Simulation(sheet)
    said.advance(10)
    numpy.testing.assert_array_equal(told.positions(), said.positions())
    said.reset()
    said.set_wind([3, 1, 0], gusts=0)
    said.advance(10)
    assert not numpy.array_equal(told.positions(), said.positions())


def test_options_are_refused_by_name(sheet):
    with pytest.raises(isocloth.DeviceError, match="threads: found 1000000, expected 0 .all cores. or 1 to 1024"):
        isocloth.Simulation(sheet, threads=1000000)
    for options, error in (({"precision": "half"}, isocloth.ShapeError), ({"solver": "magic"}, isocloth.ShapeError),
                           ({"backend": "abacus"}, isocloth.DeviceError)):
        with pytest.raises(error, match=next(iter(options.values()))):
            isocloth.Simulation(sheet, **options)


def test_warnings_are_warnings(sheet):
    sheet["garments"][0]["mesh"]["size"] = [300, 200]
    sheet["garments"][0]["pins"] = []
    with pytest.warns(isocloth.SceneWarning, match="m"):
        isocloth.Simulation(sheet)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isocloth.check(sheet)


def test_energy_is_balanced_live_as_in_a_run(sheet):
    sheet["frame_interval"] = sheet["step"]
    result = isocloth.run(sheet, energy_balance=True, quiet=True)
    simulation, alone = isocloth.Simulation(sheet, energy_balance=True), isocloth.Simulation(sheet)
    reports = simulation.step() + simulation.advance(19)
    assert sum(r.iterations for r in reports) == sum(r.iterations for r in [*alone.step(), *alone.advance(19)])
    numpy.testing.assert_array_equal(simulation.positions(), alone.positions())
    [sums], [measures] = simulation.energy_balance(), simulation.measures()
    names = [name for name in dir(sums) if name.startswith(("work_", "loss_", "energy_")) or name.endswith("_energy")]
    assert len(names) == 19
    for name in names:
        assert getattr(sums, name) == result.metrics[name][-1], name
    [start] = isocloth.Simulation(sheet).measures()
    end = measures.kinetic_energy + sums.bending_energy + sums.stretch_energy + sums.shear_energy
    assert sums.works > 0 and sums.losses > 0 and abs(sums.energy_error) < 0.05 * sums.energy_scale
    assert end == pytest.approx(start.elastic_energy + sums.works - sums.losses + sums.errors,
                                abs=1e-9 * sums.energy_scale)
    before = sums.work_commands
    simulation.write("velocities", numpy.zeros_like(simulation.positions()))
    simulation.step()
    assert simulation.energy_balance()[0].work_commands == pytest.approx(before - measures.kinetic_energy)


def test_energy_is_not_balanced_unless_it_was_asked_for(sheet):
    with pytest.raises(isocloth.Error, match="energy_balance: found a simulation without one"):
        isocloth.Simulation(sheet).energy_balance()
    with pytest.raises(isocloth.SceneError, match="^scene: projection.max_substeps: found 4 and garments"):
        isocloth.Simulation(sheet | {"projection": {"max_substeps": 4}}, energy_balance=True)
    with pytest.raises(isocloth.Error, match="tape: found a simulation with energy_balance"):
        isocloth.Tape(isocloth.Simulation(sheet, energy_balance=True))


@pytest.mark.parametrize("start", [isocloth.Simulation, lambda scene: isocloth.run(scene, quiet=True)])
def test_ctrl_c_ends_the_hanging_of_cloth(sheet, start):
    sheet["garments"][0] |= {  # a relaxation of minutes
        "mesh": {"generator": "quad_grid", "nodes": [201, 201], "size": [1, 1]},
        "pins": [{"select": {"nearest": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}}],
        "initial": {"drape": "weil", "angles": True,
                    "places": [[0.1, 0.1, 0], [0.9, 0.1, 0], [0.1, 0.9, 0], [0.9, 0.9, 0.2]]}}
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        start(sheet)
    assert time.monotonic() - begin < 5


def test_snapshots_are_of_one_scene(sheet):
    foreign = isocloth.Simulation(sheet).snapshot()
    sheet["garments"][0]["mesh"]["size"] = [0.3, 0.21]
    other = isocloth.Simulation(sheet)
    with pytest.raises(isocloth.ShapeError, match="snapshot: found that of another scene"):
        other.restore(foreign)


def test_a_held_cloth_does_not_know_what_its_neighbour_hits():
    """A neighbour in another lane, that flies into the table and begins its step anew, leaves held nodes in place."""
    def towels(count):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", isocloth.SceneWarning)
            simulation = isocloth.Simulation({
                "step": 0.005, "duration": 1, "contact": {"tolerance": 0.0005},
                "garments": [{
                    "replicas": count, "mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.4, 0.4]},
                    "transform": {"translation": [-0.2, -0.2, 0.05]}, "fabric": {"preset": "cotton"},
                    "grippers": [{"name": "hand", "region": {"type": "sphere", "radius": 0.02},
                                  "position": [-0.2, -0.2, 0.05]}]}],
                "obstacles": [{"name": "table", "friction": {"static": 0.4},
                               "shape": {"type": "table", "size": [2, 2], "thickness": 0.04, "rounding": 0.01}}]})
        simulation.close_gripper(0, 0)
        simulation.set_gripper_motion(0, 0, [0, 0.2], [[0, 0, 0], [0.1, 0, 0.1]])
        return simulation

    two, one = towels(2), towels(1)
    falling = numpy.zeros((25, 3))
    falling[:, 2] = -3
    two.write("velocities", falling, [1])
    for _ in range(20):
        two.step(), one.step()
        numpy.testing.assert_array_equal(two.positions(0), one.positions(0))
