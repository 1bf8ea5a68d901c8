"""What environments say that are asked for what there is not."""

import math
import pathlib

import numpy
import pytest

gymnasium = pytest.importorskip("gymnasium")

import isocloth.gym as cloths  # noqa: E402

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize("arguments, error, text", [
    ({"render_mode": "ansi"}, ValueError, "render_mode: found 'ansi', expected 'human', 'rgb_array' or None"),
    ({"cameras": []}, ValueError, r"cameras: found \[\], expected a Camera, a PinholeCamera, or several"),
    ({"observation": ("depth", "smell")}, ValueError, r"observation: found \('depth', 'smell'\), expected one or "),
    ({"max_strain": 0}, ValueError, "max_strain: found 0, expected a number above 0"),
    ({"max_force": NAN}, ValueError, "max_force: found nan"),
    ({"randomize": "some"}, ValueError, "randomize: found 'some', expected None, 'all', names or a dict of ranges"),
    ({"randomize": ["thickness"]}, ValueError, "randomize: found 'thickness', expected one of density, |"
                                               "randomize: thickness: found no range"),
    ({"randomize": {"friction": (-1, 1)}}, ValueError, "randomize: friction: found -1 to 1, expected 0 <= low <= high"),
    ({"nosuch": 1}, TypeError, "nosuch: found an argument that there is not, expected one of horizon, "),
    ({"num_envs": 0}, ValueError, "num_envs: found 0, expected an integer from 1 to 100000"),
    ({"num_envs": -1}, ValueError, "num_envs: found -1"), ({"num_envs": 10**9}, ValueError,
                                                           "num_envs: found 1000000000"),
    ({"num_envs": 2.0}, ValueError, "num_envs: found 2.0"), ({"num_envs": True}, ValueError, "num_envs: found True"),
    ({"horizon": 0}, ValueError, "horizon: found 0"), ({"horizon": NAN}, ValueError, "horizon: found nan"),
    ({"starts": "x"}, ValueError, "starts: found 'x'"), ({"observation": []}, ValueError, r"observation: found \[\]"),
    ({"cloth_contact": 1}, ValueError, "cloth_contact: found 1, expected True or False"),
    ({"randomize": {"bending_stiffness": 1}}, ValueError, "randomize: found"),
    ({"randomize": {"bending_stiffness": (1, NAN)}}, ValueError,
     "randomize: bending_stiffness: found 1 to nan, expected 0 < low <= high"),
    ({"randomize": {"bending_stiffness": (2, 1)}}, ValueError, "randomize: bending_stiffness: found 2 to 1"),
    ({"randomize": {"nosuch": (1, 2)}}, ValueError, "randomize: found 'nosuch', expected one of density, ")])
def test_arguments_are_named(arguments, error, text):
    with pytest.raises(error, match="^" + text):
        gymnasium.make_vec("isocloth/FoldTowel-v0", **{"num_envs": 1, **arguments},
                           vectorization_mode="vector_entry_point") if "num_envs" not in arguments else \
            cloths.FoldTowels(**arguments)
    if "num_envs" not in arguments:
        with pytest.raises(error, match="^" + text):
            cloths.FoldTowel(**arguments)


@pytest.fixture(scope="module")
def towels():
    envs = cloths.FoldTowels(2, starts=1, threads=1)
    envs.reset(seed=1)
    return envs


@pytest.mark.parametrize("actions, text", [
    (numpy.zeros((2, 4)), r"found shape \(2, 4\), expected numbers of shape \(2, 2, 4\)"), (None,
     "found no array of numbers"),
    ("x", "found no array of numbers"),
    ([[1, 2], [3]], "found no array of numbers"),
    (numpy.full((2, 2, 4), NAN), "found values that are not finite"),
    (numpy.full((2, 2, 4), INF), "found values that are not finite"),
    (numpy.zeros((2, 2, 4), dtype=complex), "found no array of numbers"),
    (numpy.zeros((2, 2, 4), dtype="S4"), "found no array of numbers"),
    (numpy.zeros((2, 2, 4), dtype=object), "found no array of numbers"),
    (numpy.broadcast_to(0.0, (10**9, 2, 4)), r"found shape \(1000000000, 2, 4\)")])
def test_actions_are_numbers_of_their_shape(towels, actions, text):
    with pytest.raises(ValueError, match="^actions: " + text):
        towels.step(actions)


