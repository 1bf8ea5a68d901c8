"""A row of the table: what is known, what comes out on finer and finer meshes or steps, and how fast it gets there."""

import dataclasses
import math


def order(values, ratio=2.0):
    """Observed order p of v(d) = v(0) + c d^p from the last three values of sizes d, d / ratio, d / ratio^2 (Roache,
    J. Fluids Eng. 116, 1994); nan where there are fewer, or where they do not come nearer from one side."""
    if len(values) < 3:
        return math.nan
    first, last = values[-2] - values[-3], values[-1] - values[-2]
    return math.log(first / last, ratio) if first * last > 0 else math.nan


def limit(values, ratio=2.0):
    """Where the last three values tend to by their observed order; the last one where they have none above 0.5."""
    p = order(values, ratio)
    return values[-1] if not p > 0.5 else values[-1] + (values[-1] - values[-2]) / (ratio**p - 1)


@dataclasses.dataclass(frozen=True)
class Row:
    """One check. `by_mesh` and `by_step`: ours from coarse to fine, each half of the one before."""

    check: str
    unit: str
    known: float
    by_mesh: list
    source: str
    by_step: list = dataclasses.field(default_factory=list)

    @property
    def ours(self):
        """By the finest mesh and the shortest step."""
        return (self.by_step or self.by_mesh)[-1]

    @property
    def error(self):
        return self.ours / self.known - 1

    def cells(self):
        """Texts of the table's columns."""
        orders = [order(values) for values in (self.by_mesh, self.by_step)]
        return [self.check, f"{self.known:.5g} {self.unit}".strip(), f"{self.ours:.5g}", f"{100 * self.error:+.2g} %",
                *("-" if math.isnan(p) else f"{p:.1f}" for p in orders), self.source]


HEADER = ["check", "known", "ours", "error", "order in mesh", "in step", "source"]
