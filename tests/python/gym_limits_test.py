"""Policies that are random or cheat: they score low, never succeed, and what they break ends the episode."""

import isocloth.gym
import numpy
import pytest

SMALL = {"FoldTowels": {"nodes": 9}, "FlattenTowels": {"nodes": 9}, "HangShirts": {"triangles": 300},
         "DressPosts": {"along": 5, "around": 8}, "HangTowels": {"nodes": 7}}


def acting(directions, closed):
    """The same in every step: velocities of the two grippers, shape (2, 3), and whether they are closed."""
    action = numpy.concatenate([numpy.array(directions, dtype=float), numpy.full((2, 1), 1.0 if closed else -1.0)], 1)
    return lambda envs, _random, _step: numpy.broadcast_to(action, (envs.num_envs, 2, 4))


POLICIES = {
    "nothing": acting(numpy.zeros((2, 3)), False),
    "holding": acting(numpy.zeros((2, 3)), True),
    "pulling apart": acting([[-1, 0, 0], [1, 0, 0]], True),
    "pressing": acting([[0, 0, -1], [0, 0, -1]], True),
    "leaving": acting([[1, 1, 1], [1, 1, 1]], True),
    "dropping": acting([[1, 0, 1], [1, 0, 1]], False),
    "twitching": lambda envs, random, step: numpy.concatenate(
        [random.uniform(-1, 1, (envs.num_envs, 2, 3)), numpy.full((envs.num_envs, 2, 1), 1 - 2 * (step % 2))], axis=-1),
    "random": lambda envs, random, _step: random.uniform(-1, 1, (envs.num_envs, 2, 4)),
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", SMALL)
def test_who_cheats_scores_low(name, policy):
    envs = getattr(isocloth.gym, name)(4, starts=2, autoreset_mode="Disabled", **SMALL[name])
    _, infos = envs.reset(seed=1)
    assert not infos["is_success"].any() and (infos["score"] < 0.8).all()
    start, total, random = infos["score"], numpy.zeros(4), numpy.random.default_rng(3)
    for step in range(30):
        _, rewards, terminations, truncations, infos = envs.step(POLICIES[policy](envs, random, step))
        total += rewards
        assert not infos["is_success"].any() and not truncations.any() and (infos["score"] <= 1).all()
        numpy.testing.assert_allclose(total[terminations], -1, atol=1e-12)
        if terminations.any():
            break  # which asks for a reset
    going = total[~terminations]
    # Less than half of the way from the start to a score of 1; where 0 is the best, to that.
    best = 1 if name in ("FlattenTowels", "DressPosts") else 0
    assert (going < 0.5 * (best - start[~terminations])).all(), (total, start)
    if policy == "pulling apart" and name != "FlattenTowels":
        assert (infos["torn"] | infos["overloaded"]).any() and terminations.any()


def test_a_towel_that_is_pulled_apart_is_torn():
    """As it lies flat: tearing it is no way to spread it."""
    envs = isocloth.gym.FlattenTowels(1, starts=1, autoreset_mode="Disabled")
    envs.reset(seed=1)
    flat = envs.simulation.rest_positions(0)
    flat[:, 2] = 1.1 * 0.002
    envs.simulation.write("positions", flat)
    envs._grippers[0, :, :3] = [[-0.2, -0.2, 0.003], [0.2, -0.2, 0.003]]
    envs._grippers[0, :, 3] = 0
    pull = numpy.array([[[-1, 0, 0, 1], [1, 0, 0, 1.0]]])
    for _ in range(8):
        _, rewards, terminations, _, infos = envs.step(pull)
        assert infos["score"] <= 1 and not infos["is_success"].any()
        if terminations.any():
            break
    assert infos["torn"].all() and terminations.all() and rewards <= 0 and infos["strain"] > envs.max_strain
    envs.reset()
    assert not envs._infos()["torn"].any()


def test_limits_are_said():
    envs = isocloth.gym.FoldTowels(2, nodes=5, starts=1, max_strain=1e-9)
    envs.reset(seed=1)
    *_, infos = envs.step(numpy.zeros((2, 2, 4)))
    assert infos["torn"].all() and not infos["overloaded"].any() and infos["_torn"].all()
    envs = isocloth.gym.FoldTowels(2, nodes=5, starts=1, max_force=1e-9)
    envs.reset(seed=1)
    *_, infos = envs.step(numpy.ones((2, 2, 4)) * [0, 0, 1, 1])
    assert infos["overloaded"].all() and (infos["force"] > 0).all()


def test_no_start_is_solved():
    envs = isocloth.gym.FlattenTowels(128)
    _, infos = envs.reset(seed=0)
    assert not infos["is_success"].any()
    assert (infos["score"] < 0.85).all()
