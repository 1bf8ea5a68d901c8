"""Writes dress.obj: a dress without sleeves, in at the waist and wide at the hem, of quads in rings of ellipses.

    python3 bench/scenes/make_dress.py

Its upper edge is high at the shoulders (x = +-0.165 m) and scooped in front and behind.
"""
import math
from pathlib import Path

AROUND, ROWS = 32, 22  # nodes of a ring, rings
# From the upper edge down: parts of the length, height z and half axes along x and y [m].
STATIONS = [
    (0.00, 0.75, 0.165, 0.125),  # shoulders
    (0.10, 0.67, 0.170, 0.130),  # bust
    (0.34, 0.51, 0.130, 0.130),  # waist
    (0.56, 0.36, 0.195, 0.160),  # hips
    (1.00, 0.06, 0.380, 0.380),  # hem
]
SHOULDERS, SCOOP = 0.06, 0.15  # rise of the upper edge, and the part of the length over which it fades


def station(part):
    """Height and half axes at a part of the length, halfway between straight lines and smooth steps."""
    for (a, *low), (b, *high) in zip(STATIONS, STATIONS[1:]):
        if part <= b:
            s = (part - a) / (b - a)
            s = 0.5 * (s + s * s * (3 - 2 * s))
            return [(1 - s) * p + s * q for p, q in zip(low, high)]
    return STATIONS[-1][1:]


def nodes():
    for i in range(ROWS):
        part = i / (ROWS - 1)
        z, x_axis, y_axis = station(part)
        rise = SHOULDERS * max(0, 1 - part / SCOOP)
        for j in range(AROUND):
            angle = 2 * math.pi * j / AROUND
            yield x_axis * math.cos(angle), y_axis * math.sin(angle), z + rise * math.cos(angle) ** 2


def faces():
    for i in range(ROWS - 1):
        for j in range(AROUND):
            k = (j + 1) % AROUND
            yield [1 + n for n in ((i + 1) * AROUND + j, (i + 1) * AROUND + k, i * AROUND + k, i * AROUND + j)]


def main():
    lines = ["# A dress: bench/scenes/make_dress.py"]
    lines += ["v {:.6f} {:.6f} {:.6f}".format(*x) for x in nodes()]
    lines += ["f {} {} {} {}".format(*face) for face in faces()]
    (Path(__file__).parent / "dress.obj").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
