"""Seams of a pattern that has none: which edges belong together, by length, notches and names, and how sure that is."""

import itertools

import numpy

from ._arrangement import guess
from ._pattern import Seam, Step

LEAST = 0.4  # below it a pair is said, but not sewn


def propose_seams(pattern):
    """Adds seams to a pattern, the surest first, each edge once. A pair is as sure as the product of what it has:

    - lengths: exp(-(d / 2 %)^2) of their difference d, up to 8 %;
    - notches, if there are any: their places from the ends that meet, and how many;
    - names: front with back and left with left are likelier than others;
    - how they lie in panels that are drawn upright: as if laid side by side, or as mirror images of a side seam;
    - that they are not the same edge of two mirrored pieces, which says nothing, unless it is straight (a middle);
    - how many others would do as well: a half if there is a second pair as good.

    First come darts, two edges of a length that meet at a corner which points into their panel.

    What is left of sleeves is tried as one edge with two that follow each other at a seam, as of an armhole."""
    chains = [(panel, edges) for panel in pattern.panels.values() for edges in _file_edges(panel)]
    lengths = [sum(edge.length for edge in edges) for _, edges in chains]
    notches = [_notches(edges) for _, edges in chains]
    options = []
    for i, j in itertools.combinations(range(len(chains)), 2):
        if lengths[i] > 0.01 and lengths[j] > 0.01:
            sure = _sure(chains[i][0], chains[j][0], lengths[i], lengths[j], notches[i], notches[j])
            if sure > 0.05:
                sure *= _lie(chains[i], chains[j]) * _twins(chains[i], chains[j], lengths[i], lengths[j])
            if sure > 0.05:
                options.append((sure, i, j))
    options.sort(key=lambda option: (-option[0], option[1], option[2]))
    best = {}
    for sure, i, j in options:
        best.setdefault(i, []).append(sure)
        best.setdefault(j, []).append(sure)
    used, find = set(), pattern.findings
    for i, j in _darts(chains, lengths):
        used |= {i, j}
        _add(pattern, [chains[i]], [chains[j]], 0.95)
    for sure, i, j in options:
        if i in used or j in used:
            continue
        rivals = max((best[k][1] if len(best[k]) > 1 else 0) for k in (i, j))
        sure *= 1 - 0.5 * min(rivals / sure, 1)
        if sure < LEAST:
            if sure > LEAST / 2:
                find.note(f"perhaps {chains[i][0].edge_name(chains[i][1][0])} with "
                          f"{chains[j][0].edge_name(chains[j][1][0])}, {sure:.0%} sure: not sewn")
            continue
        used |= {i, j}
        _add(pattern, [chains[i]], [chains[j]], sure)
    _sleeves(pattern, chains, lengths, used)
    unsure = [seam for seam in pattern.seams if seam.sure < 0.8]
    if pattern.seams:
        find.note(f"the file has no seams; {len(pattern.seams)} were proposed by lengths, notches and names")
    else:
        find.note("the file has no seams, and no two edges that would make one; panels are not sewn")
    for seam in pattern.seams:
        find.note("proposed {}: {:.1f} mm with {:.1f} mm, {:.0%} sure{}".format(
            seam.name(), *(1e3 * x for x in seam.lengths()), seam.sure, ": look at it" if seam in unsure else ""))


def _file_edges(panel):
    """Edges as the file counts them."""
    return [list(group) for _, group in itertools.groupby(panel.edges, key=lambda edge: edge.name.split(".")[0])]


def _darts(chains, lengths):
    for i, (panel, edges) in enumerate(chains):
        for j, (other, after) in enumerate(chains):
            if other is panel and i != j and after[0].start is not edges[-1].end and (
                    numpy.linalg.norm(after[0].start - edges[-1].end) < 1e-9 and abs(lengths[i] - lengths[j]) < 1e-3):
                u, v = edges[-1].end - edges[0].start, after[-1].end - after[0].start
                wide = numpy.linalg.norm(after[-1].end - edges[0].start)
                if u[0] * v[1] - u[1] * v[0] < 0 and wide < 0.8 * lengths[i]:
                    yield i, j


def _notches(edges):
    """Places of notches from the beginning of a chain [m]."""
    places, before = [], 0.0
    for edge in edges:
        places += [before + share * edge.length for share in edge.notches]
        before += edge.length
    return numpy.sort(places)


