"""Towels that are held by friction, and towels on a line."""

import isocloth.gym
import numpy
import pytest
from gym_garments_test import opened, play, to


def raising(envs, grip, frames=60):
    """Grips, and once the rail has let go raises the towel to its goal."""
    for _ in range(frames):
        action = numpy.zeros((envs.num_envs, 4))
        action[:, 3] = grip(envs)
        way = (envs._goals - envs._points.mean(1))[:, 2]
        action[envs._is_free, 2] = numpy.clip(way[envs._is_free] / 0.05, -0.5, 0.5)
        yield action


def test_a_towel_is_held_by_force_and_raised():
    envs = isocloth.gym.PinchTowels(2, starts=1, horizon=200)
    _, infos = envs.reset(seed=1)
    start = infos["score"]
    total, terminations, _, infos = play(envs, raising(envs, lambda _: -0.8))
    assert infos["is_success"].all() and infos["held"].all() and not terminations.any(), infos
    assert (infos["slip"] < 0.003).all() and (total > 0.3).all()
    numpy.testing.assert_allclose(total, infos["score"] - start, atol=1e-9)
    # What is asked for is what presses: 0.1 of 10 N.
    numpy.testing.assert_allclose(envs._normals, 1.0, rtol=0.25)


def test_fingers_carry_what_friction_lets_them():
    """Two fingers with friction m carry 2 m N: a weight of 0.177 N wants 0.177 N of each with m = 0.5, and a sixth of
    that lets the towel slide away."""
    weight = 0.2 * 0.3 * 0.3 * 9.8
    envs = isocloth.gym.PinchTowels(2, starts=1, horizon=200, randomize={}, grip_force=10.0)
    envs.reset(seed=1)
    wanted = numpy.array([4 * weight, weight / 6]) / envs.grip_force * 2 - 1
    fell = numpy.zeros(2, dtype=bool)
    for action in raising(envs, lambda _: wanted, 50):
        action[:, :3] = 0
        _, rewards, terminations, _, infos = envs.step(action)
        fell |= terminations
        if fell.any():
            break
    assert fell.tolist() == [False, True] and (infos["slipped"] | infos["dropped"])[1]


def test_position_control_squeezes_until_force_ends_it():
    envs = isocloth.gym.PinchTowels(1, starts=1, control="position", autoreset_mode="Disabled")
    envs.reset(seed=1)
    for _ in range(20):
        _, rewards, terminations, _, infos = envs.step(numpy.array([[0, 0, 0, 1.0]]))
        if terminations.any():
            break
    assert infos["overloaded"].all() and infos["force"] > envs.max_force and not infos["is_success"].any()
    envs.reset()
    held = isocloth.gym.PinchTowels(1, starts=1, control="position", horizon=200)
    held.reset(seed=1)
    # To 1.6 mm of a cloth of 2 mm, then as it is.
    grip = lambda envs: numpy.clip((envs._gaps - 0.0016) / (2 * envs.finger_speed * envs.frame_time), -1, 1)  # noqa: E731
    _, terminations, _, infos = play(held, raising(held, grip))
    assert infos["held"].all() and infos["is_success"].all() and not terminations.any(), infos


@pytest.mark.parametrize("policy", ["open", "closed too soft", "random", "pulled down"])
def test_who_does_not_hold_it_fails(policy):
    envs = isocloth.gym.PinchTowels(2, starts=1, autoreset_mode="Disabled")
    envs.reset(seed=1)
    random, total = numpy.random.default_rng(1), numpy.zeros(2)
    actions = {"open": [0, 0, 0, -1], "closed too soft": [0, 0, 0, -0.999], "pulled down": [0, 0, -1, 0.5]}
    for _ in range(60):
        action = numpy.array([actions[policy]] * 2) if policy in actions else random.uniform(-1, 1, (2, 4))
        _, rewards, terminations, truncations, infos = envs.step(action)
        total += rewards
        assert not infos["is_success"].any()
        if (terminations | truncations).any():
            break
    assert (total <= 0.25).all()
    if policy in ("open", "closed too soft"):
        assert infos["slipped"].any() or infos["dropped"].any()


def test_wrong_arguments_are_named():
    for wrong, error in (({"control": "will"}, ValueError), ({"grip_force": 0}, ValueError), ({"nodes": 2}, ValueError),
                         ({"cloth_contact": True}, TypeError), ({"randomize": ["size"]}, ValueError)):
        with pytest.raises(error, match=next(iter(wrong))):
            isocloth.gym.PinchTowels(1, **wrong)
    with pytest.raises(ValueError, match="nodes: found 4, expected an odd number"):
        isocloth.gym.HangTowels(1, nodes=4)


def test_a_towel_is_hung_over_a_line():
    envs = isocloth.gym.HangTowels(3, horizon=300, starts=2)
    envs.reset(seed=1)
    places, z = envs._grippers[:, :, :3].copy(), envs.line[0, 2]
    total = numpy.zeros(3)
    for y, height in ((-0.12, 0.2), (0.05, 0.17), (0.1, 0.05), (0.06, -0.08)):
        places[..., 1:] = y, z + height
        total += play(envs, to(envs, places, 0.5))[0]
    last, terminations, _, infos = play(envs, opened(envs))
    assert infos["is_success"].all() and not terminations.any(), infos
    assert (total + last > 0.3).all()
    rows = envs.rows(envs._points)
    assert (rows[:, 0, :, 1].mean(-1) < rows[:, -1, :, 1].mean(-1)).all() and (rows[:, [0, -1], :, 2] < z).all()


def test_a_towel_beside_the_line_is_dropped():
    envs = isocloth.gym.HangTowels(2, starts=1, autoreset_mode="Disabled")
    envs.reset(seed=1)
    for _ in range(30):
        _, rewards, terminations, _, infos = envs.step(opened(envs)[0])
        assert not infos["is_success"].any()
        if terminations.any():
            break
    assert infos["dropped"].any() and terminations.any()
