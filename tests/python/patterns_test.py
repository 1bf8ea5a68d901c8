"""Patterns of other programs: lengths and places by closed forms, seams one to one, all faults in one report."""

import json
import subprocess
import sys

import isocloth
import numpy
import pytest
from isocloth._body_mesh import read_body
from isocloth._pattern import Edge, arc_edges, rotation_vector

pytest.importorskip("scipy")


def panel(corners, rotation=(0, 0, 0), translation=(0, 0, 0), curves=None):
    """Of a GarmentCode specification, in centimetres."""
    edges = [{"endpoints": [k, (k + 1) % len(corners)]} for k in range(len(corners))]
    for k, curve in (curves or {}).items():
        edges[k]["curvature"] = curve
    return {"vertices": corners, "edges": edges, "rotation": rotation, "translation": translation}


def stitch(a, i, b, j, *words):
    return [{"panel": a, "edge": i}, {"panel": b, "edge": j}, *words]


RECTANGLE = [[0, 0], [40, 0], [40, 60], [0, 60]]


def skirt():
    """Two rectangles, the back drawn clockwise, as pygarment turns what faces away from the front."""
    return {"pattern": {"panels": {
        "skirt_front": panel(RECTANGLE, translation=[-20, 40, 25]),
        "skirt_back": panel(RECTANGLE[::-1], translation=[-20, 40, -25])},
        "stitches": [stitch("skirt_front", 1, "skirt_back", 1), stitch("skirt_front", 3, "skirt_back", 3)]},
        "properties": {"curvature_coords": "relative", "units_in_meter": 100}}


def write(path, spec):
    path.write_text(json.dumps(spec))
    return path


@pytest.fixture
def mannequin(tmp_path):
    """A person of capsules, 1.7 m tall in centimetres with y up, as the faces of small cubes."""
    parts = [((0, 90, 0), (0, 135, 0), 15), ((0, 135, 0), (0, 148, 0), 6), ((0, 160, 0), (0, 162, 0), 9),
             ((9, 8, 0), (9, 85, 0), 8), ((-9, 8, 0), (-9, 85, 0), 8), ((9, 3, 0), (9, 3, 14), 4),
             ((-9, 3, 0), (-9, 3, 14), 4), ((14, 134, 0), (60, 95, 0), 5), ((-14, 134, 0), (-60, 95, 0), 5)]
    cell = 2.0
    low, shape = numpy.array([-72.0, -2.0, -24.0]), (72, 88, 24)
    centres = low + cell * (numpy.stack(numpy.meshgrid(*map(numpy.arange, shape), indexing="ij"), -1) + 0.5)
    filled = numpy.zeros(shape, bool)
    for a, b, radius in parts:
        a, way = numpy.array(a, float), numpy.array(b, float) - a
        t = numpy.clip((centres - a) @ way / (way @ way), 0, 1)
        filled |= numpy.linalg.norm(centres - a - t[..., None] * way, axis=-1) < radius
    number, points, faces = {}, [], []
    corners = {0: [(0, 0, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1)], 1: [(0, 0, 0), (0, 0, 1), (1, 0, 1), (1, 0, 0)],
               2: [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]}
    for axis in range(3):
        change = numpy.diff(filled.astype(int), axis=axis)
        for cube in numpy.argwhere(change):
            base = cube + numpy.eye(3, dtype=int)[axis]
            quad = [tuple(base + numpy.array(c)) for c in corners[axis]]
            for corner in quad:
                if corner not in number:
                    number[corner] = len(points) + 1
                    points.append(low + cell * numpy.array(corner))
            face = [number[c] for c in quad]
            faces.append(face if change[tuple(cube)] < 0 else face[::-1])
    path = tmp_path / "mannequin.obj"
    path.write_text("".join("v {} {} {}\n".format(*p) for p in points)
                    + "".join("f {} {} {} {}\n".format(*f) for f in faces))
    return path


