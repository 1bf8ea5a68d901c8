"""Gradients of runs, against differences, and through torch and jax where they are installed."""

import isocloth
import numpy
import pytest


@pytest.fixture
def scene():
    return {
        "step": 0.01, "duration": 1, "recipe": "membrane",
        "projection": {"force_tolerance": 1e-9, "cg_tolerance": 1e-12, "max_iterations": 200, "max_substeps": 1},
        "garments": [{
            "mesh": {"generator": "quad_grid", "nodes": [5, 4], "size": [0.4, 0.3]},
            "rest_noise": {"normal_deviation": 0.001},
            "fabric": {"preset": "cotton", "mass_damping": 0.2},
            "pins": [{"select": {"nodes": [0]}}, {"select": {"nodes": [4]}}]}]}


STEPS = 6


@pytest.fixture
def values(scene):
    function = isocloth.RunFunction(scene, STEPS)
    start = function.simulation.positions()
    random = numpy.random.default_rng(1)
    lift = numpy.linspace(0, 0.01, STEPS + 1)[1:, None, None] * numpy.array([0.2, 0.1, 1])
    return {"positions": start, "velocities": numpy.zeros_like(start), "mass_damping": 0.4, "stretch_stiffness": 300.0,
            "targets": start[function.pinned_nodes] + lift, "forces": 1e-3 * random.normal(size=(STEPS, 20, 3))}


def weights():
    random = numpy.random.default_rng(2)
    return random.normal(size=(STEPS + 1, 20, 3)), 0.1 * random.normal(size=(STEPS + 1, 20, 3))


def loss_of(run, **values):
    by_positions, by_velocities = weights()
    positions, velocities, _ = run(**values)
    return (by_positions * positions).sum() + (by_velocities * velocities).sum()


def test_pull_back_is_that_of_differences(scene, values):
    function = isocloth.RunFunction(scene, STEPS)
    found = function.run(**values)[2](*weights())
    assert set(found) == set(values)
    random = numpy.random.default_rng(3)
    for name, value in values.items():
        along = random.normal(size=numpy.shape(value))
        if name == "positions":
            along[function.pinned_nodes] = 0  # they are told
        way = 1e-6 if numpy.ndim(value) else 1e-5 * value
        ahead, behind = (loss_of(function.run, **{**values, name: value + side * way * along}) for side in (1, -1))
        assert (found[name] * along).sum() == pytest.approx((ahead - behind) / (2 * way), rel=1e-5), name


def test_runs_do_not_remember_fabrics(scene):
    function = isocloth.RunFunction(scene, STEPS)
    first = function.run()[0]
    function.run(mass_damping=3.0)
    numpy.testing.assert_array_equal(function.run()[0], first)


def test_runs_remember_nothing_of_those_before(scene, values):
    function = isocloth.RunFunction(scene, STEPS)
    first = function.run()[0]
    for name in ("forces", "targets", "positions", "velocities"):
        function.run(**{name: values[name] + (0.01 if name == "velocities" else 0)})
        numpy.testing.assert_array_equal(function.run()[0], first, err_msg=name)


def test_pull_back_goes_through_its_own_run(scene):
    function = isocloth.RunFunction(scene, STEPS)
    expected = function.run(mass_damping=1.0, stretch_stiffness=200.0)[2](*weights())
    pull_back = function.run(mass_damping=1.0, stretch_stiffness=200.0)[2]
    function.run(mass_damping=2.0, stretch_stiffness=900.0)
    assert pull_back(*weights()) == expected


def test_losses_that_are_not_finite_are_refused(scene):
    pull_back = isocloth.RunFunction(scene, STEPS).run(mass_damping=1.0)[2]
    by_positions, by_velocities = weights()
    by_positions[-1, 7, 1] = numpy.nan
    with pytest.raises(isocloth.NumericalError, match="not finite"):
        pull_back(by_positions, by_velocities)


