"""A mesh as readers of other programs' files hand it over."""

import dataclasses
import typing


@dataclasses.dataclass
class Mesh:
    """A mesh of a file. ``name``; ``faces``: tuples of nodes; ``uvs``: of each corner of the faces, one after another,
    shape (corners, 2), or None; ``points(time)``: positions in the file's unit and axes, shape (nodes, 3), ``time`` in
    seconds of the file, None: as it stands without its animation; ``moves``: whether they depend on the time."""

    name: str
    faces: list
    uvs: typing.Any
    points: typing.Callable
    moves: bool = False
