"""Forces that are computed in Python."""

import dataclasses

import numpy
import numpy.typing

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


@dataclasses.dataclass(frozen=True)
class SlopedForce:
    """A force that says how it goes with places and velocities, and is implicit by that.

    What acts is ``forces - stiffness (x - x_n) - damping (v - v_n)`` with x and v of the end of the step, x_n and v_n
    those of :class:`ClothState`: backward Euler, if the force is linear, and one of Newton's iterations towards it
    else. A force that depends on time is as implicit as the step if it is that of ``times + step_length``.

    forces: F [N], shape (cloths, nodes, 3). stiffness: K = -dF/dx [N/m], damping: D = -dF/dv [N s/m], each of shape
    (cloths, nodes), the same along all axes, (cloths, nodes, 3), of each axis, or (cloths, nodes, 3, 3), of which the
    symmetric part is taken; or one number for all. Neither may have a negative eigenvalue: leave out what pushes away.
    """

    forces: numpy.typing.ArrayLike
    stiffness: numpy.typing.ArrayLike | None = None
    damping: numpy.typing.ArrayLike | None = None


class Forces:
    """Functions by name; the engine asks by name, so that the interpreter's garbage collector sees them here."""

    def __init__(self):
        self.functions, self.garments = {}, {}  # garments: as add_force() was told

    def __call__(self, name, *of_state):
        """Forces and, or None, stiffness and damping as xx, xy, xz, yy, yz, zz of each node."""
        state = ClothState(*of_state)
        said = self.functions[name](state)
        if not isinstance(said, SlopedForce):
            said = SlopedForce(said)
        shape = state.positions.shape
        where = f'force "{name}" at t = {state.times[0]:.6g} s: '
        return (_array(said.forces, where + "forces", [shape]),
                _tensors(said.stiffness, where + "stiffness", shape), _tensors(said.damping, where + "damping", shape))


def _array(values, what, shapes):
    _require_shape(getattr(values, "shape", shapes[0]), what, shapes)  # of an array before it is copied
    try:
        array = numpy.asarray(values, dtype=numpy.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ForceError(f"{what}: found no array of numbers ({error})") from error
    _require_shape(array.shape, what, shapes)
    return array


def _require_shape(shape, what, shapes):
    if tuple(shape) not in shapes:
        raise ForceError(f"{what}: found shape {tuple(shape)}, expected {' or '.join(map(str, shapes))}")


def _tensors(values, what, shape):
    if values is None:
        return None
    array = _array(values, what, [(), shape[:2], shape, (*shape, 3)])
    tensors = numpy.zeros((*shape[:2], 6))
    if array.shape == (*shape, 3):
        array = (array + array.swapaxes(-1, -2)) / 2
        tensors[:] = array[..., [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    else:
        tensors[..., [0, 3, 5]] = array if array.shape == shape else array[..., None]
    return tensors