def test_large_actions_are_as_one(towels):
    seen = towels.step(numpy.full((2, 2, 4), 1e300))[0]
    assert all(numpy.isfinite(values).all() for values in seen.values())


@pytest.mark.parametrize("options, text", [
    (3, "options: found 3, expected a dict or None"), ({"nosuch": 1},
                                                       "options: found 'nosuch', expected reset_mask or"),
    ({"same": 3}, "options: same: found 3"), ({"reset_mask": [1, 0]}, "options: reset_mask: found"),
    ({"reset_mask": [True]}, "options: reset_mask: found"), ({"reset_mask": [[True], True]}, "options: reset_mask"),
    ({"reset_mask": numpy.broadcast_to(True, (10**10,))}, r"options: reset_mask: found shape \(10000000000,\)")])
def test_options_of_a_reset_are_named(towels, options, text):
    before = towels.simulation.positions(slice(None))
    with pytest.raises(ValueError, match="^" + text):
        towels.reset(seed=2, options=options)
    numpy.testing.assert_array_equal(towels.simulation.positions(slice(None)), before)


def test_a_mask_of_none_leaves_all(towels):
    before = towels.simulation.positions(slice(None))
    towels.reset(options={"reset_mask": numpy.array([False, False])})
    numpy.testing.assert_array_equal(towels.simulation.positions(slice(None)), before)


def test_what_is_closed_says_so():
    for env in (cloths.FoldTowels(1, starts=1, threads=1), cloths.FoldTowel(starts=1, threads=1)):
        env.close()
        env.close()
        for call in (lambda env=env: env.reset(), lambda env=env: env.step(env.action_space.sample())):
            with pytest.raises(gymnasium.error.ClosedEnvironmentError, match="expected open ones"):
                call()


def test_the_table_of_the_page_is_the_table():
    page = (pathlib.Path(__file__).parents[2] / "host" / "docs" / "PYTHON.md").read_text()
    for name, row in cloths.TABLE.items():
        assert (f"| `{name}` | {row.low:g} | {row.high:g} | {row.unit} | {row.scale} | {row.drawn} | {row.source} |"
                in page), name


def test_all_of_the_table_is_drawn():
    cameras = [cloths.PinholeCamera((0, -0.7, 0.7), (0, 0, 0))]
    envs = cloths.FoldTowels(4, nodes=5, starts=1, randomize="all", cameras=cameras, observation=["points", "depth"])
    seen, _ = envs.reset(seed=3)
    assert seen in envs.observation_space
    fabrics = [envs.simulation.fabric(g) for g in range(4)]
    for name in cloths.FABRICS:
        low, high = cloths.FABRICS[name]
        assert len({fabric[name] for fabric in fabrics}) == 4 and all(low <= f[name] <= high for f in fabrics)
    edges = numpy.linalg.norm(envs._points[:, 1] - envs._points[:, 0], axis=-1)
    numpy.testing.assert_allclose(edges / (0.1 * envs.scales), 1, rtol=1e-3)
    assert numpy.ptp(envs.scales) > 0.05 and numpy.ptp(envs._frictions) > 0.05
    assert (envs._delays >= 0).all() and (envs._delays <= 2).all() and numpy.ptp(envs._moves[:, 0], axis=0).all()


def test_who_is_late_does_what_was_asked_before():
    envs = cloths.FoldTowels(2, nodes=5, starts=1, randomize={"latency": (2, 2)})
    envs.reset(seed=1)
    start, up = envs._grippers.copy(), numpy.zeros((2, 2, 4)) + [0, 0, 1, -1]
    for step in range(4):
        envs.step(up)
        moved = envs._grippers[..., 2] - start[..., 2]
        numpy.testing.assert_allclose(moved, max(0, step - 1) * envs.top_speed * envs.frame_time, atol=1e-12)


def test_friction_is_each_ones_own():
    """Two towels pulled over the table by a corner of each: by how much the gripper must pull."""
    envs = cloths.FoldTowels(2, nodes=5, starts=1, randomize={"friction": (0.1, 0.9)})
    envs.reset(seed=1)
    for _ in range(12):
        *_, infos = envs.step(numpy.zeros((2, 2, 4)) + [0, -0.2, 0, 1])
    order = numpy.argsort(envs._frictions)
    assert infos["force"][order[1]] > 1.1 * infos["force"][order[0]] > 0
