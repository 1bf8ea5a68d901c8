"""Cloth in motion."""

import numpy
from check import Row
from scipy import integrate
from sheets import FABRIC, angular_frequency, simulation, strip


def clamped_strip(levels=(8, 16, 32), steps=(40, 80, 160)):
    """Lowest frequency of a strip that is clamped at one end, 1.8751^2 sqrt(D / (rho L^4)); steps to a period."""
    length, stiffness, root = 0.3, 1e-4, 1.8751040687
    known = root**2 * numpy.sqrt(stiffness / (FABRIC["density"] * length**4)) / (2 * numpy.pi)

    def found(cells, step):
        sheet = simulation(strip(length, 0.05, cells, fabric={"bending_stiffness": stiffness}), 1 / known / step)
        x = sheet.positions()
        s = root * numpy.clip(x[:, 0], 0, None) / length
        ratio = (numpy.cos(root) + numpy.cosh(root)) / (numpy.sin(root) + numpy.sinh(root))
        shape = numpy.cosh(s) - numpy.cos(s) - ratio * (numpy.sinh(s) - numpy.sin(s))
        sheet.write("velocities", 1e-4 * known * shape[:, None] * [0, 0, 1])
        return angular_frequency(sheet, step, int(numpy.argmax(x[:, 0]))) / (2 * numpy.pi)

    return Row("clamped strip: frequency", "Hz", known, [found(n, steps[-1]) for n in levels],
               "Euler, Bernoulli; Timoshenko 1937", [found(levels[-1], n) for n in steps])


