"""The ruler of host/python/examples/pareto_peers.py against closed forms, and against the engine's own strain."""

import pathlib
import sys

import isocloth
import numpy
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "host" / "python" / "examples"))

import sheet_ruler  # noqa: E402

NODES, SIZE = 7, 0.4
ROUNDING = 1e-14  # a few operations on numbers near 1, over cells of SIZE / 6


def mapped(matrix):
    """The sheet under x = F X, F of shape (3, 2), moved away from the origin."""
    return sheet_ruler.grid(NODES, SIZE)[:, :2] @ numpy.array(matrix).T + [0.1, -0.2, 0.3]


@pytest.mark.parametrize(("stretch", "squeeze"), [(1.25, 0.9), (1.02, 1.01), (0.7, 0.95)])
def test_homogeneous_stretch_has_its_principal_stretches_in_any_direction(stretch, squeeze):
    for angle in (0.0, 0.3, 1.2):
        c, s = numpy.cos(angle), numpy.sin(angle)
        turn, lift = numpy.array([[c, -s], [s, c]]), numpy.array([[0.6, 0.0], [0.0, 1.0], [0.8, 0.0]])  # both isometric
        positions = mapped(lift @ turn @ numpy.diag([stretch, squeeze]) @ turn.T)
        strains = sheet_ruler.element_strains(positions, NODES, SIZE)
        assert strains.shape == (4, NODES - 1, NODES - 1)
        numpy.testing.assert_allclose(strains, max(abs(stretch - 1), abs(squeeze - 1)), rtol=0, atol=ROUNDING)
    edges = sheet_ruler.edge_strains(mapped([[stretch, 0], [0, squeeze], [0, 0]]), NODES, SIZE)
    expected = numpy.repeat([abs(squeeze - 1), abs(stretch - 1)], NODES * (NODES - 1))
    numpy.testing.assert_allclose(edges, expected, rtol=0, atol=ROUNDING)


def test_simple_shear_stretches_elements_by_its_closed_form_though_rows_keep_their_length():
    shear = 0.3  # s - 1 / s = shear, s1 = s, s2 = 1 / s
    most = shear / 2 + numpy.sqrt(1 + shear**2 / 4)
    positions = mapped([[1, shear], [0, 1], [0, 0]])
    numpy.testing.assert_allclose(sheet_ruler.element_strains(positions, NODES, SIZE), most - 1, rtol=0, atol=ROUNDING)
    rows, columns = sheet_ruler.edge_strains(positions, NODES, SIZE).reshape(2, -1)[::-1]
    numpy.testing.assert_allclose(rows, 0, atol=ROUNDING)
    numpy.testing.assert_allclose(columns, numpy.sqrt(1 + shear**2) - 1, rtol=0, atol=ROUNDING)


def test_bilinear_motions_are_interpolated_exactly_and_others_are_not():
    def moved(nodes, power):
        x, y, _ = sheet_ruler.grid(nodes).T
        return numpy.stack([x + 0.2 * x * y, y - 0.1 * x, 0.5 - x + y + (x * y)**power], axis=-1)

    for nodes, to in ((13, 5), (13, 20), (4, 13), (5, 5)):
        numpy.testing.assert_allclose(sheet_ruler.resampled(moved(nodes, 1), nodes, to), moved(to, 1), atol=ROUNDING)
    assert numpy.abs(sheet_ruler.resampled(moved(4, 2), 4, 13) - moved(13, 2)).max() > 0.01


def test_the_start_keeps_every_edge_and_hangs_its_pins_nearer():
    start = sheet_ruler.sheet_from_45_degrees(20)
    assert sheet_ruler.edge_strains(start, 20).max() < 20 * ROUNDING  # cells are a nineteenth of the sheet
    numpy.testing.assert_allclose(start[[0, 19]], [[0, 0, 0], [0.95, 0, 0]], atol=ROUNDING)
    numpy.testing.assert_allclose(start[380:, 1] - start[:20, 1], numpy.sqrt(0.5), atol=ROUNDING)


def test_triangles_cover_the_sheet_once_and_masses_add_up():
    places = sheet_ruler.grid(NODES, SIZE)
    a, b, c = places[sheet_ruler.triangles(NODES)].transpose(1, 0, 2)
    areas = numpy.cross(b - a, c - a)[:, 2] / 2
    numpy.testing.assert_allclose(areas, (SIZE / (NODES - 1))**2 / 2, rtol=1e-12)
    for even in (False, True):
        sheet = sheet_ruler.Sheet(NODES, SIZE, 0.2, 0.005, even=even)
        assert sheet.masses.sum() == pytest.approx(0.2 * SIZE**2, rel=1e-12)
        assert sheet.masses[0] == pytest.approx(sheet.masses[NODES + 1] * (1 if even else 0.25), rel=1e-12)


def test_strains_are_those_that_the_engine_measures_itself():
    scene = {"recipe": "membrane", "step": 0.01, "duration": 1, "garments": [{
        "mesh": {"generator": "quad_grid", "nodes": [NODES, NODES], "size": [SIZE, SIZE]},
        "pins": [{"select": {"nodes": [0, NODES - 1]}}]}]}
    simulation = isocloth.Simulation(scene, threads=1)
    simulation.advance(20)
    own, positions = simulation.strains()[0], simulation.positions(0)
    assert own.max > 0.001
    assert sheet_ruler.edge_strains(positions, NODES, SIZE).max() == pytest.approx(own.max, rel=1e-9)
    strains = sheet_ruler.element_strains(positions, NODES, SIZE)
    assert strains.max() == pytest.approx(max(own.stretch_max, own.compression_max), rel=1e-9)
