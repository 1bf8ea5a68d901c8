"""Results drawn without a display: pictures, films and the page of many."""

import base64
import html.parser
import json
import re

import isocloth
import numpy
import pytest
from isocloth.__main__ import main

pytest.importorskip("h5py")
pytest.importorskip("vtk")
image = pytest.importorskip("vtkmodules.vtkIOImage")
from isocloth._display import ShownResult, ShownSimulation  # noqa: E402
from isocloth._render import Stage  # noqa: E402
from isocloth._vtk_renderer import Camera, can_draw  # noqa: E402

if not can_draw():
    pytest.skip("no OpenGL without a display", allow_module_level=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A sheet that falls past a ball which moves, on a plane."""
    scene = {"step": 0.01, "duration": 0.3, "frame_interval": 0.05, "garments": [
        {"name": "sheet", "mesh": {"generator": "quad_grid", "nodes": [7, 5], "size": [0.3, 0.2]},
         "transform": {"translation": [0, 0, 0.5]}}], "obstacles": [
        {"name": "floor", "shape": {"type": "plane"}},
        {"name": "ball", "shape": {"type": "sphere", "radius": 0.05}, "position": [0.5, 0, 0.2], "motion": {
            "type": "keyframes", "times": [0, 0.3], "translations": [[0, 0, 0], [0, 0.3, 0]]}}]}
    return isocloth.run(scene, tmp_path_factory.mktemp("results") / "falling", quiet=True).folder


def read_png(path):
    from vtkmodules.util.numpy_support import vtk_to_numpy

    reader = image.vtkPNGReader()
    reader.SetFileName(str(path))
    reader.Update()
    data = reader.GetOutput()
    width, height, _ = data.GetDimensions()
    return vtk_to_numpy(data.GetPointData().GetScalars()).reshape(height, width, -1)[::-1].astype(int)


def pixel(camera, size, point):
    """Where a camera has a point: row, column."""
    back = camera.position - camera.target
    back = back / numpy.linalg.norm(back)
    right = numpy.cross(camera.up, back)
    right /= numpy.linalg.norm(right)
    d = point - camera.position
    scale = size[1] / 2 / numpy.tan(numpy.radians(camera.angle) / 2) / -(d @ back)
    return round(size[1] / 2 - scale * (d @ numpy.cross(back, right))), round(size[0] / 2 + scale * (d @ right))


@pytest.mark.parametrize("frame", [0, -1])
def test_things_are_drawn_where_they_are(folder, tmp_path, frame):
    size = (480, 270)
    path = isocloth.render(folder, tmp_path / "new" / "still.png", color="garment", frame=frame, size=size)
    picture = read_png(path)
    assert picture.shape == (270, 480, 3)
    shown = ShownResult(folder)
    number = frame % shown.frame_count
    stage = Stage(shown, [shown.positions(number)], [shown.poses(number)])
    assert stage.ground == 0 and [shown.solids[n][0] for n in stage.chosen] == ["ball"]
    camera = Camera.around(stage.low, stage.high, aspect=480 / 270)
    cloth = picture[pixel(camera, size, shown.positions(number).mean(0))]
    assert cloth[0] > 1.3 * cloth[2]  # orange, the first colour of garments
    ball = picture[pixel(camera, size, shown.poses(number)[1, :3])]
    assert numpy.ptp(ball) < 40 and ball.mean() < 220
    assert picture[0].min() > 240 and numpy.ptp(picture, axis=2)[:10].max() < 8  # background


def test_a_shadow_lies_on_the_ground(folder, tmp_path):
    """Below the sheet, away from the light."""
    size = (480, 270)
    shown = ShownResult(folder)
    stage = Stage(shown, [shown.positions(0)], [shown.poses(0)])
    picture = stage.picture(size, Camera(numpy.array([0.8, 0.6, 2.0]), numpy.array([0.2, 0.2, 0]), (0, 1, 0), 40))
    camera = Camera(numpy.array([0.8, 0.6, 2.0]), numpy.array([0.2, 0.2, 0]), (0, 1, 0), 40)
    pixels = stage.draw(picture, shown.positions(0), shown.poses(0), "plain").astype(int)
    picture.close()
    shadow = pixels[pixel(camera, size, numpy.array([0.15, 0.1, 0]) + 0.3 * numpy.array([0.35, 0.45, 0]))].mean()
    beside = pixels[pixel(camera, size, numpy.array([-0.15, -0.1, 0]))].mean()
    assert shadow < 0.8 * beside


def test_colours_of_a_stretched_sheet(sheet):
    """Pulled by 4 % along warp: the colour of the value over the whole sheet, but for light and shade."""
    simulation = isocloth.Simulation(sheet)
    simulation.write("positions", simulation.rest_positions() * [1.04, 1, 1])
    shown = ShownSimulation(simulation)
    positions = shown.positions()
    stage = Stage(shown, [positions], [shown.poses()])
    size = (960, 540)
    camera = Camera.around(stage.low, stage.high, azimuth=-90, elevation=60, aspect=16 / 9)
    picture = stage.picture(size, camera)
    values = shown.values("warp strain", positions)
    red = stage.draw(picture, positions, shown.poses(), "warp strain", values, (-5, 5)).astype(int)
    blue = stage.draw(picture, positions, shown.poses(), "warp strain", -values, (-5, 5)).astype(int)
    plain = stage.draw(picture, positions, shown.poses(), "plain").astype(int)
    picture.close()
    at = pixel(camera, size, positions.mean(0))
    assert red[at][0] > 2 * red[at][2] and blue[at][2] > 2 * blue[at][0]
    legend = (slice(450, 540), slice(15, 360))
    assert numpy.ptp(red[legend], axis=2).max() > 80 and numpy.ptp(plain[legend], axis=2).max() < 40
    assert numpy.std(plain[at[0] - 8:at[0] + 8, at[1] - 8:at[1] + 8, 0]) > 1  # threads


def test_a_film_has_the_frames_of_its_time(folder, tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    for name, speed, frames in (("slow.mp4", 0.5, 13), ("fast.webm", 1.0, 7)):  # 0.3 s at 20 frames per second
        path = isocloth.render(folder, tmp_path / name, size=(161, 91), frames_per_second=20, speed=speed)
        assert ffmpeg.count_frames_and_secs(str(path))[0] == frames
    reader = ffmpeg.read_frames(str(tmp_path / "slow.mp4"))
    assert next(reader)["size"] == (160, 90)
    pictures = [numpy.frombuffer(frame, numpy.uint8).astype(int) for frame in reader]
    assert numpy.abs(pictures[0] - pictures[-1]).max() > 60  # it falls


def test_what_cannot_be_drawn_is_said(folder, tmp_path, capsys):
    target = str(tmp_path / "a.png")
    for arguments, word in ((["render", str(folder), str(tmp_path / "a.gif")], ".gif"),
                            (["render", str(folder), target, "--color", "temperature"], "temperature"),
                            (["render", str(folder), target, "--color", "contact load"], "contact.cloth"),
                            (["render", str(folder), target, "--frame", "99"], "99"),
                            (["render", str(folder), target, "--size", "3x"], "3x"),
                            (["render", str(folder), target, "--size", "²00x100"], "²00x100"),
                            (["render", str(folder), target, "--azimuth", "nan"], "azimuth"),
                            (["render", str(folder), target, "--color", "shear", "--most", "inf"], "most"),
                            (["render", str(folder), target[:-3] + "mp4", "--speed", "1e-9"], "frames"),
                            (["render", str(folder), target, "--color", "shear", "--most", "-1"], "most"),
                            (["render", str(tmp_path), target], "trajectory.h5"),
                            (["gallery", str(tmp_path / "none")], "none"),
                            (["gallery", str(tmp_path)], "neither")):
        assert main(arguments) == 2
        assert word in capsys.readouterr().err
    assert not (tmp_path / "a.png").exists()


class Page(html.parser.HTMLParser):
    """Links, pictures and tags of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.pictures, self.open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.links += [attributes["href"]] if tag == "a" else []
        self.pictures += [attributes["src"]] if tag == "img" else []
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_gallery_shows_results_and_runs_scenes(folder, sheet, tmp_path):
    scenes, results = tmp_path / "scenes", tmp_path / "results"
    scenes.mkdir()
    (scenes / "swing.json").write_text(json.dumps(sheet | {"name": "A <swing> & more"}))
    (scenes / "bad.json").write_text(json.dumps(sheet | {"recipe": "felt"}))
    (scenes / "notes.json").write_text("{}")
    page = tmp_path / "page.html"
    assert main(["gallery", str(folder.parent), str(scenes), "--results", str(results), "--output", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    parsed = Page(text)
    assert not parsed.open and len(parsed.pictures) == 2 and text.count("<article>") == 3
    for source in parsed.pictures:
        assert base64.b64decode(source.removeprefix("data:image/jpeg;base64,"))[:3] == b"\xff\xd8\xff"
    for link in parsed.links:
        assert (tmp_path / link).resolve().is_file()
    assert "A &lt;swing&gt; &amp; more" in text and "felt" in text and "<swing>" not in text
    summary = isocloth.Result(results / "swing").summary
    rows = dict(re.findall(r"<tr><td>([^<]+)</td><td[^>]*>([^<]+)</td></tr>", text[text.index("&lt;swing"):]))
    assert rows["nodes"] == "35" and rows["missed steps"] == f"{summary['steps_violated']} of 20"
    assert rows["strain, most"] == f"{100 * summary['strain_max']:.3g} %"
    before = (results / "swing" / "summary.json").stat().st_mtime_ns
    isocloth.gallery(scenes, page, results=results)
    assert (results / "swing" / "summary.json").stat().st_mtime_ns == before  # it was there
