"""Gradients of losses that noise has smoothed."""

import dataclasses
import typing

import numpy

from .errors import ShapeError


@dataclasses.dataclass(frozen=True)
class SmoothedGradient:
    """An estimate of the derivatives of E L(values + deviations * noise), noise normal.

    ``loss``: mean of L. ``gradient``: by each value, under its name. ``standard_error``: of each derivative, by how the
    samples differ, and of nothing else.
    """

    loss: float
    gradient: dict[str, numpy.ndarray]
    standard_error: dict[str, numpy.ndarray]


def smoothed_gradient(loss: typing.Callable, values: dict, deviations: dict, *, samples: int = 32, seed: int = 0,
                      gradient: typing.Callable | None = None) -> SmoothedGradient:
    """Derivatives of a loss that is not smooth, over a neighbourhood of values: of its mean under normal noise.

    ``loss(**values)`` is a number; ``deviations``: of the noise on each value that a derivative is wanted by, a number
    or an array of its shape. There are ``samples`` pairs of runs, at values + s e and values - s e. Without
    ``gradient`` the estimate is the score function's with these pairs, e (L(values + s e) - L(values - s e)) / (2 s):
    it asks for no derivative, so that cloth may meet cloth, too, and its error grows with the number of values. With
    ``gradient(**values)``, a dict of derivatives as :class:`RunFunction` has them, it is their mean: of less error
    where they exist, but blind to jumps of the loss, as where contacts begin late or never.

    >>> import isocloth
    >>> found = isocloth.smoothed_gradient(lambda x: abs(x), {"x": 0.5}, {"x": 1.0}, samples=4000)
    >>> bool(abs(found.gradient["x"] - 0.383) < 4 * found.standard_error["x"])  # 2 Phi(0.5) - 1
    True
    """
    if samples < 2:
        raise ShapeError(f"samples: found {samples}, expected at least 2, to tell the error")
    scales = {}
    for name, deviation in deviations.items():
        if name not in values:
            raise ShapeError(f"deviations: found \"{name}\", expected names of values: {', '.join(values)}")
        scales[name] = numpy.broadcast_to(numpy.asarray(deviation, dtype=float), numpy.shape(values[name]))
        if not (scales[name] > 0).all():
            raise ShapeError(f"deviations: {name}: found {scales[name].min()}, expected more than 0; leave out what is "
                             "to stay")
    random = numpy.random.default_rng(seed)
    losses, parts = [], {name: [] for name in scales}
    for _ in range(samples):
        noise = {name: random.normal(size=scale.shape) for name, scale in scales.items()}
        sides = [{**values, **{name: values[name] + side * scales[name] * noise[name] for name in scales}}
                 for side in (1, -1)]
        both = [float(loss(**side)) for side in sides]
        losses += both
        slopes = [gradient(**side) for side in sides] if gradient is not None else None
        for name, scale in scales.items():
            parts[name].append((both[0] - both[1]) / (2 * scale) * noise[name] if slopes is None
                               else (numpy.asarray(slopes[0][name]) + slopes[1][name]) / 2)
    return SmoothedGradient(float(numpy.mean(losses)),
                            {name: numpy.mean(own, axis=0) for name, own in parts.items()},
                            {name: numpy.std(own, axis=0, ddof=1) / samples ** 0.5 for name, own in parts.items()})
