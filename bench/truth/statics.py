"""Cloth at rest."""

import pathlib
import tempfile

import isocloth
import numpy
from check import Row
from scipy import integrate, optimize, special
from sheets import FABRIC, PRECISE, settle, simulation, strip

LONG = 10.0  # a step in which cloth comes to rest [s]


def critical(deflection, loads):
    """Load at which a deflection by a small force grows beyond bounds: root of 1 / deflection, a polynomial."""
    compliance = [1 / deflection(load) for load in loads]
    roots = numpy.roots(numpy.polyfit(loads, compliance, len(loads) - 1))
    return min(r.real for r in roots if abs(r.imag) < 1e-9 and r.real > loads[-1])


def deflection(garment, gravity, at, push, axis):
    """By which nodes with at(positions) move along an axis under a force `push` [N] [m]; gravity [m/s^2]."""
    sheet = simulation(garment, LONG, gravity=gravity, projection={**PRECISE, "integrator": "backward_euler"})
    start = sheet.positions()
    nodes = at(start)
    forces = numpy.zeros_like(start)
    forces[nodes, axis] = push / nodes.sum()
    sheet.set_forces(0, forces)
    return (settle(sheet) - start)[nodes, axis].mean()


def heavy_column(levels=(8, 16, 32)):
    """A strip that stands on a clamp buckles under its own weight at rho g L^3 / D = 7.837."""
    length, stiffness, density = 0.3, 1e-4, FABRIC["density"]

    def found(cells):
        standing = strip(length, 0.05, cells, fabric={"bending_stiffness": stiffness})
        standing["transform"] = {"rotation": [0, -90, 0], "translation": [0, 0, -length / cells]}
        standing["pins"][0]["select"]["box"] = {"min": [-9, -9, -9], "max": [9, 9, 1e-9]}
        unit = stiffness / (density * length**3)
        return critical(lambda load: deflection(standing, load * unit, lambda x: x[:, 2] > length - 1e-6, 1e-7, 0),
                        [4, 5, 6, 7])

    return Row("heavy column: rho g L^3 / D", "", 7.83735, [found(n) for n in levels],
               "Greenhill 1881; Timoshenko, Gere 1961, 2.12")


def lateral_buckling(levels=(10, 20, 40)):
    """A strip clamped on edge tips over sideways at w L^3 / sqrt(EI GJ) = 12.85, w its weight per length, with
    EI = D b and GJ = 2 D b of a plate of width b without Poisson's ratio, as L / b grows: levels. The clamp lets no
    section warp, as if the strip were shorter by a part of its width."""
    length, stiffness, density = 0.4, 1e-5, FABRIC["density"]

    def found(slenderness):
        on_edge = strip(length, length / slenderness, 2 * slenderness, 2, {"bending_stiffness": stiffness})
        on_edge["transform"]["rotation"] = [90, 0, 0]
        unit = numpy.sqrt(2) * stiffness / (density * length**3)
        return critical(lambda load: deflection(on_edge, load * unit, lambda x: x[:, 0] > length - 1e-6, 1e-8, 1),
                        [5, 7, 9, 11])

    return Row("strip on edge: w L^3 / sqrt(EI GJ)", "", 6 * optimize.brentq(lambda x: special.jv(-1 / 6, x), 2, 2.3),
               [found(slenderness) for slenderness in levels], "Prandtl 1899; Timoshenko, Gere 1961, 6.3")


def elastic_catenary(levels=(16, 32, 64)):
    """Sag of a strip between edges as far apart as it is long, 12.7 % longer at its ends."""
    length, density, g = 1.0, FABRIC["density"], 9.81
    weight = density * g * length  # per width [N/m]

    def span_sag(stiffness, pull):  # Irvine 1981, (1.21) and (1.22), at its end and in its middle
        up = weight / 2
        catenary = pull * length / weight
        span = pull * length / stiffness + 2 * catenary * numpy.arcsinh(up / pull)
        sag = weight * length / (8 * stiffness) + catenary * (numpy.hypot(1, up / pull) - 1)
        return span, sag

    def pull_of(stiffness):
        return optimize.brentq(lambda pull: span_sag(stiffness, pull)[0] - length, 1e-3 * weight, 1e3 * weight)

    stiffness = optimize.brentq(lambda k: numpy.hypot(pull_of(k), weight / 2) / k - 0.127, weight, 1e3 * weight)

    def found(cells):
        hung = strip(length, 0.1, cells, clamped=False, fabric={"stretch_stiffness": stiffness, "mass_damping": 2})
        hung["pins"] = [{"select": {"box": {"min": [x - 1e-6, -1, -1], "max": [x + 1e-6, 1, 1]}}} for x in (0, length)]
        return -settle(simulation(hung, 0.1, recipe="soft_constraints", gravity=g))[:, 2].min()

    return Row("elastic catenary, 12.7 %: sag", "m", span_sag(stiffness, pull_of(stiffness))[1],
               [found(n) for n in levels], "Irvine 1981, 1.4")


