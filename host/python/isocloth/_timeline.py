"""What a viewer has seen, to be looked at again."""

import bisect

MOST_BYTES = 256 << 20


class Timeline:
    """Positions of the cloth and poses of the solids at ``times`` [s], ascending. When they take more than ``most``
    bytes every second one is left out, and from then on half as many are kept."""

    def __init__(self, most=MOST_BYTES):
        self.times, self._frames, self._most, self._pause = [], [], most, 0.0

    def add(self, time, positions, poses):
        """positions: float32, shape (nodes, 3), which it keeps. What was later than the time is forgotten: the
        simulation began again."""
        count = bisect.bisect_left(self.times, time)
        del self.times[count:], self._frames[count:]
        if self.times and time - self.times[-1] < self._pause * (1 - 1e-9):
            return
        self.times.append(time)
        self._frames.append((positions, poses))
        size = positions.nbytes + poses.nbytes
        if len(self.times) > 2 and len(self.times) * size > self._most:
            span = self.times[-1] - self.times[0]
            self.times, self._frames = self.times[::2], self._frames[::2]
            self._pause = 2 * span / max(1, 2 * len(self.times) - 1)

    def __len__(self):
        return len(self.times)

    def frame(self, number):
        """Positions [m] and poses."""
        return self._frames[number]

    def number_at(self, time):
        """That of the last frame at or before a time, or of the first."""
        return max(0, bisect.bisect_right(self.times, time) - 1)
