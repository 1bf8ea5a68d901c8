"""Pictures and films of results and of running simulations."""

import math
import pathlib

import numpy

from ._display import ShownResult
from ._fields import QUANTITIES, Range, quantity
from ._video import RECORDED, Video, write_png
from ._vtk_renderer import Camera, Picture, rotation_of
from .errors import Error, FileError


class Stage:
    """What of a scene is drawn, and where: ``low`` and ``high``, the box of what is to be seen [m]; ``ground``, the
    height of the ground [m], that of an obstacle that is a level plane, else a little below all there is; ``chosen``:
    numbers of the solids that are drawn.
    """

    def __init__(self, shown, positions, poses):
        """positions, poses: of some instants."""
        self.shown = shown
        clouds = numpy.concatenate(positions)
        self.low, self.high = clouds.min(0), clouds.max(0)
        size = max(float(numpy.linalg.norm(self.high - self.low)), 0.05)
        grounds, self.chosen, lowest = [], [], self.low[2]
        for number, (_name, vertices, _triangles) in enumerate(shown.solids):
            placed = numpy.concatenate([vertices @ rotation_of(p[number]).T + p[number, :3] for p in poses])
            is_plane = len(vertices) == 4 and numpy.ptp(vertices, axis=0).max() > 9
            if is_plane and numpy.ptp(placed[:, 2]) < 1e-6:
                grounds.append(placed[0, 2])
                continue
            self.chosen.append(number)
            if not is_plane:
                lowest = min(lowest, placed[:, 2].min())
            if numpy.linalg.norm(numpy.ptp(placed, axis=0)) < 3 * size:
                self.low, self.high = numpy.minimum(self.low, placed.min(0)), numpy.maximum(self.high, placed.max(0))
        self.ground = max(grounds) if grounds else lowest - 0.02 * size

    def picture(self, size, camera=None):
        """A :class:`Picture` of it."""
        solids = [self.shown.solids[number][1:] for number in self.chosen]
        return Picture(self.shown.cloth, self.shown.uvs, solids, self.low, self.high, self.ground, size, camera)

    def draw(self, picture, positions, poses, color, values=None, ends=None):
        """color: plain, garment or a quantity, with its values and the ends of its colours."""
        poses = numpy.asarray(poses).reshape(-1, 7)[self.chosen]
        if color not in QUANTITIES:
            return picture.draw(positions, poses, self.shown.plain_colors(color == "garment"))
        return picture.draw(positions, poses, self.shown.colors(color, values, *ends), (color, *ends))


def _require(**numbers):
    for name, value in numbers.items():
        is_rate = name in ("speed", "frames_per_second")
        if not math.isfinite(value) or (is_rate and not value > 0):
            raise Error(f"render: {name}: found {value}, expected a number{' > 0' if is_rate else ''}")


def render(result, path, *, color=None, most=None, frame=None, size=(1280, 720), frames_per_second=30.0, speed=1.0,
           azimuth=-55.0, elevation=18.0):
    """Draws a result folder without a display: the frame ``frame`` as .png, all as .mp4 or .webm. Returns the path.

    result: a :class:`Result` or its folder. color: ``plain``, a colour for each ``garment``, which is the default where
    there are several, or a quantity of which it shows a legend: ``edge strain``, ``warp strain``, ``weft strain``,
    ``shear``, ``stretch``, ``stress``, ``contact load``; most: upper end of its colours in its unit, None: by the
    values of what is drawn. frame: negative ones count from the end; None: the last. size: width and height [pixels].
    speed: seconds of the run per second of the film. azimuth, elevation: from where it is seen, counter-clockwise from
    x and up [degrees]. Needs vtk and h5py, films imageio-ffmpeg.
    """
    shown = ShownResult(result)
    path = pathlib.Path(path)
    is_film = path.suffix.lower() in Video.CODECS
    if not is_film and path.suffix.lower() != ".png":
        raise Error(f"render: {path.name}: found the suffix \"{path.suffix}\", expected .png, "
                    f"{', '.join(Video.CODECS)}")
    color = shown.default_color() if color is None else color
    if color not in ("plain", "garment"):
        quantity(color)
    last = shown.frame_count - 1
    try:
        number = range(last + 1)[-1 if frame is None else frame]
    except (TypeError, IndexError):
        raise Error(f"render: frame: found {frame}, expected a number from {-last - 1} to {last}") from None
    _require(speed=speed, frames_per_second=frames_per_second, azimuth=azimuth, elevation=elevation)
    if len(size) != 2 or not all(isinstance(side, int) and 16 <= side <= 8192 for side in size):
        raise Error(f"render: size: found {size}, expected a width and a height from 16 to 8192")
    frames = (shown.result.times[-1] - shown.result.times[0]) / speed * frames_per_second if is_film else 0
    if not frames <= 1e5:
        raise Error(f"render: found a film of {frames:.3g} frames, expected at most 1e5; take more speed or fewer "
                    "frames_per_second")
    some = sorted({round(k) for k in numpy.linspace(0, last, 40)}) if is_film else [number]
    stage = Stage(shown, [shown.positions(k) for k in some], [shown.poses(k) for k in some])
    ends = _ends(shown, color, most, some)
    camera = Camera.around(stage.low, stage.high, azimuth, elevation, aspect=size[0] / size[1])
    picture = stage.picture(size, camera)

    def drawn(k):
        shown.number = k
        positions = shown.positions(k)
        values = shown.values(color, positions) if color in QUANTITIES else None
        return stage.draw(picture, positions, shown.poses(k), color, values, ends)

    try:
        if not is_film:
            write_png(path, drawn(number))
            return path
        times = shown.result.times
        video = Video(path, size, frames_per_second)
        try:
            count = max(1, int((times[-1] - times[0]) / speed * frames_per_second + 1e-9) + 1)
            at, image = -1, None
            for instant in times[0] + numpy.arange(count) * speed / frames_per_second:
                nearest = int(numpy.abs(times - instant).argmin())
                if nearest != at:
                    at, image = nearest, drawn(nearest)
                video.add(image)
        finally:
            video.close()
    finally:
        picture.close()
    return path


