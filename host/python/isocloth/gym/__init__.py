"""Cloth and robots' hands, many at once: environments of `gymnasium <https://gymnasium.farama.org>`_.

``isocloth/FoldTowel-v0``: lay one half of a flat towel onto the other. ``isocloth/FlattenTowel-v0``: spread a towel
that lies crumpled. ``isocloth/HangTowel-v0``: hang a towel over a line. ``isocloth/HangShirt-v0``: bring the straps of
a tank top onto a peg and let go. ``isocloth/DressPost-v0``: pull a tube over a post that stands on a table.
``isocloth/PinchTowel-v0``: hold a towel by the friction of two fingers, and raise it. All cloths of a vector
environment are one simulation, but those that are pinched, whose fingers are their own.

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

from .camera import LABELS, Camera, PinholeCamera, StructuredLight
from .garments import DressPost, DressPosts, HangShirt, HangShirts
from .line import HangTowel, HangTowels
from .pinch import PinchTowel, PinchTowels
from .randomization import FABRICS, TABLE
from .towels import FlattenTowel, FlattenTowels, FoldTowel, FoldTowels, TowelVectorEnv
from .vector_env import ClothEnv, ClothVectorEnv

__all__ = ["Camera", "ClothEnv", "ClothVectorEnv", "DressPost", "DressPosts", "FABRICS", "FlattenTowel",
           "FlattenTowels", "FoldTowel", "FoldTowels", "HangShirt", "HangShirts", "HangTowel", "HangTowels", "LABELS",
           "PinchTowel", "PinchTowels", "PinholeCamera", "StructuredLight", "TABLE", "TowelVectorEnv"]

for _one in (FoldTowel, FlattenTowel, HangShirt, HangTowel, DressPost, PinchTowel):
    gymnasium.register(id=f"isocloth/{_one.__name__}-v0", entry_point=f"{_one.__module__}:{_one.__name__}",
                       vector_entry_point=f"{_one.vector.__module__}:{_one.vector.__name__}")