def drum(levels=(4, 8, 16), steps=(40, 80, 160), stretch=0.01):
    """Lowest frequency of a square drumhead, sqrt(T / (2 rho)) / a, of a sheet that its rim has stretched by 1 %."""
    side, ratio = 0.2, 1 + stretch
    tension = FABRIC["stretch_stiffness"] * (ratio**2 - 1) / 2  # of Green's strain, per width as it is stretched
    known = numpy.sqrt(tension / (2 * FABRIC["density"] / ratio**2)) / (ratio * side)

    def found(cells, step):
        sheet = simulation({"mesh": {"generator": "quad_grid", "nodes": [cells + 1] * 2, "size": [side] * 2},
                            "fabric": FABRIC, "pins": [{"name": "rim", "select": {"boundary_loop": 0}}]},
                           1 / known / step)
        flat = ratio * sheet.positions()
        sheet.move_pin(0, "rim", flat[sheet.pin_nodes(0)[0]], sheet.step_length)
        sheet.step()
        shape = numpy.sin(numpy.pi * flat[:, :1] / (ratio * side)) * numpy.sin(numpy.pi * flat[:, 1:2] / (ratio * side))
        sheet.write("positions", flat)
        sheet.write("velocities", 3e-4 * known * shape * [0, 0, 1])
        return angular_frequency(sheet, step, len(flat) // 2) / (2 * numpy.pi)

    return Row("square drumhead: frequency", "Hz", known, [found(n, steps[-1]) for n in levels], "Rayleigh 1877, 194",
               [found(levels[-1], n) for n in steps])


def folded_chain(levels=(32, 64, 128), steps=(200, 400, 800)):
    """Time in which the free end of a chain falls by 0.9 of its length L, that hangs folded from one end, by the
    balance of energy: v^2 = 2 g x (1 - x / 2 L) / (1 - x / L), faster than free fall. The fold begins as a half circle
    four elements wide."""
    length, g, part = 1.0, 9.81, 0.9
    time, _ = integrate.quad(lambda u: 2 * numpy.sqrt((1 - u * u) / (2 * g * (1 - u * u / 2))), 0, numpy.sqrt(part))

    def found(cells, step):
        chain = strip(length, 0.02, cells, 1, {"stretch_stiffness": 1e5}, clamped=False)
        chain["pins"] = [{"select": {"box": {"min": [-1e-6, -1, -1], "max": [1e-6, 1, 1]}}}]
        sheet = simulation(chain, time / step, gravity=g)
        x = sheet.positions()
        gap = 4 * length / cells
        arc, bend = x[:, 0].copy(), numpy.pi * gap / 2
        down = (length - bend) / 2
        turn = (arc - down) / (gap / 2)
        folded = x.copy()
        folded[:, 0] = numpy.where(turn < 0, 0, numpy.where(turn > numpy.pi, gap, gap / 2 * (1 - numpy.cos(turn))))
        folded[:, 2] = numpy.where(turn < 0, -arc, numpy.where(
            turn > numpy.pi, -down + (arc - down - bend), -down - gap / 2 * numpy.sin(turn)))
        sheet.write("positions", folded)
        sheet.write("velocities", 0 * folded)
        tip, before, n = int(numpy.argmax(arc)), 0.0, 0
        while True:
            sheet.step()
            n += 1
            fallen = folded[tip, 2] - sheet.positions()[tip, 2]
            if fallen > part * length:
                return sheet.step_length * (n - (fallen - part * length) / (fallen - before))
            before = fallen

    return Row("falling folded chain: time", "s", time, [found(n, steps[-1]) for n in levels],
               "Calkin, March 1989", [found(levels[-1], n) for n in steps])


def hoop(levels=(16,), steps=(50, 100, 200)):
    """Radius of a hoop that spins freely, with threads' tension rho w^2 R0^2 in each: R / R0 = 1 / (1 - rho w^2 R0^2 /
    k) with engineering strain; it starts as it stays, and is measured on average of three turns; steps to a turn."""
    radius, stiffness, stretch = 0.1, 1000.0, 0.05
    spin = numpy.sqrt(stiffness * (1 - 1 / (1 + stretch)) / FABRIC["density"]) / radius
    known = (1 + stretch) * radius

    def found(around, step):
        tube = {"mesh": {"generator": "tube", "along": 2, "around": around, "radius": radius, "height": 0.02},
                "fabric": {**FABRIC, "stretch_stiffness": stiffness}}
        sheet = simulation(tube, 2 * numpy.pi / spin / step, recipe="soft_constraints")
        x = sheet.positions() * [1 + stretch, 1 + stretch, 1]
        sheet.write("positions", x)
        sheet.write("velocities", spin * numpy.stack([-x[:, 1], x[:, 0], 0 * x[:, 0]], axis=1))
        radii = []
        for _ in range(3 * step):
            sheet.step()
            radii.append(numpy.hypot(*sheet.positions()[:, :2].T).mean())
        return numpy.mean(radii)

    return Row("spinning hoop, 5 %: radius", "m", known, [found(n, steps[-1]) for n in levels],
               "balance of a ring", [found(levels[-1], n) for n in steps])


def impact(levels=(16, 32, 64)):
    """Force per width at the end of a strip that flies along itself and is stopped there: rho c v, with the speed
    of sound c = sqrt(k / rho), until the wave comes back: mean over three quarters of its time, in three steps for
    each element."""
    length, width, stiffness, speed = 0.5, 0.05, FABRIC["stretch_stiffness"], 0.1
    sound = numpy.sqrt(stiffness / FABRIC["density"])
    time, known = 1.5 * length / sound, FABRIC["density"] * sound * speed

    def found(cells):
        flying = strip(length, width, cells, clamped=False, initial_velocity=[speed, 0, 0])
        flying["grippers"] = [{"name": "stop", "region": {"type": "box", "size": [length / cells, 1, 1]},
                               "holds": [{"from": 0, "to": 1e9}]}]
        sheet = simulation(flying, time / (3 * cells), recipe="soft_constraints")
        forces = []
        for _ in range(3 * cells):
            sheet.step()
            forces.append(-sheet.hold_forces()[0, 0, 0] / width)
        return numpy.mean(forces)

    return Row("strip stopped at its end: force", "N/m", known, [found(n) for n in levels], "Kolsky 1953, 3")


def terminal_velocity(steps=(25, 50, 100)):
    """Speed of a sheet that has fallen flat for a time v / g, in air of quadratic drag 1/2 rho C_n v^2 per area:
    v tanh(1) with the speed it tends to, v = sqrt(2 g m / (rho C_n)), m its mass per area."""
    fabric = {**FABRIC, "drag": {"normal_coefficient": 1.17, "tangential_coefficient": 0.02}}
    g, air = 9.81, 1.2
    last = numpy.sqrt(2 * g * fabric["density"] / (air * fabric["drag"]["normal_coefficient"]))

    def found(step):
        sheet = simulation({"mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.3, 0.3]}, "fabric": fabric},
                           last / g / step, gravity=g)
        sheet.advance(step)
        return -sheet.velocities()[:, 2].mean()

    return Row("sheet that falls flat: speed after v / g", "m/s", last * numpy.tanh(1), [], "Taylor 1952; Hoerner 1965",
               [found(n) for n in steps])
