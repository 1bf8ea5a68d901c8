"""Closed forms of bench/truth on coarse meshes: as near to what is known as their own refinement says."""

import math
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "bench" / "truth"))

import check  # noqa: E402
import friction  # noqa: E402
import motion  # noqa: E402
import statics  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::isocloth.SceneWarning")


# All are of second order: errors of halved elements, or steps, fall to a quarter. What is known is met as soon as the
# limit that the last three values tend to is nearer to it than the last of them.
@pytest.mark.parametrize("function, arguments, values", [
    (statics.heavy_column, {"levels": (4, 8, 16)}, "by_mesh"),
    (statics.elastic_catenary, {"levels": (8, 16, 32)}, "by_mesh"),
    (statics.pure_bending, {"levels": (4, 8, 16)}, "by_mesh"),
    (motion.clamped_strip, {"levels": (4, 8, 16), "steps": (160,)}, "by_mesh"),
    (motion.drum, {"levels": (4, 8, 16), "steps": (80,)}, "by_mesh"),
    (motion.hoop, {"steps": (50, 100, 200)}, "by_step"),
    (motion.terminal_velocity, {"steps": (25, 50, 100)}, "by_step"),
    (friction.capstan, {"levels": (4, 8, 16)}, "by_mesh"),
    (friction.table_static, {"steps": (400, 800, 1600)}, "by_step"),
])
def test_closed_forms_are_met_at_second_order(function, arguments, values):
    row = function(**arguments)
    found = getattr(row, values)
    assert check.order(found) == pytest.approx(2, abs=0.5)
    assert abs(check.limit(found) - row.known) < abs(found[-1] - row.known)


def test_orders_and_limits_are_those_of_their_formula():
    values = [3 + 0.1 * size**2 for size in (4, 2, 1)]
    assert check.order(values) == pytest.approx(2)
    assert check.limit(values) == pytest.approx(3)
    assert math.isnan(check.order([1, 2])) and math.isnan(check.order([1, 2, 1.5]))
    assert check.limit([1, 2, 1.5]) == 1.5
