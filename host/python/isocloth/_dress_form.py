"""Where garments sit on a body: landmarks of its cross-sections, and cylinders about torso, arms, legs, neck, head."""

import dataclasses

import numpy

from .errors import MeshError


@dataclasses.dataclass
class Surface:
    """A cylinder that panels are laid around: its axis from ``low`` to ``high`` [m], the direction that is its front
    (angle 0), and its ``radius`` [m], that of what it holds. Angles grow to the wearer's left, towards +x, seen from
    above; of an arm its front is what looks forward, and its high end the shoulder."""

    name: str
    low: numpy.ndarray
    high: numpy.ndarray
    front: numpy.ndarray
    radius: float

    @property
    def axis(self):
        way = self.high - self.low
        return way / numpy.linalg.norm(way)

    @property
    def length(self):
        return float(numpy.linalg.norm(self.high - self.low))

    def outward(self, angle):
        """Direction away from the axis at an angle [degrees]."""
        a = numpy.radians(angle)
        front = self.front - (self.front @ self.axis) * self.axis
        front = front / numpy.linalg.norm(front)
        return numpy.cos(a) * front + numpy.sin(a) * numpy.cross(self.axis, front)


class DressForm:
    """Landmarks of a body as heights [m]: ``crotch``, ``hips``, ``waist``, ``armpits``, ``shoulders``, ``neck``; and
    ``surfaces`` by name: torso, hips, left_arm, right_arm, left_leg, right_leg, neck, head. Left is the wearer's, +x.

    The crotch is where two loops of cross-sections become one, going up; the armpits are where that one becomes wider
    by a quarter within a hundredth of the height, as arms join it; the waist is its least and the hips its greatest
    girth between them, the neck its least width above."""

    def __init__(self, body):
        self.body = body
        bottom, top = body.low[2], body.high[2]
        height = self.height = top - bottom
        steps = numpy.arange(0.25, 0.97, 0.005)
        middle = (body.low[0] + body.high[0]) / 2
        torso = {}  # share of the height: the loop about the middle, or none between two legs
        for share in steps:
            loops = [loop for loop in body.slice(bottom + share * height) if len(loop) > 5]
            about = [loop for loop in loops if loop[:, 0].min() < middle - 0.01 * height
                     and loop[:, 0].max() > middle + 0.01 * height]
            torso[share] = max(about, key=lambda loop: numpy.ptp(loop[:, 0]), default=None)
        width = numpy.array([0 if torso[s] is None else numpy.ptp(torso[s][:, 0]) for s in steps])
        girth = numpy.array([0 if torso[s] is None else _girth(torso[s]) for s in steps])
        closed = numpy.flatnonzero((width > 0.1 * height) & (steps > 0.3))
        if not len(closed):
            raise MeshError("body: found no height at which its legs become one torso, expected a person that stands; "
                            "is z up? (--up); or say where panels go (--places)")
        crotch = closed[0]
        above = (steps[2:] > steps[crotch] + 0.15) & (width[:-2] > 0)
        wider = numpy.flatnonzero((width[2:] > 1.25 * width[:-2]) & above)
        if not len(wider):
            raise MeshError("body: found no height at which arms join its torso, expected arms that are apart from it; "
                            "take a body in A or T pose")
        armpit = wider[0] + 1
        head = numpy.flatnonzero(steps < 0.93)[-1]
        shoulder = armpit + 1 + numpy.flatnonzero(width[armpit + 1:head] > 0.75 * width[armpit - 1])[-1]
        between = numpy.arange(crotch + int(0.06 / 0.005), armpit - 2)
        waist = between[girth[between].argmin()]
        hips = crotch + girth[crotch:waist].argmax()
        bust = waist + girth[waist:armpit].argmax()
        narrow = numpy.arange(shoulder, head)
        narrow = narrow[width[narrow] > 0]
        neck = narrow[width[narrow].argmin()]
        at = bottom + height * steps
        self.crotch, self.hips, self.waist, self.armpits, self.shoulders, self.neck = (
            float(at[i]) for i in (crotch, hips, waist, armpit, shoulder, neck))
        self._heights, self._girths = at[girth > 0], girth[girth > 0]
        self.surfaces = {}
        front = numpy.array([0, -1.0, 0])

        def centre(i):
            loop = torso[steps[i]]
            return (loop.min(0) + loop.max(0)) / 2

        def upright(name, i, low, high, loop):
            middle = (loop.min(0) + loop.max(0)) / 2
            self.surfaces[name] = Surface(name, numpy.append(middle, low), numpy.append(middle, high), front,
                                          float(numpy.linalg.norm(loop - middle, axis=1).max()))

        upright("torso", bust, self.waist, self.shoulders, torso[steps[bust]])
        upright("hips", hips, bottom, self.waist, torso[steps[hips]])
        upright("neck", neck, self.shoulders, self.neck + 0.03 * height, torso[steps[neck]])
        crown = numpy.concatenate([loop for loop in body.slice(bottom + 0.94 * height)])
        upright("head", neck, self.neck, top, crown)
        thigh = self.crotch - 0.05 * height
        legs = [loop for loop in body.slice(thigh) if numpy.ptp(loop[:, 0]) > 0.04 * height]
        for name, left in (("left_leg", True), ("right_leg", False)):
            here = [loop for loop in legs if (loop[:, 0].mean() > middle) == left]
            if here:
                upright(name, None, bottom, self.waist, max(here, key=len))
        chest, hip_width = width[armpit - 1] / 2, numpy.ptp(torso[steps[hips]][:, 0]) / 2
        for name, side in (("left_arm", 1), ("right_arm", -1)):
            self._arm(name, side, middle, chest, hip_width)

    def girth(self, height):
        """Around the torso at a height [m], tape-measured: of the convex hull of its cross-section."""
        return float(numpy.interp(height, self._heights, self._girths))

    def _arm(self, name, side, middle, chest, hip_width):
        points = self.body.points
        reach = side * (points[:, 0] - middle)
        beyond = (reach > 1.1 * chest) & (points[:, 2] > self.crotch - 0.1 * self.height)
        beyond &= (points[:, 2] < self.neck) & ((reach > 1.15 * hip_width) | (points[:, 2] > self.waist))
        if beyond.sum() < 20:
            return
        here, far = points[beyond], reach[beyond]
        most = far.max()
        sections = []
        for low in numpy.linspace(1.1 * chest, most, 13)[:-1]:
            band = here[(far >= low) & (far < low + (most - 1.1 * chest) / 12)]
            if len(band) > 3:
                sections.append((band.min(0) + band.max(0)) / 2)
        sections = numpy.array(sections[:9])  # hands and fingers are not on the line
        mean = sections.mean(0)
        way = numpy.linalg.svd(sections - mean)[2][0]
        way = way if way[0] * side < 0 else -way  # up to the shoulder
        along = (here - mean) @ way
        away = numpy.linalg.norm((here - mean) - along[:, None] * way, axis=1)
        upper = along > numpy.quantile(along, 0.6)
        shoulder = mean + way * ((chest * side + middle - mean[0]) / way[0])
        hand = mean + way * along.min()
        self.surfaces[name] = Surface(name, hand, shoulder, numpy.array([0, -1.0, 0]),
                                      float(numpy.quantile(away[upper], 0.95)))


def _girth(loop):
    """Length of the convex hull of a loop [m]."""
    points = loop[numpy.lexsort(loop.T)]
    hull = []
    for part in (points, points[::-1]):
        chain = []
        for p in part:
            while len(chain) > 1 and _cross(chain[-1] - chain[-2], p - chain[-1]) <= 0:
                chain.pop()
            chain.append(p)
        hull += chain[:-1]
    hull = numpy.array(hull)
    return float(numpy.linalg.norm(hull - numpy.roll(hull, 1, axis=0), axis=1).sum())


def _cross(a, b):
    return a[0] * b[1] - a[1] * b[0]
