"""What environments may be asked for: every argument is looked at here, before anything is made of it."""

import math
import numbers

import numpy

from .. import _core
from .._arguments import shown

_OPTIONS = ("backend", "device", "precision", "solver", "simd", "threads", "measure_strain", "energy_balance", "allow")
_OWN = ("horizon", "observation", "fabrics", "cloth_contact", "starts", "render_mode")
_NUMBERS = tuple(_core.fabric_numbers())


def _require_count(name, value, most):
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not 1 <= value <= most:
        raise ValueError(f"{name}: found {shown(value)}, expected an integer from 1 to {most}")


def require_options(num_envs, horizon, observation, cloth_contact, starts, render_mode, options):
    """Those of the constructor of :class:`ClothVectorEnv`. Raises ValueError, TypeError for a name that is none."""
    _require_count("num_envs", num_envs, 100_000)
    _require_count("horizon", horizon, 2**31 - 1)
    _require_count("starts", starts, 10_000)
    if not isinstance(observation, str) or observation not in ("points", "depth"):
        raise ValueError(f"observation: found {shown(observation)}, expected 'points' or 'depth'")
    if not isinstance(cloth_contact, bool):
        raise ValueError(f"cloth_contact: found {shown(cloth_contact)}, expected True or False")
    if render_mode is not None:
        raise ValueError(f"render_mode: found {shown(render_mode)}, expected None: these environments draw nothing; "
                         "observation='depth' is what a camera sees")
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(f"{name}: found an argument that there is not, expected one of "
                            f"{', '.join((*_OWN, *_OPTIONS))}")


def ranges(fabrics):
    """Ranges of numbers of a fabric by name: 0 < low <= high."""
    try:
        found = {name: (float(low), float(high)) for name, (low, high) in dict(fabrics).items()}
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"fabrics: found {shown(fabrics)}, expected names with a low and a high number each") from None
    for name, (low, high) in found.items():
        if name not in _NUMBERS:
            raise ValueError(f"fabrics: found {shown(name)}, expected one of {', '.join(_NUMBERS)}")
        if not 0 < low <= high < math.inf:
            raise ValueError(f"fabrics: {name}: found {low:g} to {high:g}, expected 0 < low <= high")
    return found


def reset_options(options, num_envs):
    """The mask of those that begin anew, and whether all of them alike, of the ``options`` of a reset."""
    if options is not None and not isinstance(options, dict):
        raise ValueError(f"options: found {shown(options)}, expected a dict or None")
    options = options or {}
    for name in options:
        if name not in ("reset_mask", "same"):
            raise ValueError(f"options: found {shown(name)}, expected reset_mask or same")
    mask, same = options.get("reset_mask"), options.get("same", False)
    if not isinstance(same, (bool, numpy.bool_)):
        raise ValueError(f"options: same: found {shown(same)}, expected True or False")
    if mask is None:
        return numpy.ones(num_envs, dtype=bool), bool(same)
    if getattr(mask, "shape", (num_envs,)) != (num_envs,):
        raise ValueError(f"options: reset_mask: found shape {mask.shape}, expected ({num_envs},)")
    try:
        array = numpy.asarray(mask)
    except ValueError:
        array = numpy.empty(0, dtype=object)
    if array.shape != (num_envs,) or array.dtype.kind != "b":
        raise ValueError(f"options: reset_mask: found {shown(mask)}, expected True or False, shape ({num_envs},)")
    return array, bool(same)


def finite_array(name, values, shape):
    """An array of finite numbers. The shape is looked at before anything is copied."""
    found = getattr(values, "shape", shape)
    try:
        if tuple(found) == shape:
            with numpy.errstate(over="ignore", invalid="ignore"):
                array = numpy.asarray(values)
                is_of_numbers = array.dtype.kind in "fiub"
                array = array.astype(float) if is_of_numbers else array
            found = array.shape if is_of_numbers else "no array of numbers"
    except (TypeError, ValueError, OverflowError):
        found = "no array of numbers"
    if found != shape:
        raise ValueError(f"{name}: found {'shape ' if isinstance(found, tuple) else ''}{found}, expected numbers of "
                         f"shape {shape}")
    if not numpy.isfinite(array).all():
        raise ValueError(f"{name}: found values that are not finite, expected finite numbers of shape {shape}")
    return array
