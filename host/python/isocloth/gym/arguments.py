"""What environments may be asked for: every argument is looked at here, before anything is made of it."""

import numbers

import numpy
from gymnasium.vector import AutoresetMode

from .._arguments import shown
from .camera import Camera, PinholeCamera

_OPTIONS = ("backend", "device", "precision", "solver", "simd", "threads", "measure_strain", "energy_balance", "allow")
_OWN = ("horizon", "observation", "randomize", "cloth_contact", "starts", "cameras", "max_strain", "max_force",
        "render_mode", "autoreset_mode")
_SEEN = ("points", "depth", "rgb", "segmentation")


def _require_count(name, value, most):
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not 1 <= value <= most:
        raise ValueError(f"{name}: found {shown(value)}, expected an integer from 1 to {most}")


def require_options(num_envs, horizon, cloth_contact, starts, max_strain, max_force, render_mode, options):
    """Those of the constructor of :class:`ClothVectorEnv`. Raises ValueError, TypeError for a name that is none."""
    _require_count("num_envs", num_envs, 100_000)
    _require_count("horizon", horizon, 2**31 - 1)
    _require_count("starts", starts, 10_000)
    if not isinstance(cloth_contact, bool):
        raise ValueError(f"cloth_contact: found {shown(cloth_contact)}, expected True or False")
    for name, value in (("max_strain", max_strain), ("max_force", max_force)):
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not value > 0:
            raise ValueError(f"{name}: found {shown(value)}, expected a number above 0")
    if render_mode is not None and render_mode not in ("human", "rgb_array"):
        raise ValueError(f"render_mode: found {shown(render_mode)}, expected 'human', 'rgb_array' or None")
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(f"{name}: found an argument that there is not, expected one of "
                            f"{', '.join((*_OWN, *_OPTIONS))}")


def one_of(name, value, choices):
    """The value, one of some texts."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}: found {shown(value)}, expected one of {', '.join(map(repr, choices))}")
    return value


def observations_of(observation):
    """A tuple of what is seen, in the order of the names."""
    names = (observation,) if isinstance(observation, str) else observation
    if (not isinstance(names, (tuple, list)) or not names
            or not all(isinstance(name, str) and name in _SEEN for name in names)):
        raise ValueError(f"observation: found {shown(observation)}, expected one or several of "
                         f"{', '.join(map(repr, _SEEN))}")
    return tuple(name for name in _SEEN if name in names)


def camera_list(cameras):
    """None, or a list of cameras of one shape."""
    if cameras is None:
        return None
    found = list(cameras) if isinstance(cameras, (tuple, list)) else [cameras]
    if not found or not all(isinstance(camera, (Camera, PinholeCamera)) for camera in found):
        raise ValueError(f"cameras: found {shown(cameras)}, expected a Camera, a PinholeCamera, or several")
    if len({camera.shape for camera in found}) > 1:
        raise ValueError(f"cameras: found images of {found[0].shape} and of "
                         f"{next(c.shape for c in found if c.shape != found[0].shape)} pixels, expected one shape")
    return found


def autoreset_mode(mode):
    """Of gymnasium, by itself or its value."""
    try:
        return AutoresetMode(mode)
    except ValueError:
        raise ValueError(f"autoreset_mode: found {shown(mode)}, expected one of "
                         f"{', '.join(repr(each.value) for each in AutoresetMode)}") from None


def seeds(seed, num_envs):
    """A list of a seed, or None, for each."""
    def is_one(value):
        return isinstance(value, numbers.Integral) and not isinstance(value, bool) and 0 <= value < 2**63
    if seed is None:
        return [None] * num_envs
    if is_one(seed):
        return [int(seed) + env for env in range(num_envs)]
    if isinstance(seed, (list, tuple)) and len(seed) == num_envs and all(s is None or is_one(s) for s in seed):
        return list(seed)
    raise ValueError(f"seed: found {shown(seed)}, expected an integer from 0 to 2^63 - 1, a list of {num_envs} of "
                     "these or None, or None")


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
