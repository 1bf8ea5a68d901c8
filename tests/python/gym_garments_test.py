"""Garments of the environments: shirts on a peg, tubes on a post."""

import isocloth.gym
import numpy

OPEN = numpy.array([0, 0, 0, -1.0])


def to(envs, places, speed=0.6):
    """Actions that bring closed grippers straight to ``places`` [m], shape (envs, 2, 3), in the workspace."""
    assert (places >= envs.workspace[0]).all() and (places <= envs.workspace[1]).all()
    way = places - envs._grippers[:, :, :3]
    while numpy.abs(way).max() > 2e-3:
        action = numpy.ones((envs.num_envs, 2, 4))
        action[..., :3] = numpy.clip(way / (envs.top_speed * envs.frame_time), -speed, speed)
        yield action
        way = places - envs._grippers[:, :, :3]


def play(envs, actions):
    """Rewards in all, and what the last step returned."""
    total = numpy.zeros(envs.num_envs)
    for action in actions:
        result = envs.step(action)
        total += result[1]
    return total, *result[2:]


def opened(envs, frames=20):
    return [numpy.broadcast_to(OPEN, (envs.num_envs, 2, 4))] * frames


def hanging(envs, depth):
    """With the tip of the peg ``depth`` below the straps into the arm hole, over the peg, down, and open."""
    places = envs._grippers[:, :, :3].copy()
    places[..., 1:] = 0, envs.peg[0, 2] + depth
    yield from to(envs, places)
    places[..., 0] -= places[..., 0].mean(-1, keepdims=True) - envs.goals()[:, 0].mean()
    yield from to(envs, places)
    places[..., 2] = envs.goals()[0, 2] + 0.005
    yield from to(envs, places)
    yield from opened(envs)


def test_a_shirt_is_hung_on_the_peg():
    envs = isocloth.gym.HangShirts(3, horizon=200)
    _, infos = envs.reset(seed=1)
    start = infos["score"]
    total, terminations, _, infos = play(envs, hanging(envs, 0.12))
    assert infos["is_success"].all() and not terminations.any(), infos
    numpy.testing.assert_allclose(total, infos["score"] - start, atol=1e-9)
    assert (total > 0.5).all()
    # They hang: both straps are above the axis, and on both sides of it is cloth as deep as the arm holes.
    points = envs._points
    assert (envs.straps(points)[:, :, 2] > envs.peg[0, 2]).all()
    for shirt in points:
        below = shirt[shirt[:, 2] < envs.peg[0, 2] - 0.1]
        assert below[:, 1].min() < 0 < below[:, 1].max()


def test_a_shirt_beside_the_peg_falls_and_begins_anew():
    envs = isocloth.gym.HangShirts(2, horizon=200, starts=2)
    envs.reset(seed=1)
    places = envs._grippers[:, :, :3] - [0.4, 0.1, 0]
    play(envs, to(envs, places, 1.0))
    fell = numpy.zeros(2, bool)
    for _ in range(20):
        _, rewards, terminations, truncations, infos = envs.step(opened(envs)[0])
        assert not truncations.any() and not infos["is_success"].any()
        fell |= terminations
        if fell.all():
            break
    assert fell.all()
    last = terminations  # who fell in the last step begins anew in this one
    _, rewards, terminations, _, infos = envs.step(opened(envs)[0])
    assert not terminations.any() and not rewards[last].any() and (envs._grippers[last, :, 3] == 1).all()


def test_a_tube_is_pulled_over_the_post():
    envs = isocloth.gym.DressPosts(3, horizon=200)
    _, infos = envs.reset(seed=1)
    start = infos["score"]
    assert not envs.worn(envs._points).any()
    places = envs._grippers[:, :, :3].copy()
    places[..., :2] -= places[..., :2].mean(1, keepdims=True)
    play(envs, to(envs, places))
    places[..., 2] = envs.height
    play(envs, to(envs, places))
    _, terminations, _, infos = play(envs, opened(envs))
    assert infos["is_success"].all() and not terminations.any(), infos
    assert (infos["score"] - start > 2).all()
    rings = envs.rings(envs._points)
    assert (numpy.linalg.norm(rings[..., :2], axis=-1) > envs.post_radius - 0.001).all()


def test_a_tube_beside_the_post_is_dropped():
    envs = isocloth.gym.DressPosts(2, horizon=200, starts=2)
    envs.reset(seed=1)
    places = envs._grippers[:, :, :3] - [0.15, 0, 0.3]
    play(envs, to(envs, places, 1.0))
    for _ in range(30):
        _, _, terminations, _, infos = envs.step(opened(envs)[0])
        assert not infos["is_success"].any()
        if terminations.any():
            break
    assert terminations.any()


def test_rings_wind_around_the_post_or_not():
    envs = isocloth.gym.DressPosts(1, starts=1)
    tube = envs._rest[None] - [0, 0, envs.post_height + 0.05]
    assert envs.worn(tube).all() and abs(envs.score(tube)[0] - 1) < 0.02
    assert not envs.worn(tube + [envs.radius * 1.01, 0, 0]).any()
    assert not envs.worn(tube + [0, 0, envs.post_height + 0.01]).any()
    assert envs.worn(tube + [0, 0, envs.post_height - envs.height * 0.6]).sum() == 5


def test_the_camera_sees_obstacles_and_cloth():
    envs = isocloth.gym.DressPosts(1, starts=1, observation="depth")
    tube = envs._rest[None] - [0, 0, envs.post_height + 0.05]
    [empty] = envs.depth(tube + [0, 0, 10])
    edge = abs(empty - (1 - envs.table_size / 2)) < 1e-3
    # A table 0.04 m thick.
    assert edge[1:4, 1:-1].all() and not edge[4:].any() and (empty[0, :20] == envs.camera.far).all()
    assert abs(empty[4:].min() - (1 - envs.post_radius)) < 1e-3
    shown = (empty[4:] < 1.01).sum() * envs.camera.pixel**2
    r, length = envs.post_radius, envs.post_height - envs.post_radius
    assert abs(shown / (2 * r * length + numpy.pi * r * r / 2) - 1) < 0.05
    # A tube on the post: a rectangle that hides its lower part; a ring's polygon is narrower than its circle.
    [depth] = envs.depth(tube)
    assert abs(((depth < 1.0).sum() - (empty < 1.0).sum()) * envs.camera.pixel**2
               - 2 * (envs.radius - r) * envs.height) < 0.003
    assert abs(depth[4:].min() - (1 - envs.radius)) < 0.002
    seen, _ = envs.reset(seed=1)
    assert seen["depth"].shape == (1, 64, 64) and seen["depth"].max() == envs.camera.far
