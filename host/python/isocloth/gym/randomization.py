"""What environments draw at random, and from which ranges."""

import dataclasses
import math

import numpy

from .. import _core
from .._arguments import shown


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of the table of domain randomisation.

    low, high: the range by default. unit. scale: ``linear`` or ``log``: evenly drawn, or in the logarithm. drawn: at
    each ``episode``, or once for each ``environment`` of a vector environment. source: of the range.
    """

    low: float
    high: float
    unit: str
    scale: str
    drawn: str
    source: str


#: All that may be drawn, by name. ``friction`` is that of the cloth with everything, static as dynamic; ``size`` is
#: what the towel is multiplied by; ``latency`` is by how many steps of an environment grippers are late, rounded down;
#: ``camera_*`` moves each camera, but not the orthographic ones, about where it stands.
TABLE = {
    "density": Row(0.1, 0.4, "kg/m^2", "log", "episode", "presets but paper: silk, 83 g/m^2, to denim, 400 g/m^2"),
    "bending_stiffness": Row(5e-6, 1e-4, "N m", "log", "episode", "jersey of the presets to terry, of which we guess"),
    "stretch_stiffness": Row(1000.0, 4000.0, "N/m", "log", "episode",
                             "presets but paper: jersey, 69, to wool, 12,400 N/m; towels between"),
    "shear_stiffness": Row(50.0, 200.0, "N/m", "log", "episode",
                           "presets but paper: 24 to 110 N/m; terry beyond, of which we guess"),
    "friction": Row(0.2, 0.7, "1", "linear", "environment", "our choice, about the 0.4 of cotton on wood"),
    "size": Row(0.8, 1.2, "1", "linear", "environment", "our choice: towels of a kind differ by a fifth"),
    "latency": Row(0.0, 3.0, "steps of 0.05 s", "linear", "episode",
                   "our choice: up to 0.1 s from a camera's picture to a gripper's motion"),
    "camera_position": Row(-0.05, 0.05, "m", "linear", "episode", "Tobin et al. 2017, Domain randomization: 0.1 m"),
    "camera_angle": Row(-5.7, 5.7, "degrees", "linear", "episode", "the same: up to 0.1 rad"),
    "camera_field_of_view": Row(0.95, 1.05, "1", "linear", "episode", "the same: up to 5 %"),
}

#: Drawn unless environments are told otherwise.
FABRICS = {name: (row.low, row.high) for name, row in TABLE.items() if row.unit in ("kg/m^2", "N m", "N/m")}

_FABRIC_NUMBERS = tuple(_core.fabric_numbers())


def row_of(name):
    """The row of a name; numbers of a fabric that the table lacks are drawn as those that it has."""
    return TABLE.get(name) or Row(math.nan, math.nan, "", "log", "episode", "")


def ranges(randomize):
    """Ranges by name of what an environment is told to draw: None: :data:`FABRICS`; ``all``: the table; names of the
    table, or a dict of ranges, for which None is that of the table."""
    if randomize is None:
        return dict(FABRICS)
    if isinstance(randomize, str):
        if randomize != "all":
            raise ValueError(f"randomize: found {shown(randomize)}, expected None, 'all', names or a dict of ranges")
        return {name: (row.low, row.high) for name, row in TABLE.items()}
    try:
        pairs = dict(randomize.items() if isinstance(randomize, dict) else ((name, None) for name in randomize))
        found = {}
        for name, span in pairs.items():
            if name not in TABLE and name not in _FABRIC_NUMBERS:
                raise _Named(f"found {shown(name)}, expected one of {', '.join((*TABLE, *_FABRIC_NUMBERS))}")
            if span is None and name not in TABLE:
                raise _Named(f"{name}: found no range, expected one: the table has none of it")
            low, high = (row_of(name).low, row_of(name).high) if span is None else span
            found[name] = (float(low), float(high))
    except _Named as error:
        raise ValueError(f"randomize: {error}") from None
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"randomize: found {shown(randomize)}, expected names with a low and a high number "
                         "each") from None
    for name, (low, high) in found.items():
        least = "0 < " if row_of(name).scale == "log" or name in ("size", "camera_field_of_view") else ""
        if name in ("friction", "latency"):
            least = "0 <= "
        if not (low <= high and math.isfinite(low) and math.isfinite(high)
                and (not least or low > 0 or (least == "0 <= " and low == 0))):
            raise ValueError(f"randomize: {name}: found {low:g} to {high:g}, expected {least}low <= high")
    return found


class _Named(Exception):
    """Says which name is wrong."""


def shares(seeds, episodes, count):
    """Numbers from 0 to 1, shape (envs, count), that depend on the seed and the episode of each alone, shape (envs,):
    by the finaliser of SplitMix64 (Steele, Lea and Flood 2014), once over the seed, the episode and each number."""
    golden = numpy.uint64(0x9E3779B97F4A7C15)

    def mixed(x):
        x = (x ^ (x >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        return x ^ (x >> numpy.uint64(31))

    seeds, episodes = (numpy.asarray(values).astype(numpy.uint64) for values in (seeds, episodes))
    state = mixed(mixed((seeds + numpy.uint64(1)) * golden) + (episodes + numpy.uint64(1)) * golden)
    drawn = mixed(state[:, None] + numpy.arange(1, count + 1, dtype=numpy.uint64) * golden)
    return (drawn >> numpy.uint64(11)) * 2.0**-53


def value(name, span, share):
    """The number at ``share``, from 0 to 1, of a range."""
    low, high = span
    return low * (high / low) ** share if row_of(name).scale == "log" else low + (high - low) * share