def frame_picture(result, color=None, size=(640, 360)):
    """The picture of a result that tells most of it: that of its last frame, shape (height, width, 3), uint8."""
    shown = ShownResult(result)
    color = shown.default_color() if color is None else color
    last = shown.number = shown.frame_count - 1
    positions, poses = shown.positions(), shown.poses()
    stage = Stage(shown, [positions], [poses])
    ends = _ends(shown, color, None, [last])
    values = shown.values(color, positions) if color in QUANTITIES else None
    picture = stage.picture(size)
    try:
        return stage.draw(picture, positions, poses, color, values, ends)
    finally:
        picture.close()


def _ends(shown, color, most, frames):
    if color not in QUANTITIES:
        return None
    if most is not None and not 0 < most < math.inf:
        raise Error(f"render: most: found {most}, expected a number > 0")
    values = []
    for shown.number in frames if most is None else ():
        values.append(shown.measured(color, shown.values(color, shown.positions())))
    return Range(QUANTITIES[color].signed, most).of(numpy.concatenate(values) if values else numpy.zeros(0))


class Recorder:
    """Writes pictures and films of what a page plays into a folder: ``NAME-1.png``, ``NAME-2.mp4`` and so on. A film
    has 30 frames for each second that is played, whatever drawing them takes."""

    RATE = 30

    def __init__(self, folder, name="isocloth", size=(1280, 720)):
        if pathlib.Path(name).name != name or "\0" in name:
            raise Error(f"record: name: found {name!r}, expected the name of a file")
        self.folder, self.name, self.size = pathlib.Path(folder), name, size
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"{self.folder}: {error.strerror}, expected a folder to record into") from None
        self._video = self._picture = self._stage = None

    @property
    def is_filming(self):
        return self._video is not None

    def _next(self, suffix):
        """A file of the folder that is not there yet."""
        if suffix not in (".png", *Video.CODECS):
            raise Error(f"record: found a film of the kind {ascii(suffix[1:])[:40]}, expected {' or '.join(RECORDED)}")
        taken = {file.stem for file in self.folder.iterdir()}
        for number in range(1, len(taken) + 2):
            if f"{self.name}-{number}" not in taken:
                return self.folder / f"{self.name}-{number}{suffix}"

    def _draw(self, shown, camera, color, ends):
        positions, poses = shown.positions(), shown.poses()
        if self._picture is None:
            self._stage = Stage(shown, [positions], [poses])
            self._picture = self._stage.picture(self.size, camera)
        self._picture.look(camera or Camera.around(self._stage.low, self._stage.high))
        values = shown.values(color, positions) if color in QUANTITIES else None
        return self._stage.draw(self._picture, positions, poses, color, values, ends)

    def take_picture(self, shown, camera, color, ends):
        """Writes it as PNG and returns the path."""
        path = self._next(".png")
        write_png(path, self._draw(shown, camera, color, ends))
        return path

    def begin(self, kind, now):
        """Begins a film, ``mp4`` or ``webm``, at a time of the simulation [s], and returns its path."""
        path = self._next(f".{kind}")
        self._video, self._due = Video(path, self.size, self.RATE), now
        return path

    def add(self, shown, camera, color, ends, now, speed):
        """The frames that are due at a time of the simulation [s]."""
        if now < self._due - speed / self.RATE:
            self._due = now  # it was started again
        if now < self._due:
            return
        image = self._draw(shown, camera, color, ends)
        while self._due <= now:
            self._video.add(image)
            self._due += speed / self.RATE

    def end(self):
        """Ends the film."""
        if self._video is not None:
            self._video.close()
            self._video = None
