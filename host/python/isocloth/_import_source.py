"""What readers of other programs' files hand over: meshes, unit, axis and times."""

import dataclasses
import typing

from ._import_mesh import Mesh


@dataclasses.dataclass
class Source:
    """What a file holds: unit [m] and axis that is up, None where it does not say; first and last time of its animation
    [s] and frames per second, or None; notes on what was left out; ``prepare(times)``: is told which will be asked
    for."""

    meshes: list[Mesh]
    unit: float | None
    up: str | None
    span: tuple | None = None
    rate: float | None = None
    notes: list = dataclasses.field(default_factory=list)
    prepare: typing.Callable = lambda times: None
