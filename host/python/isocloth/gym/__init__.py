"""Cloth and two grippers, many at once: environments of `gymnasium <https://gymnasium.farama.org>`_.

``isocloth/FoldTowel-v0``: lay one half of a flat towel onto the other. ``isocloth/FlattenTowel-v0``: spread a towel
that lies crumpled. ``isocloth/HangShirt-v0``: bring the straps of a tank top onto a peg and let go.
``isocloth/DressPost-v0``: pull a tube over a post that stands on a table. All cloths of a vector environment are one
simulation.

>>> import gymnasium
>>> import isocloth.gym
>>> envs = gymnasium.make_vec("isocloth/FoldTowel-v0", num_envs=4, vectorization_mode="vector_entry_point")
>>> observations, infos = envs.reset(seed=1)
>>> observations["points"].shape, observations["grippers"].shape
((4, 169, 3), (4, 2, 4))
>>> observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())
>>> rewards.shape
(4,)
"""

import gymnasium

from .garments import DressPost, DressPosts, HangShirt, HangShirts
from .towels import FlattenTowel, FlattenTowels, FoldTowel, FoldTowels, TowelVectorEnv
from .vector_env import FABRICS, ClothEnv, ClothVectorEnv

__all__ = ["FABRICS", "ClothEnv", "ClothVectorEnv", "DressPost", "DressPosts", "FlattenTowel", "FlattenTowels",
           "FoldTowel", "FoldTowels", "HangShirt", "HangShirts", "TowelVectorEnv"]

for _one in (FoldTowel, FlattenTowel, HangShirt, DressPost):
    gymnasium.register(id=f"isocloth/{_one.__name__}-v0", entry_point=f"{_one.__module__}:{_one.__name__}",
                       vector_entry_point=f"{_one.vector.__module__}:{_one.vector.__name__}")
