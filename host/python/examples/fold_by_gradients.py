"""Gradients fold a towel: descent over the ways of two grippers, through every step of the cloth.

usage: fold_by_gradients.py [--descents 6] [--seed 1] [--compare]

The towel, the score and the ways of the grippers - velocities at a few knots - are those of fold_towel.py, whose
planner tries hundreds of ways; here each run says how all numbers of its way are to change. `isocloth.Tape` goes back
through contact with the table and through the grippers, from the places of the nodes at the end. Layers that land and
buckle make gradients of any size: those of a towel in thick air say more, and its ways are tried on the real one. With
--compare the planner of fold_towel.py folds the same towel, and both times and scores are printed.
"""

import argparse
import time

import fold_towel
import isocloth.gym
import numpy
from fold_towel import FRAMES, KNOTS, RELEASED

LENGTHS = numpy.array([0, 0.01, 0.03, 0.06, 0.1, 0.17, 0.28, 0.45])  # of steps along a gradient, side by side
DAMPING = 4.0  # mass_damping of the towel that is differentiated [1/s]


class Fold:
    """Ways of the grippers to the loss, minus the score of the environment, and back."""

    def __init__(self, towels, seed):
        self.towels, self.seed = towels, seed
        towels.reset(seed=seed, options={"same": True})
        self.simulation = towels.simulation
        self.simulation.set_fabric(0, mass_damping=DAMPING)
        self.start = self.simulation.snapshot()
        self.points = self.simulation.positions(0)
        self.handles = towels.handles(self.points[None])[0]
        sheet = self.points.reshape(towels.nodes, towels.nodes, 3)
        self.goals = sheet.copy()
        half = towels.nodes // 2
        self.goals[:half] = sheet[::-1][:half] + [0, 0, isocloth.gym.vector_env.THICKNESS]
        self.goals = self.goals.reshape(-1, 3)
        # Velocity of a frame by those at knots, and what of each key of a motion every step sees.
        at = numpy.minimum(numpy.arange(FRAMES), RELEASED - 1) / (RELEASED - 1) * (KNOTS - 1)
        left = numpy.minimum(at.astype(int), KNOTS - 2)
        self.of_knots = numpy.zeros((FRAMES, KNOTS))
        self.of_knots[numpy.arange(FRAMES), left] = 1 - (at - left)
        self.of_knots[numpy.arange(FRAMES), left + 1] = at - left
        self.of_knots[RELEASED:] = 0
        self.steps_per_frame = round(towels.frame_time / self.simulation.step_length)

    def keys(self, ways):
        """Places of the grippers between frames, shape (FRAMES + 1, 2, 3), and whether the workspace let them go."""
        low, high = (numpy.array(bound) for bound in self.towels.workspace)
        places, is_free = [self.handles], []
        for velocity in numpy.einsum("fk,kgi->fgi", self.of_knots, ways):
            there = places[-1] + self.towels.top_speed * self.towels.frame_time * velocity
            places.append(numpy.clip(there, low, high))
            is_free.append(there == places[-1])
        return numpy.array(places), numpy.array(is_free)

    def run(self, ways):
        """Score, and its derivatives by the ways."""
        keys, is_free = self.keys(ways)
        self.simulation.restore(self.start)
        begin = self.simulation.garment_time(0)
        for g in range(2):
            self.simulation.set_gripper_motion(0, g, begin + self.towels.frame_time * numpy.arange(FRAMES + 1),
                                               keys[:, g])
            self.simulation.close_gripper(0, g)
        tape = isocloth.Tape(self.simulation)
        for step in range(FRAMES * self.steps_per_frame):
            if step == RELEASED * self.steps_per_frame:
                for g in range(2):
                    self.simulation.open_gripper(0, g)
            tape.step()
        off = tape.positions(0)[-1] - self.goals
        distance = numpy.linalg.norm(off, axis=-1, keepdims=True)
        by_positions = numpy.zeros((tape.step_count + 1, *off.shape))
        by_positions[-1] = -off / numpy.maximum(distance, 1e-9) / off.shape[0] / self.towels.size
        by_steps = tape.gradient(by_positions).grippers[..., :3]
        by_keys = self._by_keys(by_steps)
        # A place is all that came before it, up to where the workspace stopped a gripper.
        by_velocities, carried = numpy.zeros_like(by_keys[1:]), numpy.zeros((2, 3))
        for frame in reversed(range(FRAMES)):
            carried = (carried + by_keys[frame + 1]) * is_free[frame]
            by_velocities[frame] = self.towels.top_speed * self.towels.frame_time * carried
        score = -distance.mean() / self.towels.size
        return score, numpy.einsum("fk,fgi->kgi", self.of_knots, by_velocities)

    def _by_keys(self, by_steps):
        after = numpy.arange(len(by_steps)) / self.steps_per_frame
        left = numpy.minimum(after.astype(int), FRAMES - 1)
        share = (after - left)[:, None, None]
        by_keys = numpy.zeros((FRAMES + 1, 2, 3))
        numpy.add.at(by_keys, left, (1 - share) * by_steps)
        numpy.add.at(by_keys, left + 1, share * by_steps)
        return by_keys


def descend(fold, descents):
    """From an arch, up and over and down, along the gradient: how far, a batch of towels tries side by side.

    Numbers of a way change by at most three times as much as they typically do, and if no length is better, the next
    gradient is that of a way nearby.
    """
    lengths = LENGTHS
    several = isocloth.gym.FoldTowels(len(lengths))
    random = numpy.random.default_rng(fold.seed)
    ways = numpy.zeros((KNOTS, 2, 3))
    ways[:, :, 2] = numpy.linspace(0.4, -0.4, KNOTS)[:, None]
    ways[:, :, 1] = 0.4
    best, best_score = ways, -numpy.inf
    for n in range(1, descents + 1):
        score, by_ways = fold.run(ways)
        typical = numpy.median(numpy.abs(by_ways))
        direction = numpy.clip(by_ways / (3 * typical), -1, 1)
        tried = numpy.clip(ways + lengths[:, None, None, None] * direction, -1, 1)
        found = fold_towel.scores(several, tried, fold.seed, True)
        longest = int(numpy.argmax(found))
        print(f"descent {n:2}: score {score:.3f}, |gradient| {numpy.linalg.norm(by_ways):.3g}, best length "
              f"{lengths[longest]}: {found[longest]:.3f}")
        if found[longest] > best_score:
            best, best_score = tried[longest].copy(), found[longest]
        ways = best if longest > 0 else best + 0.03 * random.normal(size=ways.shape)
    return best, best_score


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--descents", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compare", action="store_true", help="the planner of fold_towel.py, too")
    arguments = parser.parse_args()
    towel = isocloth.gym.FoldTowels(1)
    begin = time.perf_counter()
    ways, score = descend(Fold(towel, arguments.seed), arguments.descents)
    seconds = time.perf_counter() - begin
    runs = arguments.descents * (1 + len(LENGTHS))
    print(f"gradients: {100 * -score:.1f} % of an edge from a perfect fold in {seconds:.1f} s, {arguments.descents} "
          f"gradients and {runs} runs; the planner takes {64 * 12} runs")
    if arguments.compare:
        begin = time.perf_counter()
        score = fold_towel.plan(isocloth.gym.FoldTowels(64), 12, arguments.seed)[1]
        print(f"planner: {100 * -score:.1f} % in {time.perf_counter() - begin:.1f} s")


if __name__ == "__main__":
    main()