def pure_bending(levels=(4, 8, 16)):
    """Moment per width of a strip of 1 cm between jaws that bend it to 2.5 / cm, as Kawabata's tester does: D K, ours
    as the derivative of the energy by the angle of the jaws."""
    length, width, stiffness, most, change = 0.01, 0.02, 1e-5, 250.0, 1.0

    def energy(cells, curvature):
        cell = length / cells
        specimen = strip(length + 2 * cell, width, cells + 2, 2, {"bending_stiffness": stiffness}, clamped=False)
        specimen["transform"]["translation"] = [-cell, 0, 0]
        specimen["pins"] = [{"name": name, "select": {"box": {"min": [low - 1e-9, -1, -1], "max": [high + 1e-9, 1, 1]}}}
                            for name, low, high in (("left", -cell, 0), ("right", length, length + cell))]
        sheet = simulation(specimen, LONG)
        x = sheet.positions()
        angle = curvature * numpy.clip(x[:, 0], 0, length)
        over = x[:, 0] - angle / curvature  # straight in the jaws
        bent = numpy.stack([numpy.sin(angle) / curvature + over * numpy.cos(angle), x[:, 1],
                            (1 - numpy.cos(angle)) / curvature + over * numpy.sin(angle)], axis=1)
        for name, nodes in zip(("left", "right"), sheet.pin_nodes(0)):
            sheet.move_pin(0, name, bent[nodes], LONG)
        sheet.write("positions", bent)
        settle(sheet)
        return sheet.measures()[0].bending_energy

    def found(cells):
        angle = 2 * change * length
        return (energy(cells, most + change) - energy(cells, most - change)) / angle / width

    return Row("pure bending at 2.5 / cm: moment", "N", stiffness * most, [found(n) for n in levels], "Kawabata 1980")


def blown(mesh, poisson, load, size):
    """Height of a flat clamped membrane under a pressure of `load` k / size [Pa]."""
    stiffness = FABRIC["stretch_stiffness"]
    fabric = {**FABRIC, "poisson_ratio": poisson, "shear_stiffness": stiffness / (2 + 2 * poisson), "mass_damping": 20}
    sheet = simulation({"mesh": mesh, "fabric": fabric, "pressure": load * stiffness / size,
                        "pins": [{"select": {"boundary_loop": 0}}]}, 0.01)
    return settle(sheet, 1e-7)[:, 2].max()


def round_membrane(levels=(5, 9, 17), poisson=0.3, load=1e-4):
    """Height of a clamped disc under pressure, w = 0.653 a (p a / k)^(1/3): the stress of Hencky's equation,
    r N'' + 3 N' + k p^2 r / (8 N^2) = 0, (1 - nu) N + a N' = 0 at the rim, for strains of 1e-3."""
    radius = 0.1

    def stress(start):  # in units of k (p a / k)^(2/3) and a
        return integrate.solve_ivp(lambda r, y: [y[1], -3 * y[1] / r - 1 / (8 * y[0]**2)] if r > 0 else [y[1], -1 / (
            32 * y[0]**2)], (0, 1), [start, 0], rtol=1e-10, atol=1e-12, dense_output=True).sol

    def miss(start):
        n, slope = stress(start)(1.0)
        return (1 - poisson) * n + slope

    solution = stress(optimize.brentq(miss, 0.3, 1.0))
    height, _ = integrate.quad(lambda r: r / (2 * solution(r)[0]), 0, 1)
    known = height * radius * load**(1 / 3)
    discs = [{"generator": "disc", "radial": n, "around": 4 * (n - 1), "radius": radius} for n in levels]
    return Row("round membrane under pressure: height", "m", known,
               [blown(disc, poisson, load, radius) for disc in discs], "Hencky 1915")


def square_membrane(levels=(8, 16, 32), poisson=0.3, load=1e-4):
    """The same of a square of half side a: p a / k = 1.994 (1 - 0.271 nu) / (1 - nu) (w / a)^3, itself a fit to finite
    elements."""
    half = 0.1
    known = half * (load * (1 - poisson) / (1.994 * (1 - 0.271 * poisson)))**(1 / 3)
    return Row("square membrane under pressure: height", "m", known,
               [blown({"generator": "quad_grid", "nodes": [n + 1] * 2, "size": [2 * half] * 2}, poisson, load, half)
                for n in levels], "Maier-Schneider et al. 1995")


def mylar_balloon(levels=(5, 9, 17), load=3e-3, steps=30):
    """Volume that two discs of radius a, joined at the rim, take in where they do not stretch and wrinkle freely:
    1.2185 a^3, at a pressure of `load` k / a; after so many steps of motion that is damped heavily. Ours resists
    compression as it does tension, and its wrinkles are as fine as its mesh."""
    radius, stiffness = 0.1, FABRIC["stretch_stiffness"]

    def found(circles):
        disc = isocloth.Simulation({"step": 1, "duration": 1, "garments": [
            {"mesh": {"generator": "disc", "radial": circles, "around": 6 * (circles - 1), "radius": radius,
                      "faces": "triangles"}}]})
        x, faces = disc.positions(), disc.faces(0)[:, :3]
        inside = numpy.hypot(*x[:, :2].T) < radius * (1 - 1e-6)
        other = numpy.arange(len(x))  # numbers of the lower disc's nodes
        other[inside] = len(x) + numpy.arange(inside.sum())
        # The two are a hair apart, so that each knows its side.
        nodes = numpy.concatenate([x + inside[:, None] * [0, 0, 1e-4], x[inside] - [0, 0, 1e-4]])
        triangles = numpy.concatenate([faces, other[faces[:, ::-1]]])
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "balloon.obj"
            file.write_text("".join("v {} {} {}\n".format(*node) for node in nodes) +
                            "".join("f {} {} {}\n".format(*corners) for corners in triangles + 1))
            sheet = simulation({"mesh": {"file": str(file)}, "pressure": load * stiffness / radius,
                                "fabric": {**FABRIC, "mass_damping": 20, "bending_stiffness": 1e-7}}, 0.005,
                               projection={"on_violation": "continue"})
        sheet.advance(steps)
        x = sheet.positions()
        return numpy.linalg.det(x[triangles]).sum() / 6 / radius**3

    return Row("Mylar balloon: volume over a^3", "", 1.2185, [found(n) for n in levels], "Paulsen 1994")
