"""Environments that are asked for odd things."""

import math

EXPECTED = (ValueError, TypeError)  # and those of gymnasium, below
_ODD = (None, True, False, -1, 0, 1, 2, 3, 10**9, 10**30, 0.5, math.nan, math.inf, "x", "", b"x", [], {}, [1], (2, 4),
        object())


def _odd_array(choice, shape):
    import numpy

    way = choice.randrange(12)
    whole = numpy.random.default_rng(choice.randrange(10**6)).uniform(-1, 1, shape)
    if way == 0:
        whole[tuple(choice.randrange(n) for n in shape)] = choice.choice((math.nan, math.inf, -math.inf))
    elif way == 1:
        whole *= choice.choice((1e300, 1e-320, -1e308, 0))
    elif way == 2:
        return whole[..., :choice.randrange(4)]
    elif way == 3:
        return numpy.broadcast_to(0.0, (10**5, 10**4, 8))
    elif way == 4:
        return whole.astype(choice.choice(("f2", "i8", "u1", "?", "c16", "S4", "O")))
    elif way == 5:
        return whole.tolist()
    elif way == 6:
        return choice.choice(_ODD)
    elif way == 7:
        return numpy.asfortranarray(whole)
    elif way == 8:
        return [[[[1, 2, 3, "x"]]]]
    return whole


def run(_kind, choice, _root):
    import gymnasium
    import isocloth.gym as gym
    import numpy
    from python_fuzz import Bad

    def look(observations):
        for name, values in observations.items():
            if not numpy.isfinite(values).all():
                raise Bad(f"{name}: found what is not finite")

    is_vector = choice.random() < 0.7
    kind = choice.choice((gym.FoldTowels, gym.FlattenTowels) if is_vector else (gym.FoldTowel, gym.FlattenTowel))
    arguments = {"starts": 1, "threads": 1} | ({"num_envs": 2} if is_vector else {})
    if choice.random() < 0.4:
        names = ("num_envs", "horizon", "observation", "randomize", "cloth_contact", "starts", "render_mode", "threads",
                 "nosuch",
                 "backend", "precision")
        values = (*_ODD, "depth", "points", "human", "rgb_array", {"bending_stiffness": (1e-5, 1e-4)},
                  {"bending_stiffness": (1, math.nan)},
                  {"bending_stiffness": 3}, {"nosuch": (1, 2)}, {"density": (0, 1)},
                  {"density": (1e300, 1e308)}, {"bending_stiffness": (2e-5, 1e-5)})
        arguments[choice.choice(names)] = choice.choice(values)
    try:
        env = kind(**arguments)
        if env.num_envs > 8 if is_vector else False:
            return "done: many"
        shape = (env.num_envs, 2, 4) if is_vector else (2, 4)
        for _ in range(choice.choice((1, 2, 4))):
            way = choice.randrange(6)
            if way == 0:
                env.close()
            elif way <= 2:
                seed = choice.choice((*_ODD, 5, 5, 5, 5))
                options = choice.choice((None, None, {}, {"same": True}, {"same": 3},
                                         {"reset_mask": numpy.array([True, False])},
                                         {"reset_mask": [1, 0]}, {"reset_mask": numpy.broadcast_to(True, (10**10,))},
                                         {"nosuch": 1}, 3, {"reset_mask": "x"}, {"reset_mask": numpy.array([False,
                                                                                                            False])}))
                look(env.reset(seed=seed, options=options)[0])
            elif way == 3:
                look(env.step(env.action_space.sample())[0])
            else:
                look(env.step(_odd_array(choice, shape))[0])
        env.close()
    except (gymnasium.error.Error, gymnasium.error.ClosedEnvironmentError) as error:
        raise ValueError(str(error)) from None
    return "done"
