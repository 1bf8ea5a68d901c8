"""Times of what a walk does, as it goes."""

import time


class Stages:
    def __init__(self):
        self.begin = self.last = time.perf_counter()

    def done(self, what):
        now = time.perf_counter()
        print(f"{now - self.last:7.1f} s  {what}", flush=True)
        self.last = now
