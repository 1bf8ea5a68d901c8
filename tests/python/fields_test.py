"""What pictures are coloured by, against closed forms and against what the engine measures."""

import isocloth
import numpy
import pytest
from isocloth._fields import QUANTITIES, Cloth, Range, colors_of

FORMS = ("quads", "triangles", "skewed quads", "mixed")


def grid(form, columns=5, rows=4, width=0.4, height=0.3):
    """Rest positions and faces of a rectangle."""
    x, y = numpy.meshgrid(numpy.linspace(0, width, columns), numpy.linspace(0, height, rows))
    rest = numpy.stack([x.ravel(), y.ravel(), numpy.zeros(x.size)], axis=1)
    if form == "skewed quads":
        inside = (x.ravel() > 0) & (x.ravel() < width) & (y.ravel() > 0) & (y.ravel() < height)
        rest[inside, :2] += 0.02 * numpy.random.default_rng(3).standard_normal((inside.sum(), 2))
    quads = [[j * columns + i, j * columns + i + 1, (j + 1) * columns + i + 1, (j + 1) * columns + i]
             for j in range(rows - 1) for i in range(columns - 1)]
    faces = []
    for number, (a, b, c, d) in enumerate(quads):
        if form == "triangles" or (form == "mixed" and number % 2):
            faces += [[a, b, c, -1], [a, c, d, -1]]
        else:
            faces.append([a, b, c, d])
    return rest, numpy.array(faces)


def turned(positions):
    """The same somewhere else in space."""
    q, _ = numpy.linalg.qr(numpy.random.default_rng(5).standard_normal((3, 3)))
    return positions @ (q * numpy.sign(numpy.linalg.det(q))).T + [0.3, -2, 5]


