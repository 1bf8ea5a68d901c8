"""Cloth that sticks and slides."""

import numpy
from check import Row
from sheets import FABRIC, simulation, strip

GRAVITY = 9.81
THIN = {**FABRIC, "thickness": 1e-4}


def capstan(levels=(8, 16, 32), friction=0.3):
    """A strip that is drawn over half of a fixed cylinder against a force: the pull is e^(mu pi) times as large;
    levels: elements on the half circle. Without gravity."""
    radius, load, arm = 0.05, 1.0, 0.05
    around = radius + THIN["thickness"] / 2

    def found(cells):
        cell = numpy.pi * around / cells
        arms = round(arm / cell)
        drawn = strip((cells + 2 * arms) * cell, 0.02, cells + 2 * arms, 1, {**THIN, "mass_damping": 5}, clamped=False)
        drawn["transform"]["translation"] = [0, 0, 0.2]  # clear of the post until it is wound
        drawn["grippers"] = [{"name": "jaw", "region": {"type": "box", "size": [cell, 1, cell]},
                              "position": [around, 0, -arms * cell], "holds": [{"from": 0, "to": 1e9}],
                              "motion": {"type": "keyframes", "times": [0, 100],
                                         "translations": [[0, 0, 0], [0, 0, -1]]}}]
        sheet = simulation(drawn, 0.01, obstacles=[
            {"name": "post", "shape": {"type": "cylinder", "radius": radius, "height": 0.2},
             "rotation_degrees": [90, 0, 0], "friction": {"static": friction}}])
        x = sheet.positions()
        arc = x[:, 0] - arms * cell  # from where it touches
        angle = numpy.clip(arc / around, 0, numpy.pi)
        straight = arc - around * angle
        wound = numpy.stack([-around * numpy.cos(angle), x[:, 1],
                             around * numpy.sin(angle) - numpy.abs(straight)], axis=1)
        sheet.write("positions", wound)
        sheet.write("velocities", 0 * wound)
        forces = numpy.zeros_like(x)
        forces[arc == arc.min(), 2] = -load / (arc == arc.min()).sum()
        sheet.set_forces(0, forces)
        pulls = []
        for _ in range(40):
            sheet.step()
            pulls.append(-sheet.hold_forces()[0, 0, 2])
        return numpy.mean(pulls[30:]) / load

    return Row("capstan, mu 0.3, half a turn: ratio of pulls", "", numpy.exp(friction * numpy.pi),
               [found(n) for n in levels], "Euler 1769")


def turning_table(angle, times, step, sheet):
    """A simulation of a sheet on a plane that turns about z by angle(times) [rad], friction 0.4 and 0.3."""
    table = simulation(sheet, step, gravity=GRAVITY, obstacles=[
        {"name": "table", "shape": {"type": "plane"}, "friction": {"static": 0.4, "dynamic": 0.3}}])
    turns = numpy.zeros((len(times), 3))
    turns[:, 2] = angle(times)
    table.set_obstacle_motion("table", times, rotations=turns)
    return table


def table_static(steps=(400, 800, 1600)):
    """A small stiff sheet on a table that turns ever faster slides off at w^2 r = mu_s g: acceleration of its middle
    over g in the first step in which all of it slides. Steps a second; the table gains 1 rad/s in a second."""
    reach, size, gain, most = 0.3, 0.02, 1.0, 5

    def found(steps):
        sheet = {"mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [size, size]}, "fabric": THIN,
                 "transform": {"translation": [reach - size / 2, -size / 2, THIN["thickness"] / 2]}}
        table = turning_table(lambda t: gain * t**2 / 2, numpy.arange(0, most + 2 / steps, 1 / steps), 1 / steps, sheet)
        while table.time < most:
            table.step()
            if table.time > 1 and not table.contact_points()["is_sticking"].any():
                return numpy.hypot((gain * table.time)**2, gain) * reach / GRAVITY
        raise RuntimeError("the sheet stayed on the table")

    return Row("turning table: acceleration that slides off, over g", "", 0.4, [], "Coulomb 1785",
               [found(n) for n in steps])


def table_dynamic(levels=(3, 5, 9), steps=50):
    """A disc laid on a table that turns fast gains speed by the torque 2/3 mu m g R: w = 4 mu g t / (3 R) after t."""
    radius, time, turn = 0.1, 0.2, 40.0
    known = 4 * 0.3 * GRAVITY * time / (3 * radius)

    def found(circles):
        disc = {"mesh": {"generator": "disc", "radial": circles, "around": 8 * (circles - 1), "radius": radius},
                "fabric": THIN, "transform": {"translation": [0, 0, THIN["thickness"] / 2]}}
        table = turning_table(lambda t: turn * t, numpy.linspace(0, time, 2), time / steps, disc)
        table.advance(steps)
        x, v = table.positions(), table.velocities()
        rim = numpy.hypot(*x[:, :2].T) > 0.9 * radius
        return numpy.mean((x[rim, 0] * v[rim, 1] - x[rim, 1] * v[rim, 0]) / (x[rim, :2]**2).sum(axis=1))

    return Row("turning table: spin of a disc laid on it", "rad/s", known, [found(n) for n in levels],
               "Coulomb 1785; torque of a uniform pressure")