def test_curves_have_the_lengths_of_their_closed_forms(tmp_path):
    spec = skirt()
    front = spec["pattern"]["panels"]["skirt_front"]
    front["edges"][0]["curvature"] = {"type": "circle", "params": [40, 0, 1]}  # 60 degrees, outwards
    front["edges"][2]["curvature"] = {"type": "quadratic", "params": [[0.5, -0.5]]}
    front["edges"][1]["curvature"] = {"type": "cubic", "params": [[0.25, 0], [0.75, 0]]}  # straight, evenly
    pattern = isocloth.read_pattern(write(tmp_path / "skirt.json", spec))
    arc, straight, parabola, _ = pattern.panels["skirt_front"].edges
    assert arc.length == pytest.approx(0.4 * numpy.pi / 3, rel=1e-4)
    assert straight.length == pytest.approx(0.6, rel=1e-12)
    # y = (w / 2) (1 - (x / (w / 2))^2) / 2 of the control point half of the width away: its slope at the ends is 1
    assert parabola.length == pytest.approx(0.4 * (numpy.sqrt(2) + numpy.arcsinh(1)) / 2, rel=1e-9)
    assert pattern.panels["skirt_front"].area() > 0.4 * 0.6


@pytest.mark.parametrize("large, left", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_arcs_are_cubics_within_three_ten_thousandths_of_the_radius(large, left):
    edges = arc_edges([0, 0], [1, 0], 0.6, large, left)
    angle = 2 * numpy.arcsin(0.5 / 0.6)
    angle = 2 * numpy.pi - angle if large else angle
    assert sum(edge.length for edge in edges) == pytest.approx(0.6 * angle, rel=3e-4)
    height = numpy.sqrt(0.36 - 0.25)
    centre = [0.5, height if left != large else -height]
    for edge in edges:
        away = numpy.linalg.norm(edge.at(numpy.linspace(0, 1, 30)) - centre, axis=1)
        assert numpy.abs(away - 0.6).max() < 3e-4 * 0.6
    middle = edges[len(edges) // 2].start if len(edges) % 2 == 0 else edges[len(edges) // 2].at([0.5])[0]
    assert (middle[1] < 0) == bool(left)  # a turn to the left on the way to the right bulges downwards


def test_splitting_keeps_the_curve():
    edge = Edge([[0, 0], [1, 2], [3, -1], [4, 0]], notches=[0.2, 0.9])
    one, other = edge.split(0.3)
    assert one.length == pytest.approx(0.3 * edge.length, rel=1e-4)
    assert one.length + other.length == pytest.approx(edge.length, rel=1e-9)
    assert one.notches == pytest.approx([0.2 / 0.3]) and other.notches == pytest.approx([0.6 / 0.7])


def test_rotation_vectors_up_to_a_half_turn():
    for vector in ([0.3, -0.2, 0.5], [0, 0, numpy.pi], [0, 2 ** -0.5 * numpy.pi, 2 ** -0.5 * numpy.pi], [0, 0, 0]):
        angle = numpy.linalg.norm(vector)
        a = numpy.array(vector) / max(angle, 1e-30)
        cross = numpy.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
        matrix = numpy.eye(3) + numpy.sin(angle) * cross + (1 - numpy.cos(angle)) * cross @ cross
        assert numpy.allclose(rotation_vector(matrix), vector, atol=1e-9)


def test_panels_stand_where_the_file_has_them_with_fronts_outwards(tmp_path):
    done = isocloth.import_pattern(write(tmp_path / "skirt.json", skirt()), tmp_path / "scene", nodes=200)
    panels = {keys["name"]: keys for keys in json.loads(done.scene.read_text())["garments"][0]["mesh"]["panels"]}
    for name, side in (("skirt_front", -1), ("skirt_back", 1)):
        here = done.pattern.panels[name]
        places = here.place(here.outline())
        assert numpy.allclose(places[:, 1], side * 0.25)
        assert numpy.allclose(sorted({*places[:, 0].round(9)}), [-0.2, 0.2])
        assert numpy.allclose(sorted({*places[:, 2].round(9)}), [0.4, 1.0])
        assert numpy.allclose(here.rotation @ [0, -1, 0], [0, side, 0])
    assert panels["skirt_back"]["rotation"] == pytest.approx([0, 0, 180])
    seams = json.loads(done.scene.read_text())["garments"][0]["mesh"]["seams"]
    assert [seam["direction"] for seam in seams] == ["opposite", "opposite"]
    for a, b, _ in done.pattern.pairs():  # their ends that meet stand one behind the other
        one, other = (step.panel.place(step.edge.at_shares([0, 1] if step.forward else [1, 0])) for step in (a, b))
        assert numpy.allclose(one[:, [0, 2]], other[:, [0, 2]])


def test_the_engine_takes_what_is_written(tmp_path):
    done = isocloth.import_pattern(write(tmp_path / "skirt.json", skirt()), tmp_path / "scene", nodes=200)
    keys = json.loads(done.scene.read_text())
    keys.pop("sewing", None)  # as the panels stand
    simulation = isocloth.Simulation(keys)
    assert simulation.measures()[0].seam_opening == pytest.approx(0.5, abs=1e-3)  # from front to back, ends to ends
    assert 180 < len(simulation.positions(0)) < 300


def test_stitches_of_several_edges_are_divided(tmp_path):
    spec = skirt()
    panels = spec["pattern"]["panels"]
    panels["band"] = panel([[0, 0], [80, 0], [80, 4], [0, 4]], translation=[-40, 110, 25])
    spec["pattern"]["stitches"].append([
        [{"panel": "band", "edge": 0}], [{"panel": "skirt_back", "edge": 0}, {"panel": "skirt_front", "edge": 2}]])
    pattern = isocloth.read_pattern(write(tmp_path / "skirt.json", spec))
    pattern.check()
    pattern.match_seams()
    band = pattern.panels["band"]
    assert len(band.edges) == 5
    assert [edge.length for edge in band.edges[:2]] == pytest.approx([0.4, 0.4])
    sewn = {(a.name, b.panel.name) for a, b, _ in pattern.pairs()}
    assert ("band.0a", "skirt_front") in sewn and ("band.0b", "skirt_back") in sewn


def test_all_faults_are_in_one_report(tmp_path):
    spec = skirt()
    panels, stitches = spec["pattern"]["panels"], spec["pattern"]["stitches"]
    panels["bow"] = panel([[0, 0], [40, 0], [0, 30], [40, 30]])
    panels["open"] = panel(RECTANGLE)
    del panels["open"]["edges"][2]
    stitches += [stitch("skirt_front", 0, "skirt_bakc", 1), stitch("skirt_front", 9, "bow", 1),
                 [{"panel": "bow", "edge": 0}], stitch("skirt_front", 0, "bow", 1)]
    with pytest.raises(isocloth.MeshError) as error:
        isocloth.import_pattern(write(tmp_path / "skirt.json", spec), tmp_path / "scene", ease=0.1)
    text = str(error.value)
    for words in ('"skirt_bakc", which there is not: it is sewn to nothing; the nearest is "skirt_back"',
                  'found edge 9 of "skirt_front", expected one of 0, 1, 2, 3', "stitches[4]: found 1 side",
                  'panel "bow": its outline crosses itself at edges 1 and 3', "open.1: ends 400 mm from where open.2",
                  "seam skirt_front.0 with bow.1: 400.0 mm with 500.0 mm: differ by 20.0%, expected at most 10.0%"):
        assert words in text
    assert "found 6 faults" in text
    assert not (tmp_path / "scene").exists()


def test_units_that_are_not_said_are_guessed_and_said(tmp_path, mannequin):
    spec = skirt()
    del spec["properties"]["units_in_meter"]
    done = isocloth.import_pattern(write(tmp_path / "skirt.json", spec), tmp_path / "scene", body=mannequin)
    notes = " ".join(done.notes)
    assert "centimetres were guessed" in notes
    assert "y was guessed to be up" in notes and "cm was guessed: it is 1.7" in notes


def test_a_seam_that_joins_the_wrong_ends_is_said(tmp_path, mannequin):
    spec = skirt()
    spec["pattern"]["stitches"][1].append("right_wrong")
    done = isocloth.import_pattern(write(tmp_path / "skirt.json", spec), tmp_path / "scene", body=mannequin)
    crossed = [note for note in done.notes if "crosswise" in note]
    assert len(crossed) == 1 and "seam skirt_front.3 with skirt_back.3" in crossed[0]


def test_a_garment_elsewhere_is_refused(tmp_path, mannequin):
    spec = skirt()
    spec["properties"]["units_in_meter"] = 1
    with pytest.raises(isocloth.MeshError, match="the panels stand between"):
        isocloth.import_pattern(write(tmp_path / "skirt.json", spec), tmp_path / "scene", body=mannequin)


def test_a_body_stands_upright_with_its_front_ahead(mannequin):
    body = read_body(mannequin)
    assert numpy.ptp(body.points, axis=0) == pytest.approx([1.26, 0.30, 1.72], abs=0.06)
    assert body.points[body.points[:, 2] < 0.04][:, 1].min() < -0.15  # toes towards -y
    inside = body.distance(numpy.array([[0, 0, 1.1], [0, -0.5, 1.1], [0.09, 0, 0.5], [0, 0, 0.5]]))
    assert (inside < 0).tolist() == [True, False, True, False]


def test_landmarks_are_those_of_the_capsules(mannequin):
    from isocloth._dress_form import DressForm

    form = DressForm(read_body(mannequin))
    assert form.crotch == pytest.approx(0.77, abs=0.03)  # the torso's cap ends at 0.75, its legs' at 0.93
    assert 1.2 < form.armpits < 1.32 and form.armpits < form.shoulders < form.neck < 1.58
    assert form.surfaces["torso"].radius == pytest.approx(0.15, abs=0.02)
    for name, side in (("left_arm", 1), ("right_arm", -1)):
        arm = form.surfaces[name]
        assert arm.axis == pytest.approx(numpy.array([-46 * side, 0, 39]) / numpy.hypot(46, 39), abs=0.1)
        assert arm.radius == pytest.approx(0.05, abs=0.02)
    assert form.surfaces["left_leg"].low[:2] == pytest.approx([0.09, 0], abs=0.02)


def test_panels_are_clear_of_the_body_and_of_each_other(tmp_path, mannequin):
    from isocloth._panel_mesh import crossings, triangles_of

    spec = skirt()
    for name in ("skirt_front", "skirt_back"):
        spec["pattern"]["panels"][name]["translation"][2] /= 3  # into the thighs
    spec["pattern"]["panels"]["apron"] = panel(RECTANGLE, translation=[-18, 40, 25 / 3])  # onto the front
    done = isocloth.import_pattern(write(tmp_path / "skirt.json", spec), tmp_path / "scene", body=mannequin)
    body, places = read_body(mannequin), []
    for here in done.pattern.panels.values():
        points, triangles = triangles_of(here)
        places.append((here.place(points), triangles))
        assert body.distance(places[-1][0]).min() > 0.004
    assert not any(crossings(places[i], places[j]) for i in range(3) for j in range(i))
    notes = " ".join(done.notes)
    assert "moved outwards to be clear of the body" in notes and "crossed or lay on others" in notes


SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="500mm" height="800mm" viewBox="0 0 500 800">
<path id="front" d="M 0 0 v 500 h 400 v -500 z" data-seams="0:back.2 2:back.0" data-grain="80"/>
<path id="back" d="M 0 0 v 500 h 400 v -500 z" transform="translate(20 10)"/></svg>"""


def test_svg_has_seams_and_places_as_attributes(tmp_path, mannequin):
    pytest.importorskip("svgelements")
    (tmp_path / "shirt.svg").write_text(SVG)
    done = isocloth.import_pattern(tmp_path / "shirt.svg", tmp_path / "scene", body=mannequin,
                                   places={"back": {"surface": "torso", "angle": 180, "height": 0.2}})
    front, back = done.pattern.panels.values()
    assert front.area() == pytest.approx(0.2, rel=1e-5) and front.grain == 80
    assert len(done.pattern.pairs()) == 2
    middle = back.place([[0, 0.25]])[0]
    assert middle[1] == pytest.approx(0.18 + 0, abs=0.06)  # behind the torso, whose radius is 0.15
    assert front.place([[0, 0.25]])[0][1] < -0.12
    assert front.around > 0.15 and back.around > 0.15


def test_seams_to_nothing_in_svg(tmp_path):
    pytest.importorskip("svgelements")
    (tmp_path / "shirt.svg").write_text(SVG.replace("2:back.0", "2:bakc.0 7:back.1"))
    with pytest.raises(isocloth.MeshError, match='2 faults(.|\n)*"2:bakc.0"(.|\n)*"7:back.1"'):
        isocloth.import_pattern(tmp_path / "shirt.svg", tmp_path / "scene")


def test_edges_of_a_group_are_a_panel(tmp_path):
    pytest.importorskip("svgelements")
    (tmp_path / "tube.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="500mm" height="800mm" viewBox="0 0 500 800"><g id="tube">'
        '<path id="top" d="M 0 0 h 400"/><path id="left" d="M 0 300 L 0 0" data-seam="side"/>'
        '<path id="hem" d="M 400 300 h -400"/><path id="right" d="M 400 0 v 300" data-seam="side"/></g></svg>')
    pattern = isocloth.read_pattern(tmp_path / "tube.svg")
    (seam,) = pattern.seams
    assert pattern.panels["tube"].area() == pytest.approx(0.12, rel=1e-5)
    assert {step.name for side in seam.sides for step in side} == {"tube.left", "tube.right"}
    assert seam.lengths() == pytest.approx([0.3, 0.3])


@pytest.mark.parametrize("suffix", ["svg", "dxf"])
def test_exports_are_read_as_they_were(tmp_path, suffix):
    pytest.importorskip("svgelements" if suffix == "svg" else "ezdxf")
    spec = skirt()
    spec["pattern"]["panels"]["skirt_front"]["edges"][0]["curvature"] = {"type": "circle", "params": [40, 0, 1]}
    spec["pattern"]["stitches"][1].append("right_wrong")
    done = isocloth.import_pattern(write(tmp_path / "skirt.json", spec), tmp_path / "scene", nodes=200)
    again = isocloth.read_pattern(isocloth.export_pattern(done.scene, tmp_path / f"skirt.{suffix}"))
    for name, here in done.pattern.panels.items():
        assert again.panels[name].area() == pytest.approx(here.area(), abs=2e-5)
    assert [[length for length in seam.lengths()] for seam in again.seams] == [
        pytest.approx(seam.lengths(), abs=1e-4) for seam in done.pattern.seams]
    assert [a.forward == b.forward for a, b, _ in again.pairs()] == [False, True]


def astm(path, units="METRIC", scale=1.0, sew=True):
    """Front and back of a tunic as an ASTM file has them, with a dart in the front and notches at the sides."""
    ezdxf = pytest.importorskip("ezdxf")
    document = ezdxf.new("R12")
    space = document.modelspace()
    if units:
        space.add_text(f"Units: {units}", dxfattribs={"layer": "1"})
    tunic = [(0, 0), (180, 0), (200, 120), (220, 0), (400, 0), (400, 600), (0, 600)]
    plain = [(0, 0), (360, 0), (360, 600), (0, 600)]
    for name, corners in (("FRONT", tunic), ("BACK", plain)):
        block = document.blocks.new(name)
        line = scale * numpy.array([*corners, corners[0]], float)
        if sew:
            block.add_polyline2d(line.tolist(), dxfattribs={"layer": "14"})
        middle = line.mean(0)
        block.add_polyline2d((middle + 1.05 * (line - middle)).tolist(), dxfattribs={"layer": "1"})
        for x in (0, max(corner[0] for corner in corners)):
            block.add_point((scale * x, scale * 200), dxfattribs={"layer": "4"})
        block.add_line((0, scale * 100), (0, scale * 200), dxfattribs={"layer": "7"})
        block.add_text(f"Piece Name: {name}", dxfattribs={"layer": "1"})
        block.add_text("Size: M", dxfattribs={"layer": "1"})
    document.saveas(path)
    return path


def test_dxf_pieces_have_sew_lines_notches_grain_and_proposed_seams(tmp_path):
    pattern = isocloth.read_pattern(astm(tmp_path / "tunic.dxf"))
    assert {name: here.area() for name, here in pattern.panels.items()} == pytest.approx(
        {"FRONT": 0.24 - 0.04 * 0.12 / 2, "BACK": 0.216})
    assert pattern.panels["FRONT"].grain == 90
    assert sum(len(edge.notches) for edge in pattern.panels["FRONT"].edges) == 2
    sides = {frozenset(step.name for side in seam.sides for step in side): seam.sure for seam in pattern.seams}
    assert sides[frozenset({"FRONT.1", "FRONT.2"})] > 0.9  # the dart
    assert sides[frozenset({"FRONT.4", "BACK.3"})] >= 0.4 and sides[frozenset({"FRONT.6", "BACK.1"})] >= 0.4
    assert any("% sure" in note for note in pattern.findings.notes)


def test_dxf_units_are_guessed_and_said_or_asked_for(tmp_path):
    path = astm(tmp_path / "tunic.dxf", units=None, scale=1 / 25.4)
    pattern = isocloth.read_pattern(path)
    assert pattern.unit == 0.0254 and "in was guessed" in " ".join(pattern.findings.notes)
    assert isocloth.read_pattern(path, unit="cm").unit == 0.01
    with pytest.raises(isocloth.Error, match='unit: found "furlong"'):
        isocloth.read_pattern(path, unit="furlong")


def test_the_command_lists_and_writes(tmp_path, mannequin):
    path = write(tmp_path / "skirt.json", skirt())
    run = [sys.executable, "-m", "isocloth", "import", str(path)]
    listed = subprocess.run([*run, "--list"], capture_output=True, text=True)
    assert listed.returncode == 0 and "seam skirt_front.1 with skirt_back.1: 600.0 mm with 600.0 mm" in listed.stdout
    done = subprocess.run([*run, "-o", str(tmp_path / "out"), "--body", str(mannequin), "--nodes", "300"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"scene.json", "body.obj"}
    bad = subprocess.run([*run, "-o", str(tmp_path / "out"), "--place", "skirt_frnt=hips"], capture_output=True,
                         text=True)
    assert bad.returncode == 2 and 'the nearest is "skirt_front"' in bad.stderr


@pytest.mark.parametrize("text, words", [
    ("{", "found no JSON"), ("[]", "found no pattern.panels"),
    ('{"pattern": {"panels": []}}', "found no pattern.panels"),
    ('{"pattern": {"panels": {"a": {"vertices": [[0, 0]], "edges": [{"endpoints": [0, 5]}]}}}}', 'panel "a": found'),
    ('{"pattern": {"panels": {"a": null}, "stitches": [[1, 2]]}}', 'panel "a": found')])
def test_what_is_no_pattern(tmp_path, text, words):
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(isocloth.Error, match=".*") as error:
        isocloth.import_pattern(tmp_path / "bad.json", tmp_path / "scene")
    assert words in str(error.value)


def test_seams_about_one_part_of_the_body_close_before_those_between_parts(tmp_path, mannequin):
    spec = skirt()
    waist = [[0, 0], [40, 0], [40, 5], [0, 5]]
    spec["pattern"]["panels"]["wb_front"] = panel(waist, translation=[-20, 102, 25])
    dart = [[0, 0], [40, 0], [40, 60], [22, 60], [20, 50], [18, 60], [0, 60]]
    spec["pattern"]["panels"]["skirt_front"] = panel(dart, translation=[-20, 40, 25])
    spec["pattern"]["stitches"] = [stitch("skirt_front", 1, "skirt_back", 1), stitch("skirt_front", 6, "skirt_back", 3),
                                   stitch("skirt_front", 3, "skirt_front", 4), stitch("wb_front", 0, "skirt_back", 2)]
    isocloth.import_pattern(write(tmp_path / "pattern.json", spec), tmp_path / "scene", body=mannequin, nodes=400)
    seams = json.loads((tmp_path / "scene" / "scene.json").read_text())["garments"][0]["mesh"]["seams"]
    orders = {frozenset((seam["panel"], seam["other_panel"])): seam["order"] for seam in seams}
    assert orders == {frozenset(("skirt_front", "skirt_back")): 1, frozenset(("skirt_front",)): 0,
                      frozenset(("wb_front", "skirt_back")): 2}


def test_what_nothing_holds_up_has_elastic_bands_as_long_as_the_waist(tmp_path, mannequin):
    spec = skirt()
    for name in ("skirt_front", "skirt_back"):
        spec["pattern"]["panels"][name]["edges"][2]["label"] = "lower_interface"
    pattern = write(tmp_path / "pattern.json", spec)
    done = isocloth.import_pattern(pattern, tmp_path / "scene", body=mannequin, nodes=400)
    garment = json.loads((tmp_path / "scene" / "scene.json").read_text())["garments"][0]
    bands = garment["mesh"]["bands"]
    assert {(band["panel"], band["edge"]) for band in bands} == {("skirt_front", 2), ("skirt_back", 2)}
    girth = bands[0]["share"] * 0.8 / 0.85
    assert 2 * numpy.pi * 0.14 < girth < 2 * numpy.pi * 0.17  # a torso of 15 cm, of cubes
    assert any("elastic bands" in note for note in done.notes)


def test_wide_skirts_are_bent_around_and_hang_within_the_arms(tmp_path, mannequin):
    spec = skirt()
    wide = [[0, 0], [130, 0], [130, 60], [0, 60]]
    spec["pattern"]["panels"]["skirt_front"] = panel(wide, translation=[-65, 40, 25])
    spec["pattern"]["panels"]["skirt_back"] = panel(wide[::-1], translation=[-65, 40, -25])
    isocloth.import_pattern(write(tmp_path / "pattern.json", spec), tmp_path / "scene", body=mannequin, nodes=400)
    panels = json.loads((tmp_path / "scene" / "scene.json").read_text())["garments"][0]["mesh"]["panels"]
    for found in panels:
        assert 0.65 / 1.6 < found["around"] < 0.65 / 1.2


def test_godets_begin_bulged_over_their_slits(tmp_path, mannequin):
    from isocloth._panel_mesh import crossings, triangles_of

    spec = skirt()
    panels = spec["pattern"]["panels"]
    slit = [[0, 0], [8, 0], [13, 25], [18, 0], [22, 0], [27, 25], [32, 0], [40, 0], [40, 60], [0, 60]]
    panels["skirt_front"] = panel(slit, translation=[-20, 40, 25])
    for name, x in (("godet_0", -25), ("godet_1", -5)):  # laid over each other, as GarmentCode does
        panels[name] = panel([[0, 0], [36, 0], [18, 18]], translation=[x, 40, 30])
    spec["pattern"]["stitches"] = [
        stitch("skirt_front", 7, "skirt_back", 1), stitch("skirt_front", 9, "skirt_back", 3),
        stitch("skirt_front", 1, "godet_0", 2), stitch("skirt_front", 2, "godet_0", 1),
        stitch("skirt_front", 4, "godet_1", 2), stitch("skirt_front", 5, "godet_1", 1)]
    pattern = write(tmp_path / "pattern.json", spec)
    done = isocloth.import_pattern(pattern, tmp_path / "scene", body=mannequin, nodes=600)
    front, *godets = (done.pattern.panels[name] for name in ("skirt_front", "godet_0", "godet_1"))
    for godet, slit in zip(godets, ((1, 3), (4, 6))):
        assert 0.36 / (2 * godet.around) < 2.71  # an arc, not a tube
        tips = godet.place([edge.start for edge in godet.edges])
        slits = front.place([front.edges[corner].start for corner in slit])
        assert numpy.linalg.norm(tips[0] - tips[1]) < 0.16  # 0.36 m wide, over a slit of 0.1 m
        assert numpy.linalg.norm(tips[:2].mean(0) - slits.mean(0)) < 0.06
    places = [(p.place(triangles_of(p)[0]), triangles_of(p)[1]) for p in (front, *godets)]
    assert not any(crossings(places[i], places[j]) for i in range(3) for j in range(i))