def test_gradients_by_what_another_cloth_was_told():
    fabric = {"density": 0.2, "gravity_density": 0.2, "bending_stiffness": 2e-4, "mass_damping": 0.3,
              "stretch_stiffness": 400, "shear_stiffness": 30, "thickness": 5e-3}
    mesh = {"generator": "quad_grid", "nodes": [4, 4], "size": [0.2, 0.2]}
    simulation = isocloth.Simulation({
        "recipe": "membrane", "step": 0.01, "duration": 1, "contact": {"cloth": True, "tolerance": 1e-12},
        "projection": {"force_tolerance": 1e-10, "max_iterations": 200}, "garments": [
            {"name": "above", "mesh": mesh, "fabric": fabric, "transform": {"translation": [0.03, 0.04, 0.0052]}},
            {"name": "below", "mesh": mesh, "fabric": fabric, "pins": [{"select": {"nodes": [0, 3, 12, 15]}}]}]})
    tape = isocloth.Tape(simulation)
    for _ in range(8):
        tape.step()
    heights = numpy.zeros_like(tape.positions("above"))
    heights[-1, :, 2] = 1 / 16
    own, other = (tape.gradient(heights, garment="above", by=by) for by in (None, "below"))
    assert own.targets.shape == other.targets.shape == (8, 16, 3)
    assert not own.targets.any() and other.targets[-1, 0, 2] != 0
    assert tape.contact_changes("above")["began"].sum() > 0
    with pytest.raises(isocloth.ShapeError, match="garment: found 'besides'"):
        tape.gradient(heights, by="besides")


def test_what_has_no_gradient_is_named(scene):
    ball = {**scene, "bodies": [{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "mass": 1,
                                 "position": [0, 0, -5]}]}
    with pytest.raises(isocloth.SceneError, match="bodies.*smoothed_gradient"):
        isocloth.Tape(isocloth.Simulation(ball))
    function = isocloth.RunFunction(scene, STEPS)
    with pytest.raises(isocloth.ShapeError, match="targets: found shape"):
        function.run(targets=numpy.zeros((2, 2, 3)))
    with pytest.raises(isocloth.SceneError, match="stiffness"):
        function.run(stiffness=3.0)
    tape = isocloth.Tape(function.simulation)
    tape.step()
    with pytest.raises(isocloth.ShapeError, match="expected \\(2, 20, 3\\)"):
        tape.gradient(numpy.zeros((3, 20, 3)))
    function.simulation.set_fabric(0, mass_damping=0.7)
    with pytest.raises(isocloth.SceneError, match="another fabric"):
        tape.step()


@pytest.fixture
def dragged():
    """A sheet that two grippers drag over a table."""
    return {
        "step": 0.01, "duration": 1, "recipe": "membrane",
        "projection": {"force_tolerance": 3e-12, "cg_tolerance": 1e-12, "max_iterations": 200, "max_substeps": 1},
        "contact": {"tolerance": 1e-14},
        "obstacles": [{"name": "table", "shape": {"type": "plane"}, "friction": {"static": 0.2, "dynamic": 0.2}}],
        "garments": [{
            "mesh": {"generator": "quad_grid", "nodes": [6, 5], "size": [0.3, 0.25]},
            "transform": {"translation": [0, 0, 0.0025]},
            "fabric": {"preset": "cotton", "thickness": 5e-3, "mass_damping": 0.3},
            "grippers": [{"region": {"type": "sphere", "radius": 0.07}, "position": [x, 0, 0.01],
                          "holds": [{"from": 0, "to": 100}]} for x in (0, 0.3)]}]}


DRAG_STEPS = 8


@pytest.fixture
def drag_values(dragged):
    times = numpy.arange(DRAG_STEPS + 1)
    grippers = numpy.zeros((DRAG_STEPS + 1, 2, 6))
    grippers[..., 1] = -2e-4 * times[:, None] ** 2
    grippers[..., 5] = 0.01 * times[:, None]
    return {"grippers": grippers, "obstacles": numpy.zeros((DRAG_STEPS + 1, 1, 6)), "mass_damping": 0.3}


def drag_weights():
    random = numpy.random.default_rng(4)
    positions = random.normal(size=(DRAG_STEPS + 1, 30, 3))
    return positions, 0.1 * random.normal(size=positions.shape), 0.1 * random.normal(size=(DRAG_STEPS, 1, 6))


