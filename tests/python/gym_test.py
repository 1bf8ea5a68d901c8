"""Environments of gymnasium: what they have in common, and towels."""

import io

import gymnasium
import isocloth.gym
import numpy
import pytest
from gymnasium.utils.env_checker import check_env

SMALL = {"FoldTowel": {"nodes": 7}, "FlattenTowel": {"nodes": 7}, "HangShirt": {"triangles": 300},
         "DressPost": {"along": 5, "around": 8}, "HangTowel": {"nodes": 7}}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("observation", ["points", "depth"])
def test_the_checker_is_content(name, observation):
    check_env(gymnasium.make(f"isocloth/{name}-v0", observation=observation, starts=2, **SMALL[name]).unwrapped,
              skip_render_check=True)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("observation", ["points", "depth"])
def test_vectors_are_what_their_spaces_say(name, observation):
    envs = gymnasium.make_vec(f"isocloth/{name}-v0", num_envs=2, vectorization_mode="vector_entry_point",
                              observation=observation, starts=2, horizon=2, **SMALL[name])
    envs.action_space.seed(1)
    observations, infos = envs.reset(seed=1)
    assert observations in envs.observation_space
    earned = []
    for step in range(3):
        observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())
        assert observations in envs.observation_space
        assert rewards.shape == terminations.shape == truncations.shape == infos["score"].shape == (2,)
        assert truncations.tolist() == [step == 1] * 2 and not terminations.any() and not infos["lost"].any()
        earned.append(rewards.any())
    assert not earned[2] and (any(earned[:2]) or name == "FlattenTowel")  # which counts pixels: they may stay
    again, _ = envs.reset(seed=1)
    other, _ = envs.reset(seed=2)
    first = envs.unwrapped.reset(seed=1)[0][observation]
    numpy.testing.assert_array_equal(again[observation], first)
    assert (other[observation] != first).any()
    alike, _ = envs.reset(seed=1, options={"same": True})
    numpy.testing.assert_array_equal(alike[observation][0], alike[observation][1])


def test_the_first_reset_tells_a_terminal_how_far_it_is(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stream, is_told in ((Terminal(), True), (io.StringIO(), False)):
        env = gymnasium.make("isocloth/FlattenTowel", starts=2)
        monkeypatch.setattr("sys.stderr", stream)
        env.reset(seed=0)
        env.reset(seed=1)
        monkeypatch.undo()
        env.close()
        said = "FlattenTowels makes its starts, 0 of 2 there, lifted: step 150 of 200"
        assert stream.getvalue().count(said) == is_told



@pytest.mark.parametrize("name", ["FlattenTowels", "HangShirts", "DressPosts"])
def test_a_reset_chooses_among_starts_and_steps_nothing(name):
    envs = getattr(isocloth.gym, name)(12, starts=3, **SMALL[name[:-1]])
    shapes = set()
    for seed in range(2):
        envs.reset(seed=seed)
        assert envs.simulation.step_index == 0
        points = envs._points
        # What turning and shifting do not change.
        shapes |= set(numpy.linalg.norm(points - points[:, :1], axis=-1).sum(-1).round(6))
    assert len(shapes) == 3


def folding(envs, lift=0.15):
    """Actions that take hold of an edge, lay it over along an arc and let go."""
    start = envs.unwrapped._grippers[:, :, :2].copy()
    sheets = envs.unwrapped._points.reshape(envs.num_envs, envs.unwrapped.nodes, envs.unwrapped.nodes, 3)
    across = sheets[:, -1][:, [0, -1], :2] - start
    frames = 36
    for frame in range(1, frames + 1):
        angle = numpy.pi * min(frame / (frames - 2), 1)
        share = (1 - numpy.cos(angle)) / 2
        target = numpy.concatenate([start + share * across,
                                    numpy.full((*start.shape[:2], 1), 0.01 + lift * numpy.sin(angle))], axis=-1)
        way = target - envs.unwrapped._grippers[:, :, :3]
        action = numpy.ones((envs.num_envs, 2, 4))
        action[..., :3] = way / (envs.unwrapped.top_speed * envs.unwrapped.frame_time)
        action[..., 3] = 1 if frame < frames - 1 else -1
        yield action


def test_a_towel_that_is_folded_earns_its_reward():
    envs = gymnasium.make_vec("isocloth/FoldTowel-v0", num_envs=3, vectorization_mode="vector_entry_point")
    envs.reset(seed=3)
    total = numpy.zeros(3)
    for action in folding(envs):
        _, rewards, terminations, truncations, infos = envs.step(action)
        total += rewards
        assert not terminations.any() and not truncations.any()
    assert (infos["score"] > -0.01).all(), infos["score"]
    assert (total > 0.25).all(), total


def test_episodes_end_and_begin_anew():
    envs = isocloth.gym.FoldTowels(3, nodes=5, horizon=4)
    envs.reset(seed=1)
    rest = numpy.zeros((3, 2, 4))
    for _ in range(3):
        assert not envs.step(rest)[3].any()
    assert envs.step(rest)[3].all()
    _, rewards, _, truncations, _ = envs.step(rest)
    assert not rewards.any() and not truncations.any()
    envs.step(rest)
    envs.reset(options={"reset_mask": numpy.array([False, True, False])})
    for _ in range(2):
        assert not envs.step(rest)[3].any()
    assert envs.step(rest)[3].tolist() == [True, False, True]


def test_seeds_and_numbers_of_towels_do_not_change_a_towel():
    def way(count):
        envs = isocloth.gym.FoldTowels(count, nodes=5, randomize={})
        envs.reset(seed=5)
        actions = numpy.random.default_rng(1).uniform(-1, 1, (10, 1, 2, 4))
        for action in actions:
            seen = envs.step(numpy.repeat(action, count, axis=0))[0]
        return seen["points"]
    numpy.testing.assert_array_equal(way(4), way(4))


def test_heavier_towels_weigh_more():
    env = isocloth.gym.FoldTowels(num_envs=3, starts=2)
    env.reset(seed=1)
    fabrics = [env.simulation.fabric(g) for g in range(3)]
    assert len({fabric["density"] for fabric in fabrics}) == 3
    assert all(fabric["gravity_density"] == fabric["density"] for fabric in fabrics)


def test_a_flat_towel_is_seen_whole():
    envs = isocloth.gym.FlattenTowels(2, nodes=7)
    flat = isocloth.gym.FoldTowels(2, nodes=7)
    flat.reset(seed=1)
    assert numpy.abs(envs.score(flat._points) - 1).max() < 0.05
    _, infos = envs.reset(seed=1)
    assert (infos["score"] < 0.9).all() and (infos["score"] > 0.1).all(), infos
    depth = envs.depth(envs._points)
    assert depth.shape == (2, 64, 64) and depth.max() == 1 and depth.min() > 0.7


def test_wrong_actions_are_refused():
    envs = isocloth.gym.FoldTowels(2, nodes=5)
    envs.reset()
    with pytest.raises(ValueError, match="actions"):
        envs.step(numpy.zeros((2, 8)))
    with pytest.raises(ValueError, match="actions"):
        envs.step(numpy.full((2, 2, 4), numpy.nan))
    with pytest.raises(ValueError, match="observation"):
        isocloth.gym.FoldTowels(2, observation="smell")
    for name, wrong in (("FoldTowels", {"nodes": 2}), ("DressPosts", {"around": 4}), ("HangShirts", {"starts": 0})):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            getattr(isocloth.gym, name)(2, **wrong)
