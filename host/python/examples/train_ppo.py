"""A policy for an environment of isocloth.gym, by proximal policy optimisation (Schulman et al. 2017), in numpy.

    python host/python/examples/train_ppo.py --env FoldTowel --minutes 60 --curve curve.csv --policy policy.npz

What the policy sees: the places of a lattice of 3 x 3 nodes and of the hands, and how much of the episode is left, each
less its mean over what was seen before, in parts of its deviation. It is a network of two layers of 64 tanh units with
a normal distribution around what it says; another such network estimates the rewards to come. Adam, generalised
advantages, clipped ratios. Prints and writes, after each iteration: seconds, steps of environments, mean return and
success at the end of the episodes that ended, and how many failed.
"""

import argparse
import csv
import time

import gymnasium
import isocloth.gym  # noqa: F401
import numpy


class Network:
    """Two layers of tanh units, and a linear one; with gradients."""

    def __init__(self, sizes, random, last=1.0):
        self.weights = []
        for k, (n, m) in enumerate(zip(sizes, sizes[1:])):
            q, _ = numpy.linalg.qr(random.standard_normal((max(n, m), min(n, m))))
            gain = last if k == len(sizes) - 2 else numpy.sqrt(2)
            self.weights += [gain * (q if n >= m else q.T), numpy.zeros(m)]

    def __call__(self, x):
        self._inputs = [x]
        for k in range(0, len(self.weights), 2):
            x = x @ self.weights[k] + self.weights[k + 1]
            if k < len(self.weights) - 2:
                x = numpy.tanh(x)
            self._inputs.append(x)
        return x

    def gradients(self, of_output):
        """Of the weights, for that of the output of the last call."""
        found = []
        for k in range(len(self.weights) - 2, -1, -2):
            x = self._inputs[k // 2]
            found = [x.T @ of_output, of_output.sum(0), *found]
            if k:
                of_output = (of_output @ self.weights[k].T) * (1 - x**2)
        return found


class Adam:
    def __init__(self, weights, rate):
        self._weights, self._rate, self._t = weights, rate, 0
        self._first, self._second = ([numpy.zeros_like(w) for w in weights] for _ in range(2))

    def step(self, gradients, share):
        """share: of the rate; gradients are clipped to a norm of 0.5."""
        self._t += 1
        norm = numpy.sqrt(sum((g**2).sum() for g in gradients))
        for w, g, m, v in zip(self._weights, gradients, self._first, self._second):
            g = g * min(1, 0.5 / (norm + 1e-8))
            m += 0.1 * (g - m)
            v += 0.001 * (g**2 - v)
            w -= share * self._rate * (m / (1 - 0.9**self._t)) / (numpy.sqrt(v / (1 - 0.999**self._t)) + 1e-8)


class Scale:
    """Mean and deviation of all that was seen."""

    def __init__(self, size):
        self.mean, self.square, self.count = numpy.zeros(size), numpy.ones(size), 1e-4

    def add(self, x):
        total = self.count + len(x)
        ways = x.mean(0) - self.mean
        self.square = (self.square * self.count + x.var(0) * len(x) + ways**2 * self.count * len(x) / total) / total
        self.mean, self.count = self.mean + ways * len(x) / total, total

    def __call__(self, x):
        return numpy.clip((x - self.mean) / numpy.sqrt(self.square + 1e-8), -5, 5)


def features(envs, observations):
    """What the policy sees, shape (envs, n)."""
    points = observations["points"]
    side = round(numpy.sqrt(points.shape[1]))
    lattice = numpy.ix_([0, side // 2, side - 1], [0, side // 2, side - 1])
    nodes = numpy.arange(side * side).reshape(side, side)[lattice].ravel() if side * side == points.shape[1] else \
        numpy.linspace(0, points.shape[1] - 1, 9).astype(int)
    hands = next(values for name, values in observations.items() if name in ("grippers", "fingers"))
    left = 1 - envs.unwrapped._ages / envs.unwrapped.horizon
    return numpy.concatenate([points[:, nodes].reshape(len(points), -1), hands.reshape(len(points), -1), left[:, None]],
                             axis=1).astype(float)


def advantages(rewards, values, ends, last, discount=0.99, smoothing=0.95):
    """Generalised (Schulman et al. 2016); of the last step of an episode nothing follows."""
    found, following = numpy.zeros_like(rewards), numpy.zeros(rewards.shape[1])
    for t in range(len(rewards) - 1, -1, -1):
        ahead = last if t == len(rewards) - 1 else values[t + 1]
        going = 1 - ends[t]
        following = rewards[t] + discount * going * ahead - values[t] + discount * smoothing * going * following
        found[t] = following
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--env", default="FoldTowel")
    parser.add_argument("--nodes", type=int, default=7)
    parser.add_argument("--envs", type=int, default=64)
    parser.add_argument("--steps", type=int, default=60, help="of each environment in an iteration")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--curve", help="CSV of the curve")
    parser.add_argument("--policy", help="npz of the policy")
    arguments = parser.parse_args()
    random = numpy.random.default_rng(arguments.seed)
    envs = gymnasium.make_vec(f"isocloth/{arguments.env}-v0", num_envs=arguments.envs, nodes=arguments.nodes,
                              threads=arguments.threads,
                              vectorization_mode="vector_entry_point", autoreset_mode="SameStep")
    seen = features(envs, envs.reset(seed=arguments.seed)[0])
    shape = envs.single_action_space.shape
    size = int(numpy.prod(shape))
    policy = Network([seen.shape[1], 64, 64, size], random, last=0.01)
    critic = Network([seen.shape[1], 64, 64, 1], random)
    spread = numpy.full(size, -0.5)  # logarithm of the deviation
    ways, guesses = Adam([*policy.weights, spread], 3e-4), Adam(critic.weights, 1e-3)
    scale, start, done = Scale(seen.shape[1]), time.perf_counter(), 0
    returns = numpy.zeros(arguments.envs)
    rows = []
    while (elapsed := time.perf_counter() - start) < 60 * arguments.minutes:
        share = max(0.05, 1 - elapsed / (60 * arguments.minutes))
        batch, ended = {name: [] for name in ("x", "a", "logp", "r", "v", "end")}, []
        for _ in range(arguments.steps):
            scale.add(seen)
            x = scale(seen)
            mean = policy(x)
            a = mean + numpy.exp(spread) * random.standard_normal(mean.shape)
            logp = (-0.5 * ((a - mean) / numpy.exp(spread))**2 - spread).sum(1)
            values = critic(x)[:, 0]
            observations, r, terminations, truncations, infos = envs.step(numpy.clip(a, -1, 1).reshape(-1, *shape))
            ends = terminations | truncations
            returns += r
            for env in numpy.flatnonzero(ends):
                ended.append((returns[env], infos["final_info"]["is_success"][env], terminations[env]))
            returns[ends] = 0
            for name, values_of in zip(batch, (x, a, logp, r, values, ends)):
                batch[name].append(values_of)
            seen = features(envs, observations)
        x, a, logp, r, v, ends = (numpy.array(values) for values in batch.values())
        gains = advantages(r, v, ends.astype(float), critic(scale(seen))[:, 0])
        targets = (gains + v).ravel()
        x, a, logp, gains = x.reshape(-1, x.shape[-1]), a.reshape(-1, size), logp.ravel(), gains.ravel()
        gains = (gains - gains.mean()) / (gains.std() + 1e-8)
        for _ in range(8):
            for some in numpy.array_split(random.permutation(len(x)), max(1, len(x) // 512)):
                mean, deviation = policy(x[some]), numpy.exp(spread)
                z = (a[some] - mean) / deviation
                ratio = numpy.exp((-0.5 * z**2 - spread).sum(1) - logp[some])
                is_free = numpy.where(gains[some] > 0, ratio < 1.2, ratio > 0.8)
                slope = -(gains[some] * ratio * is_free)[:, None] / len(some)
                ways.step([*policy.gradients(slope * z / deviation),
                           (slope * (z**2 - 1)).sum(0) - 0.003], share)
                error = critic(x[some])[:, 0] - targets[some]
                guesses.step(critic.gradients(error[:, None] / len(some)), share)
        done += arguments.envs * arguments.steps
        if ended:
            rows.append((time.perf_counter() - start, done, *numpy.mean(ended, axis=0)))
            print("{:6.0f} s, {:8} steps: return {:6.3f}, success {:5.1%}, failed {:5.1%}".format(*rows[-1]),
                  flush=True)
    if arguments.curve:
        with open(arguments.curve, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("seconds", "steps", "return", "success", "failed"), *rows])
    if arguments.policy:
        numpy.savez(arguments.policy, *policy.weights, mean=scale.mean, square=scale.square, spread=spread)


if __name__ == "__main__":
    main()
