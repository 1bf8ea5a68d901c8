"""Environments as gymnasium 1 asks for them: spaces, seeds, ends of episodes, pictures, copies."""

import copy
import pickle

import gymnasium
import isocloth.gym
import numpy
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence

SMALL = {"FoldTowel": {"nodes": 5}, "FlattenTowel": {"nodes": 7}, "HangShirt": {"triangles": 300},
         "DressPost": {"along": 5, "around": 8}, "HangTowel": {"nodes": 7}, "PinchTowel": {"nodes": 9}}


@pytest.fixture(autouse=True)
def no_window(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


@pytest.mark.parametrize("name", SMALL)
def test_the_checker_is_content_with_what_make_makes(name, recwarn):
    if name == "FoldTowel":
        pytest.importorskip("pygame")
    check_env(gymnasium.make(f"isocloth/{name}-v0", starts=1, observation=["points", "depth", "rgb", "segmentation"],
                             **SMALL[name]).unwrapped, skip_render_check=name != "FoldTowel")
    assert not [w for w in recwarn if "gymnasium" in str(w.filename) or "gym" in str(w.message).lower()]


def steps_of(envs, count, seed):
    """All that a vector environment returns for random actions."""
    said = [envs.reset(seed=seed)]
    envs.action_space.seed(1)
    for _ in range(count):
        said.append(envs.step(envs.action_space.sample()))
    return said


@pytest.mark.parametrize("mode", list(gymnasium.vector.AutoresetMode)[:2])
@pytest.mark.parametrize("name", ["FoldTowel", "FlattenTowel", "DressPost", "PinchTowel"])
def test_vectors_do_what_single_ones_do(name, mode):
    arguments = {"starts": 2, "horizon": 3, "randomize": ["density", "latency"], "observation": ["points", "depth"],
                 **SMALL[name]}
    one = getattr(isocloth.gym, name)
    many = one.vector(3, autoreset_mode=mode, **arguments)
    alone = gymnasium.vector.SyncVectorEnv([lambda: one(**arguments)] * 3, autoreset_mode=mode)
    assert many.metadata["autoreset_mode"] is alone.metadata["autoreset_mode"]
    for seed in (4, [7, 7, 3]):
        for ours, theirs in zip(steps_of(many, 8, seed), steps_of(alone, 8, seed)):
            assert data_equivalence(ours[:-1], theirs[:-1], exact=True)
            assert set(ours[-1]) == set(theirs[-1])
            for key in ours[-1]:
                if key not in ("final_obs", "final_info"):
                    numpy.testing.assert_array_equal(ours[-1][key], theirs[-1][key], err_msg=key)
            if "final_obs" in ours[-1]:
                for our, their in zip(ours[-1]["final_obs"], theirs[-1]["final_obs"]):
                    assert (our is None) == (their is None)
                    assert our is None or all(numpy.array_equal(our[key], their[key]) for key in our)
                for key in ours[-1]["final_info"]:
                    numpy.testing.assert_array_equal(ours[-1]["final_info"][key], theirs[-1]["final_info"][key])


def test_seeds_are_of_each():
    envs = isocloth.gym.FoldTowels(3, nodes=5, starts=1)
    first = envs.reset(seed=5)[0]["points"]
    numpy.testing.assert_array_equal(envs.reset(seed=[5, 6, 7])[0]["points"], first)
    again = envs.reset(seed=[6, None, 5])[0]["points"]
    numpy.testing.assert_array_equal(again[[0, 2]], first[[1, 0]])
    assert (again[1] != first[1]).any()
    mask = numpy.array([False, True, False])
    masked = envs.reset(seed=[1, 6, 1], options={"reset_mask": mask})[0]["points"]
    numpy.testing.assert_array_equal(masked[1], first[1])
    numpy.testing.assert_array_equal(masked[~mask], again[~mask])
    for wrong in (-1, [1, 2], [1, 2, "x"], 0.5, True, 2**63):
        with pytest.raises(ValueError, match="seed: found"):
            envs.reset(seed=wrong)


def test_an_end_asks_for_a_reset():
    envs = isocloth.gym.FoldTowels(2, nodes=5, starts=1, horizon=1, autoreset_mode="Disabled")
    rest = numpy.zeros((2, 2, 4))
    with pytest.raises(gymnasium.error.ResetNeeded, match="environment 0"):
        envs.step(rest)
    envs.reset(seed=1)
    assert envs.step(rest)[3].all()
    envs.reset(options={"reset_mask": numpy.array([True, False])})
    with pytest.raises(gymnasium.error.ResetNeeded, match="environment 1"):
        envs.step(rest)
    with pytest.raises(ValueError, match="autoreset_mode: found 'x', expected one of 'NextStep', "):
        isocloth.gym.FoldTowels(1, autoreset_mode="x")


def test_pictures_for_people():
    envs = gymnasium.make_vec("isocloth/FoldTowel-v0", num_envs=2, vectorization_mode="vector_entry_point",
                              render_mode="rgb_array", nodes=5, starts=1)
    envs.reset(seed=1)
    pictures = envs.render()
    assert len(pictures) == 2 and all(p.shape == (256, 256, 3) and p.dtype == numpy.uint8 for p in pictures)
    assert len(numpy.unique(pictures[0].reshape(-1, 3), axis=0)) >= 5
    env = gymnasium.make("isocloth/DressPost-v0", render_mode="rgb_array", starts=1, **SMALL["DressPost"])
    env.reset(seed=1)
    assert env.render().shape == (256, 256, 3)
    with pytest.raises(ValueError, match="render_mode: found 'ansi', expected 'human', 'rgb_array' or None"):
        isocloth.gym.FoldTowel(render_mode="ansi")


def test_a_window_shows_them():
    pytest.importorskip("pygame")
    envs = isocloth.gym.FoldTowels(3, nodes=5, starts=1, render_mode="human")
    envs.reset(seed=1)
    envs.step(envs.action_space.sample())
    assert envs.render() is None and envs._window._surface.get_size() == (512, 512)
    assert pickle.loads(pickle.dumps(envs))._window is None
    envs.close()


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))])
def test_copies_go_on_alike(name, copied):
    envs = getattr(isocloth.gym, name).vector(2, starts=2, horizon=5, randomize=["density", "latency"], **SMALL[name])
    envs.reset(seed=2)
    actions = numpy.random.default_rng(1).uniform(-1, 1, (8, *envs.action_space.shape))
    for action in actions[:3]:
        envs.step(action)
    other = copied(envs)
    assert other.simulation is not envs.simulation
    for action in actions[3:]:
        assert data_equivalence(envs.step(action), other.step(action), exact=True)
    assert data_equivalence(envs.reset(), other.reset(), exact=True)
    single = getattr(isocloth.gym, name)(starts=1, **SMALL[name])
    single.reset(seed=1)
    double = copied(single)
    assert data_equivalence(single.step(actions[0][0]), double.step(actions[0][0]), exact=True)


def test_environments_go_to_other_processes():
    envs = gymnasium.vector.AsyncVectorEnv([lambda: isocloth.gym.FoldTowel(nodes=5, starts=1)] * 2, context="spawn")
    try:
        observations, _ = envs.reset(seed=1)
        assert observations in envs.observation_space
    finally:
        envs.close()
