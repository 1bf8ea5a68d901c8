"""Forces that are computed in Python."""

import dataclasses

import numpy

from .errors import ForceError


@dataclasses.dataclass(frozen=True)
class ClothState:
    """Garments whose meshes have the same faces, before a step. Arrays may be kept, and not be written."""

    garments: list[int]
    """numbers in the scene"""
    times: numpy.ndarray
    """of their clocks when the step begins [s], shape (cloths,)"""
    step_length: float
    """[s]"""
    positions: numpy.ndarray
    """[m], shape (cloths, nodes, 3)"""
    velocities: numpy.ndarray
    """[m/s], shape (cloths, nodes, 3)"""
    masses: numpy.ndarray
    """of the nodes [kg], shape (cloths, nodes)"""


class Forces:
    """Functions by name; the engine asks by name, so that the interpreter's garbage collector sees them here."""

    def __init__(self):
        self.functions = {}

    def __call__(self, name, *of_state):
        """Forces as an array of doubles in C order."""
        state = ClothState(*of_state)
        said, expected = self.functions[name](state), state.positions.shape
        where = f'force "{name}" at t = {state.times[0]:.6g} s: found'
        try:
            forces = numpy.ascontiguousarray(said, dtype=numpy.float64)
        except (TypeError, ValueError) as error:
            raise ForceError(f"{where} no array of numbers ({error}), expected one of shape {expected}") from error
        if numpy.shape(said) != expected:
            raise ForceError(f"{where} shape {numpy.shape(said)}, expected {expected}")
        return forces