def _sure(a, b, one, other, marks, others):
    off = abs(one - other) / max(one, other)
    if off > 0.08:
        return 0.0
    sure = float(numpy.exp(-((off / 0.02) ** 2) / 2)) if off > 0.002 else 1.0
    if len(marks) or len(others):
        if len(marks) == len(others):
            turned = numpy.sort(other - others)  # sewn edges run against each other
            sure *= 0.3 + 0.7 * float(numpy.exp(-((numpy.abs(marks - turned).max() / 0.004) ** 2) / 2))
        else:
            sure *= 0.4
    else:
        sure *= 0.85
    (kind, facing, side), (kind_2, facing_2, side_2) = guess(a), guess(b)
    if a is b:
        return sure * (0.9 if kind == "arm" or kind == "leg" else 0.5)
    parted = side and side_2 and side != side_2
    if parted:
        sure *= 0.8 if kind == kind_2 and facing == facing_2 else 0.15
    elif facing and facing == facing_2 and kind == kind_2:
        sure *= 0.5
    elif facing and facing_2 and facing != facing_2 and kind != kind_2:
        sure *= 0.5
    return sure * (0.9 if kind != kind_2 else 1)


def _lie(one, other):
    """How well two chains of panels of one kind lie: chords against each other, or mirrored, but for edges along x."""
    if guess(one[0])[0] != guess(other[0])[0]:
        return 1.0
    v, w = (edges[-1].end - edges[0].start for _, edges in (one, other))
    v, w = v / max(numpy.linalg.norm(v), 1e-9), w / max(numpy.linalg.norm(w), 1e-9)
    cosine = max(-v @ w, v[0] * w[0] - v[1] * w[1] if abs(v[1]) > 0.3 else -1.0)
    return 0.2 + 0.8 * float(numpy.exp(-((numpy.degrees(numpy.arccos(numpy.clip(cosine, -1, 1))) / 30) ** 2) / 2))


def _twins(one, other, length, length_2):
    if one[0] is other[0] or abs(length - length_2) > 1e-4:
        return 1.0
    if abs(one[0].area() - other[0].area()) > 1e-3 * one[0].area():
        return 1.0
    (kind, facing, side), (kind_2, facing_2, side_2) = guess(one[0]), guess(other[0])
    if kind != kind_2 or facing != facing_2 or side == side_2:
        return 1.0
    chords = numpy.linalg.norm(one[1][-1].end - one[1][0].start)
    way = one[1][-1].end - one[1][0].start
    return 0.8 if chords > 0.999 * length and abs(way[1]) > abs(way[0]) else 0.1


def _sleeves(pattern, chains, lengths, used):
    """One edge with two that have an end at one seam: a sleeve's cap with an armhole."""
    free = [k for k in range(len(chains)) if k not in used]
    options = []
    for i in free:
        if guess(chains[i][0])[0] != "arm":
            continue
        for j, k in itertools.permutations(free, 2):
            if i in (j, k) or chains[j][0] is chains[k][0] or guess(chains[j][0])[0] == "arm":
                continue
            if not _follow(pattern, chains[j], chains[k]):
                continue
            off = abs(lengths[i] - lengths[j] - lengths[k]) / lengths[i]
            facing = (guess(chains[j][0])[1], guess(chains[k][0])[1])
            if off < 0.1 and facing != (facing[1], facing[0]):
                options.append((0.8 * float(numpy.exp(-((off / 0.06) ** 2) / 2)), i, j, k))
    options.sort(reverse=True)
    for sure, i, j, k in options:
        if not {i, j, k} & used and sure > LEAST:
            used |= {i, j, k}
            _add(pattern, [chains[i]], [chains[j], chains[k]], sure)


def _follow(pattern, one, other):
    """Whether a seam joins the begin of the first chain's panel edge with the end of the second's: walking against
    both, the first ends where the second begins."""
    before = one[0].edges[one[0].edges.index(one[1][0]) - 1]
    after = other[0].edges[(other[0].edges.index(other[1][-1]) + 1) % len(other[0].edges)]
    return any({id(before), id(after)} <= {id(step.edge) for side in seam.sides for step in side}
               for seam in pattern.seams)


def _add(pattern, one, other, sure):
    first = [Step(panel, edge) for panel, edges in one for edge in edges]
    second = [Step(panel, edge, False) for panel, edges in other for edge in edges[::-1]]
    pattern.seams.append(Seam((first, second), sure=min(sure, 0.99)))