@pytest.mark.parametrize("form", FORMS)
def test_a_uniformly_stretched_sheet(form):
    rest, faces = grid(form)
    cloth = Cloth(rest, faces)
    positions = turned(rest * [1.03, 0.98, 1])
    numpy.testing.assert_allclose(cloth.warp_strain(positions), 3, atol=1e-9)
    numpy.testing.assert_allclose(cloth.weft_strain(positions), -2, atol=1e-9)
    numpy.testing.assert_allclose(cloth.stretch(positions), 3, atol=1e-9)
    numpy.testing.assert_allclose(cloth.shear(positions), 0, atol=1e-9)
    if form == "quads":  # every node has edges along both; 3 % is the larger
        numpy.testing.assert_allclose(cloth.edge_strain(positions), 3, atol=1e-9)
        numpy.testing.assert_allclose(cloth.edge_strain(turned(rest * [0.9, 1.02, 1])), -10, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("angle", [12.0, -5.0])
def test_a_uniformly_sheared_sheet(form, angle):
    """Threads keep their lengths, weft leans towards warp: s1^2 = 1 + sin(angle) of the half angle."""
    rest, faces = grid(form)
    cloth = Cloth(rest, faces)
    s, c = numpy.sin(numpy.radians(angle)), numpy.cos(numpy.radians(angle))
    positions = turned(rest @ numpy.array([[1, 0, 0], [s, c, 0], [0, 0, 1]]))
    numpy.testing.assert_allclose(cloth.shear(positions), angle, atol=1e-9)
    numpy.testing.assert_allclose(cloth.warp_strain(positions), 0, atol=1e-9)
    numpy.testing.assert_allclose(cloth.weft_strain(positions), 0, atol=1e-9)
    numpy.testing.assert_allclose(cloth.stretch(positions), 100 * (numpy.sqrt(1 + abs(s)) - 1), atol=1e-9)


def test_warp_runs_where_the_threads_do():
    rest, faces = grid("mixed")
    along_y = numpy.tile([0.0, 1, 0], (len(faces), 1))
    cloth = Cloth(rest, faces, along_y)
    positions = rest * [1, 1.05, 1]
    numpy.testing.assert_allclose(cloth.warp_strain(positions), 5, atol=1e-9)
    numpy.testing.assert_allclose(cloth.weft_strain(positions), 0, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_loads_and_areas_of_nodes(form):
    rest, faces = grid(form)
    cloth = Cloth(rest, faces)
    assert cloth.node_areas.sum() == pytest.approx(0.4 * 0.3)
    numpy.testing.assert_allclose(cloth.contact_load(7 * cloth.node_areas), 7)


def test_the_engine_measures_the_same(sheet):
    """Largest strains of edges and elements of a sheet that swings, quads and triangles."""
    sheet["recipe"] = "membrane"
    sheet["garments"][0]["fabric"] = {"stretch_stiffness": 60, "shear_stiffness": 3, "density": 0.2,
                                      "gravity_density": 0.2}
    irregular = {"generator": "irregular_triangles", "boundary_segments": 6, "interior_nodes": 30, "size": [0.3, 0.2]}
    sheet["garments"].append(dict(sheet["garments"][0], name="triangles", mesh=irregular))
    simulation = isocloth.Simulation(sheet)
    simulation.advance(15)
    for garment, strain in enumerate(simulation.strains()):
        faces, warps = simulation.faces(garment), simulation.warp_directions(garment)
        cloth = Cloth(simulation.rest_positions(garment), faces, warps)
        positions = simulation.positions(garment)
        assert 0.001 < strain.max
        assert numpy.abs(cloth.edge_strain(positions)).max() / 100 == pytest.approx(strain.max, rel=1e-9)
        assert cloth.stretch(positions).max() / 100 == pytest.approx(strain.stretch_max, rel=1e-9)


def test_stress_is_that_of_the_fabric(sheet):
    """Pulled along a thread by e, S = k (e + e^2 / 2); sheared by an angle, S_uv = G sin(angle)."""
    sheet["recipe"] = "membrane"
    sheet["garments"][0]["fabric"] = {"stretch_stiffness": 800, "weft_stretch_stiffness": 300, "shear_stiffness": 40}
    simulation = isocloth.Simulation(sheet)
    rest = simulation.rest_positions()
    cloth = Cloth(rest, simulation.faces(0), simulation.warp_directions())

    def law(u, v):
        return simulation.membrane_stress(0, u, v)

    numpy.testing.assert_allclose(cloth.stress(rest, law), 0, atol=1e-9)
    along_u = 800 * (0.02 + 0.02 ** 2 / 2)
    numpy.testing.assert_allclose(cloth.stress(turned(rest * [1.02, 1, 1]), law), along_u, rtol=1e-9)
    along_v = 300 * (0.02 + 0.02 ** 2 / 2)
    numpy.testing.assert_allclose(cloth.stress(turned(rest * [1, 1.02, 1]), law), along_v, rtol=1e-9)
    both = numpy.sqrt(along_u ** 2 - along_u * along_v + along_v ** 2)
    numpy.testing.assert_allclose(cloth.stress(turned(rest * [1.02, 1.02, 1]), law), both, rtol=1e-9)
    s, c = numpy.sin(0.1), numpy.cos(0.1)
    sheared = turned(rest @ numpy.array([[1, 0, 0], [s, c, 0], [0, 0, 1]]))
    numpy.testing.assert_allclose(cloth.stress(sheared, law), numpy.sqrt(3) * 40 * s, rtol=1e-9)


def test_recipes_without_a_law_have_no_stress(sheet):
    sheet["recipe"] = "coltraro2022"
    none = numpy.zeros((0, 3))
    with pytest.raises(isocloth.SceneError, match="coltraro2022"):
        isocloth.Simulation(sheet).membrane_stress(0, none, none)


def test_contact_loads_carry_the_weight_of_a_stack(sheet):
    """Of two sheets on a plane the lower one feels the upper one's weight."""
    above = {"name": "above", "mesh": {"generator": "quad_grid", "nodes": [7, 5], "size": [0.3, 0.2]},
             "fabric": {"density": 0.5, "gravity_density": 0.5, "thickness": 0.002, "mass_damping": 2},
             "transform": {"translation": [0, 0, 0.0035]}}
    below = dict(above, name="below", transform={"translation": [0, 0, 0.0011]})
    floor = {"name": "floor", "shape": {"type": "plane"}}
    sheet |= {"contact": {"cloth": True}, "garments": [below, above], "gravity": 9.8, "obstacles": [floor]}
    simulation = isocloth.Simulation(sheet)
    simulation.advance(60)
    lower, upper = simulation.cloth_loads()
    weight = 0.5 * 0.3 * 0.2 * 9.8
    assert lower.sum() == pytest.approx(weight, rel=0.03) and upper.sum() == pytest.approx(weight, rel=0.03)


def test_colours_and_ranges():
    for signed in (False, True):
        rgb = colors_of(numpy.linspace(-1 if signed else 0, 1, 256), -1 if signed else 0, 1, signed).astype(float)
        luminance = rgb @ [0.2126, 0.7152, 0.0722]
        steps = numpy.diff(luminance)
        if signed:  # from dark over white to dark
            assert (steps[:127] >= -1).all() and (steps[128:] <= 1).all() and luminance[127] > 240
        else:
            assert (steps >= -1).all() and luminance[-1] > luminance[0] + 150
    assert Range(True).of(numpy.array([-3.0, 1])) == (-5, 5)
    assert Range(False).of(numpy.array([0.0, 0.012])) == (0, 0.02)
    assert Range(True, 2.5).of(numpy.array([9.0])) == (-2.5, 2.5)
    automatic = Range(False)
    assert automatic.of(numpy.array([9.0]), now=0)[1] == 10
    assert automatic.of(numpy.array([0.9]), now=1)[1] == 10  # not at once
    assert automatic.of(numpy.array([0.9]), now=3.5)[1] == 1
    assert set(QUANTITIES) >= {"edge strain", "shear", "stretch", "stress", "contact load"}