def test_poses_and_wrenches_have_gradients(dragged, drag_values):
    function = isocloth.RunFunction(dragged, DRAG_STEPS)

    def loss(values):
        positions, velocities, pull_back = function.run(**values)
        states = (positions, velocities, pull_back.tape.wrenches())
        return sum((weights * state).sum() for weights, state in zip(drag_weights(), states))

    pull_back = function.run(**drag_values)[2]
    changes = pull_back.tape.contact_changes()
    assert set(changes) == {"began", "ended", "stuck", "slid"} and changes["began"].shape == (DRAG_STEPS,)
    found = pull_back(*drag_weights())
    random = numpy.random.default_rng(5)
    for name, value in drag_values.items():
        along = random.normal(size=numpy.shape(value))
        if name == "grippers":  # keep what slides on the table
            along[0] = 0
            along[..., 2:5] = 0
        if name == "obstacles":  # from when all of it slides on
            along[:5] = 0
            along[..., 3:5] = 0
            along[..., 2] *= 0.01
        way = 1e-7 if numpy.ndim(value) else 1e-4
        sides = [loss({**drag_values, name: value + side * way * along}) for side in (1, -1)]
        assert (found[name] * along).sum() == pytest.approx((sides[0] - sides[1]) / (2 * way), rel=1e-4), name


def test_poses_of_another_shape_are_refused(dragged, drag_values):
    function = isocloth.RunFunction(dragged, DRAG_STEPS)
    with pytest.raises(isocloth.ShapeError, match=r"grippers: found shape \(8, 2, 6\), expected \(9, 2, 6\)"):
        function.run(grippers=drag_values["grippers"][1:])
    tape = isocloth.Tape(function.simulation)
    tape.step()
    with pytest.raises(isocloth.ShapeError, match="wrenches"):
        tape.gradient(wrenches=numpy.zeros((2, 1, 6)))
    assert tape.wrenches()[0, 0, 2] > 0  # the table bears the sheet


def test_runs_remember_no_poses(dragged, drag_values):
    function = isocloth.RunFunction(dragged, DRAG_STEPS)
    first = function.run()[0]
    assert not numpy.array_equal(function.run(**drag_values)[0], first)
    numpy.testing.assert_array_equal(function.run()[0], first)


def test_smoothed_gradients_are_those_of_the_mean():
    def loss(x, y):
        return abs(x) + y.sum() ** 2

    values, deviations = {"x": 0.5, "y": numpy.array([0.3, -0.1])}, {"x": 1.0, "y": 0.1}
    slopes = {"gradient": lambda x, y: {"x": numpy.sign(x), "y": 2 * y.sum() * numpy.ones(2)}}
    for way in ({}, slopes):
        found = isocloth.smoothed_gradient(loss, values, deviations, samples=2000, **way)
        assert abs(found.gradient["x"] - 0.3829) < 4 * found.standard_error["x"]  # erf(0.5 / sqrt(2))
        assert numpy.abs(found.gradient["y"] - 0.4).max() < 4 * found.standard_error["y"].max() + 1e-12
        assert found.standard_error["x"] < 0.1
    with pytest.raises(isocloth.ShapeError, match='found "z"'):
        isocloth.smoothed_gradient(loss, values, {"z": 1.0})
    with pytest.raises(isocloth.ShapeError, match="expected more than 0"):
        isocloth.smoothed_gradient(loss, values, {"x": 0.0})


def test_torch(scene, values):
    torch = pytest.importorskip("torch")
    function = isocloth.RunFunction(scene, STEPS)
    expected = function.run(**values)[2](*weights())
    tensors = {name: torch.tensor(value, dtype=torch.float64, requires_grad=True) for name, value in values.items()}
    positions, velocities = function.torch(**tensors)
    by_positions, by_velocities = (torch.from_numpy(w) for w in weights())
    ((by_positions * positions).sum() + (by_velocities * velocities).sum()).backward()
    for name, tensor in tensors.items():
        numpy.testing.assert_allclose(tensor.grad.numpy(), expected[name], rtol=1e-12, err_msg=name)


def test_jax(scene, values):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    function = isocloth.RunFunction(scene, STEPS)
    expected = function.run(**values)[2](*weights())

    def loss(arguments):
        positions, velocities = function.jax(**arguments)
        by_positions, by_velocities = weights()
        return (by_positions * positions).sum() + (by_velocities * velocities).sum()

    for gradient in (jax.grad(loss), jax.jit(jax.grad(loss))):
        for name, found in gradient(values).items():
            numpy.testing.assert_allclose(numpy.asarray(found), expected[name], rtol=1e-12, err_msg=name)
