"""Pictures of cloth without a display and without a browser, by VTK and Mesa's software rasteriser or a GPU's EGL."""

import ctypes.util
import math
import os
import sys

import numpy

from ._fields import PLAIN, QUANTITIES, colors_of
from ._library import library
from .errors import Error

GROUND = (0.93, 0.92, 0.90)
SOLID = (170, 166, 158)
TO_LIGHT = numpy.array([-0.35, -0.45, 1.0]) / math.hypot(0.35, 0.45, 1.0)
_TEXELS = 256  # of the shadow along a side


def _window():
    """A window that is not on a display. Raises where there is no OpenGL: VTK would end the program."""
    opengl = library("vtkmodules.vtkRenderingOpenGL2", "vtk")
    if sys.platform.startswith("linux"):
        if ctypes.util.find_library("EGL") and hasattr(opengl, "vtkEGLRenderWindow"):
            return opengl.vtkEGLRenderWindow()
        if ctypes.util.find_library("OSMesa") and hasattr(opengl, "vtkOSOpenGLRenderWindow"):
            return opengl.vtkOSOpenGLRenderWindow()
        if not os.environ.get("DISPLAY"):
            raise Error("render: found neither EGL nor OSMesa, expected one: install Mesa (apt-get install libegl1)")
    window = library("vtkmodules.vtkRenderingCore", "vtk").vtkRenderWindow()
    window.SetOffScreenRendering(1)
    return window


def can_draw():
    """Whether there is what drawing needs."""
    try:
        _window()
    except Error:
        return False
    return True


class Camera:
    """``position`` and ``target`` [m], ``up``, shape (3,); ``angle`` of view from bottom to top [degrees]."""

    def __init__(self, position, target, up=(0, 0, 1), angle=35.0):
        self.position, self.target, self.up, self.angle = position, target, up, angle

    @staticmethod
    def around(low, high, azimuth=-55.0, elevation=18.0, angle=35.0, aspect=16 / 9):
        """Looks at a box [m] from an azimuth, counter-clockwise from x, and an elevation [degrees], as near as shows
        its corners."""
        low, high = numpy.asarray(low, float), numpy.asarray(high, float)
        center = (low + high) / 2
        a, e = math.radians(azimuth), math.radians(elevation)
        back = numpy.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])
        right = numpy.array([-math.sin(a), math.cos(a), 0.0])
        up = numpy.cross(back, right)
        corners = numpy.array([[(low, high)[i >> k & 1][k] for k in range(3)] for i in range(8)]) - center
        slope = math.tan(math.radians(angle) / 2)
        away = numpy.maximum(numpy.abs(corners @ up) / slope, numpy.abs(corners @ right) / (slope * aspect))
        distance = max(float((1.08 * away + corners @ back).max()), 0.05)
        return Camera(center + distance * back, center, (0, 0, 1), angle)


class Picture:
    """Draws cloth and solids.

    cloth: a :class:`._fields.Cloth`; uvs: warp and weft coordinates of the corners of its faces [m], shape (faces, 4,
    2), for the threads; None: no threads. solids: vertices [m] in their own frames and triangles of each. ground:
    height of the ground [m]. low, high: box of what is to be seen [m]. size: width and height [pixels].
    """

    def __init__(self, cloth, uvs, solids, low, high, ground, size=(1280, 720), camera=None):
        self._window = _window()
        core = library("vtkmodules.vtkRenderingCore", "vtk")
        self._cloth, self._size = cloth, tuple(int(n) for n in size)
        self._low, self._high, self._ground = numpy.asarray(low, float), numpy.asarray(high, float), float(ground)
        self._window.SetMultiSamples(4)
        self._window.SetSize(*self._size)
        self._renderer = core.vtkRenderer()
        self._renderer.SetBackground(0.98, 0.98, 0.98)
        self._renderer.SetTwoSidedLighting(True)
        self._window.AddRenderer(self._renderer)
        self._add_lights(core)
        self._bar = None
        self._spread = numpy.random.default_rng(1)
        self._solids = [self._add_solid(core, *solid) for solid in solids]
        self._add_ground(core)
        self._add_cloth(core, uvs)
        self.look(camera or Camera.around(low, high, aspect=self._size[0] / self._size[1]))

    def _add_lights(self, core):
        self._renderer.SetAutomaticLightCreation(False)
        head = core.vtkLight()
        head.SetLightTypeToHeadlight()
        head.SetIntensity(0.30)
        self._renderer.AddLight(head)
        for direction, strength in ((TO_LIGHT, 0.62), ((0.8, -0.6, 0.2), 0.25), ((0.1, 0.9, -0.2), 0.20)):
            light = core.vtkLight()
            light.SetLightTypeToSceneLight()
            light.SetPositional(False)
            light.SetPosition(*direction)
            light.SetFocalPoint(0, 0, 0)
            light.SetIntensity(strength)
            self._renderer.AddLight(light)

    def _actor(self, core, data):
        mapper = core.vtkPolyDataMapper()
        mapper.SetInputData(data)
        actor = core.vtkActor()
        actor.SetMapper(mapper)
        look = actor.GetProperty()
        look.SetAmbient(0.34)
        look.SetDiffuse(0.95)
        look.SetSpecular(0.0)
        self._renderer.AddActor(actor)
        return actor

    def _add_solid(self, core, vertices, triangles):
        model = library("vtkmodules.vtkFiltersCore", "vtk")
        data = _poly_data(vertices, triangles)
        normals = model.vtkPolyDataNormals()
        normals.SetInputData(data)
        normals.SetFeatureAngle(40)
        normals.Update()
        actor = self._actor(core, normals.GetOutput())
        actor.GetProperty().SetColor(*(c / 255 for c in SOLID))
        transforms = library("vtkmodules.vtkCommonMath", "vtk")
        matrix = transforms.vtkMatrix4x4()
        actor.SetUserMatrix(matrix)
        return matrix, _points_on(vertices, triangles, 4000, self._spread)

    def _add_ground(self, core):
        reach = 0.75 * max(float(numpy.linalg.norm(self._high - self._low)), 0.1)
        center = (self._low + self._high)[:2] / 2
        self._corner, self._side = center - reach, 2 * reach
        x, y = self._corner
        square = numpy.array([[x, y], [x + 2 * reach, y], [x + 2 * reach, y + 2 * reach], [x, y + 2 * reach]])
        vertices = numpy.column_stack([square, numpy.full(4, self._ground)])
        data = _poly_data(vertices, numpy.array([[0, 1, 2], [0, 2, 3]]))
        _set_uvs(data, numpy.array([[0, 0], [1, 0], [1, 1], [0, 1]]))
        actor = self._actor(core, data)
        actor.GetProperty().SetLighting(False)
        actor.GetProperty().SetAmbient(1)
        actor.GetProperty().SetDiffuse(0)
        self._shadow = library("vtkmodules.vtkCommonDataModel", "vtk").vtkImageData()
        self._shadow.SetDimensions(_TEXELS, _TEXELS, 1)
        texture = core.vtkTexture()
        texture.SetInputData(self._shadow)
        texture.InterpolateOn()
        texture.RepeatOff()
        actor.SetTexture(texture)
        # Fades into the background, so that it has no rim.
        grid = (numpy.arange(_TEXELS) + 0.5) / _TEXELS * 2 - 1
        away = numpy.hypot(*numpy.meshgrid(grid, grid))
        self._fade = numpy.clip(1.6 - 1.6 * away, 0, 1)[..., None]

    def _add_cloth(self, core, uvs):
        cloth = self._cloth
        if uvs is None:
            self._nodes, triangles = numpy.arange(len(cloth.rest)), cloth.triangles
        else:
            # A vertex for each pair of node and coordinates: seams join panels that lie apart.
            is_corner = cloth.faces.ravel() >= 0
            keys = numpy.column_stack([cloth.faces.ravel(), numpy.round(numpy.asarray(uvs).reshape(-1, 2), 9)])
            unique, places = numpy.unique(keys[is_corner], axis=0, return_inverse=True)
            corners = numpy.full(is_corner.shape, -1)
            corners[is_corner] = places.ravel()
            corners = corners.reshape(-1, 4)
            self._nodes = unique[:, 0].astype(int)
            quads = corners[cloth.faces[:, 3] >= 0]
            triangles = numpy.concatenate([corners[:, :3], quads[:, [0, 2, 3]]])
        self._data = _poly_data(cloth.rest[self._nodes], triangles)
        actor = self._actor(core, self._data)
        self._weave = None
        if uvs is not None:
            size = float(numpy.linalg.norm(self._high - self._low))
            _set_uvs(self._data, unique[:, 1:] / (size / 20))  # threads are drawn wider than they are
            self._weave = core.vtkTexture()
            self._weave.SetInputData(image_data(_weave()))
            self._weave.InterpolateOn()
            self._weave.RepeatOn()
            self._weave.MipmapOn()
            self._weave.SetBlendingMode(core.vtkTexture.VTK_TEXTURE_BLENDING_MODE_MODULATE)
        self._cloth_actor = actor
        self._on_cloth = _barycentric(cloth.rest, cloth.triangles, 30000, self._spread)

    def look(self, camera):
        """Sets the :class:`Camera`."""
        own = self._renderer.GetActiveCamera()
        own.SetPosition(*map(float, camera.position))
        own.SetFocalPoint(*map(float, camera.target))
        own.SetViewUp(*map(float, camera.up))
        own.SetViewAngle(camera.angle)
        self._renderer.ResetCameraClippingRange()

    def draw(self, positions, poses=(), colors=None, legend=None):
        """The picture, shape (height, width, 3), uint8, the first row on top.

        positions [m], shape (nodes, 3); poses of the solids: centre and quaternion x, y, z, w, shape (solids, 7);
        colors: RGB of the drawn triangles, or of the nodes; None: plain. legend: name of a quantity with the low and
        high end of its colours, whose bar is drawn.
        """
        positions = numpy.asarray(positions, dtype=float)
        points = positions[self._nodes]
        _set_points(self._data, points)
        _set_normals(self._data, self._cloth.normals(positions)[self._nodes])
        self._paint(colors)
        for (matrix, _), pose in zip(self._solids, poses):
            turn = rotation_of(pose)
            for row in range(3):
                for column in range(3):
                    matrix.SetElement(row, column, float(turn[row, column]))
                matrix.SetElement(row, 3, float(pose[row]))
        self._cast(positions, poses)
        self._show_legend(legend)
        self._renderer.ResetCameraClippingRange()
        self._window.Render()
        return self._pixels()

    def _paint(self, colors):
        arrays = library("vtkmodules.util.numpy_support", "vtk")
        by_points, by_cells = self._data.GetPointData(), self._data.GetCellData()
        by_cells.SetScalars(None)
        by_points.SetScalars(None)
        mapper = self._cloth_actor.GetMapper()
        # Numbers are read off colours: threads and strong shades would change them.
        is_plain = colors is None or len(colors) == len(self._cloth.rest)
        self._cloth_actor.SetTexture(self._weave if is_plain else None)
        self._cloth_actor.GetProperty().SetAmbient(0.38 if is_plain else 0.5)
        self._cloth_actor.GetProperty().SetDiffuse(1.0 if is_plain else 0.6)
        if colors is None:
            self._cloth_actor.GetProperty().SetColor(*(c / 255 for c in PLAIN))
            mapper.ScalarVisibilityOff()
            return
        values = colors[self._nodes] if is_plain else colors
        scalars = arrays.numpy_to_vtk(numpy.ascontiguousarray(values, dtype=numpy.uint8), deep=True)
        (by_points if is_plain else by_cells).SetScalars(scalars)
        mapper.ScalarVisibilityOn()
        mapper.SetScalarMode(1 if is_plain else 2)
        mapper.SetColorModeToDirectScalars()

    def _cast(self, positions, poses):
        """The shadow on the ground: points of all surfaces, moved along the light, and blurred."""
        corners, weights = self._on_cloth
        casters = [(positions[self._cloth.triangles[corners]] * weights[..., None]).sum(1)]
        casters += [points @ rotation_of(pose).T + pose[:3] for (_, points), pose in zip(self._solids, poses)]
        points = numpy.concatenate(casters)
        height = points[:, 2] - self._ground
        flat = points[:, :2] - height[:, None] * (TO_LIGHT[:2] / TO_LIGHT[2])
        place = numpy.floor((flat - self._corner) / self._side * _TEXELS).astype(int)
        inside = ((place >= 0) & (place < _TEXELS)).all(1) & (height > -1e-6)
        hits = numpy.bincount(place[inside, 1] * _TEXELS + place[inside, 0], minlength=_TEXELS * _TEXELS)
        mask = _blurred((hits > 0).reshape(_TEXELS, _TEXELS).astype(float), 1)
        mask = _blurred(_blurred(numpy.minimum(1.6 * mask, 1), 3), 3)
        ground = numpy.array(GROUND) * (1 - 0.45 * mask[..., None])
        colors = 0.98 + (ground - 0.98) * self._fade
        arrays = library("vtkmodules.util.numpy_support", "vtk")
        texels = numpy.ascontiguousarray((255 * colors).round().astype(numpy.uint8).reshape(-1, 3))
        self._shadow.GetPointData().SetScalars(arrays.numpy_to_vtk(texels, deep=True))
        self._shadow.Modified()

    def _show_legend(self, legend):
        if legend is None:
            if self._bar is not None:
                self._bar.SetVisibility(False)
            return
        name, low, high = legend
        if self._bar is None:
            self._bar = self._make_bar()
        table = library("vtkmodules.vtkCommonCore", "vtk").vtkLookupTable()
        table.SetNumberOfTableValues(128)
        table.SetRange(low, high)
        for i, rgb in enumerate(colors_of(numpy.linspace(low, high, 128), low, high, QUANTITIES[name].signed)):
            table.SetTableValue(i, *(rgb / 255))
        self._bar.SetVisibility(True)
        self._bar.SetLookupTable(table)
        self._bar.SetTitle(f"{name} [{QUANTITIES[name].unit}]")

    def _make_bar(self):
        library("vtkmodules.vtkRenderingFreeType", "vtk")  # draws the letters
        bar = library("vtkmodules.vtkRenderingAnnotation", "vtk").vtkScalarBarActor()
        bar.SetOrientationToHorizontal()
        bar.SetPosition(0.03, 0.03)
        bar.SetWidth(0.32)
        bar.SetHeight(0.10)
        bar.SetNumberOfLabels(5)
        bar.SetLabelFormat("%.3g")
        bar.UnconstrainedFontSizeOn()
        for text, size in ((bar.GetTitleTextProperty(), 18), (bar.GetLabelTextProperty(), 15)):
            text.SetFontSize(max(9, round(size * self._size[1] / 720)))
            text.SetColor(0.15, 0.15, 0.15)
            text.ItalicOff()
            text.BoldOff()
            text.ShadowOff()
        self._renderer.AddViewProp(bar)
        return bar

    def _pixels(self):
        core = library("vtkmodules.vtkCommonCore", "vtk")
        arrays = library("vtkmodules.util.numpy_support", "vtk")
        width, height = self._size
        pixels = core.vtkUnsignedCharArray()
        self._window.GetPixelData(0, 0, width - 1, height - 1, 0, pixels, 0)
        return numpy.ascontiguousarray(arrays.vtk_to_numpy(pixels).reshape(height, width, -1)[::-1, :, :3])

    def close(self):
        """Gives the memory of the picture back."""
        self._window.Finalize()


def rotation_of(pose):
    """Rotation matrix of a pose with the quaternion x, y, z, w in its last four numbers."""
    x, y, z, w = (float(n) for n in pose[3:])
    return numpy.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


def _poly_data(vertices, triangles):
    data = library("vtkmodules.vtkCommonDataModel", "vtk")
    arrays = library("vtkmodules.util.numpy_support", "vtk")
    poly = data.vtkPolyData()
    cells = data.vtkCellArray()
    offsets = arrays.numpy_to_vtkIdTypeArray(3 * numpy.arange(len(triangles) + 1, dtype=numpy.int64), deep=True)
    nodes = arrays.numpy_to_vtkIdTypeArray(numpy.asarray(triangles, dtype=numpy.int64).ravel(), deep=True)
    cells.SetData(offsets, nodes)
    _set_points(poly, vertices)
    poly.SetPolys(cells)
    return poly


def _set_points(poly, vertices):
    core = library("vtkmodules.vtkCommonCore", "vtk")
    arrays = library("vtkmodules.util.numpy_support", "vtk")
    points = core.vtkPoints()
    points.SetData(arrays.numpy_to_vtk(numpy.ascontiguousarray(vertices, dtype=numpy.float32), deep=True))
    poly.SetPoints(points)


def _set_normals(poly, normals):
    arrays = library("vtkmodules.util.numpy_support", "vtk")
    poly.GetPointData().SetNormals(
        arrays.numpy_to_vtk(numpy.ascontiguousarray(normals, dtype=numpy.float32), deep=True))


def _set_uvs(poly, uvs):
    arrays = library("vtkmodules.util.numpy_support", "vtk")
    poly.GetPointData().SetTCoords(arrays.numpy_to_vtk(numpy.ascontiguousarray(uvs, dtype=numpy.float32), deep=True))


def image_data(pixels):
    """An image of VTK, the first row at the bottom."""
    arrays = library("vtkmodules.util.numpy_support", "vtk")
    image = library("vtkmodules.vtkCommonDataModel", "vtk").vtkImageData()
    image.SetDimensions(pixels.shape[1], pixels.shape[0], 1)
    image.GetPointData().SetScalars(arrays.numpy_to_vtk(pixels.reshape(-1, pixels.shape[2]), deep=True))
    return image


def _weave(threads=8, pixels=16):
    """Plain weave of some threads each way: round threads that pass over and under each other."""
    side = threads * pixels
    v, u = numpy.mgrid[0:side, 0:side] / pixels
    across_u, across_v = numpy.abs(u % 1 - 0.5) * 2, numpy.abs(v % 1 - 0.5) * 2
    warp_is_over = (numpy.floor(u) + numpy.floor(v)) % 2 == 0
    across = numpy.where(warp_is_over, across_v, across_u)
    along = numpy.where(warp_is_over, across_u, across_v)
    light = 0.66 + 0.34 * numpy.sqrt(numpy.clip(1 - across ** 2, 0, 1)) * (1 - 0.35 * along ** 2)
    return numpy.repeat((255 * light).round().astype(numpy.uint8)[..., None], 3, axis=2)


def _barycentric(vertices, triangles, count, random):
    """Triangles by their areas, and weights of their corners: points spread over a surface."""
    p = vertices[triangles]
    areas = numpy.linalg.norm(numpy.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1)
    chosen = random.choice(len(triangles), size=count, p=areas / areas.sum())
    a, b = numpy.sqrt(random.random(count)), random.random(count)
    return chosen, numpy.column_stack([1 - a, a * (1 - b), a * b])


def _points_on(vertices, triangles, count, random):
    chosen, weights = _barycentric(vertices, triangles, count, random)
    return (vertices[triangles[chosen]] * weights[..., None]).sum(1)


def _blurred(image, radius):
    """Mean over squares, twice."""
    width = 2 * radius + 1
    for _ in range(2):
        for axis in (0, 1):
            pad = [(0, 0), (0, 0)]
            pad[axis] = (radius + 1, radius)
            sums = numpy.cumsum(numpy.pad(image, pad, mode="edge"), axis=axis)
            ends = numpy.take(sums, range(width, sums.shape[axis]), axis=axis)
            image = (ends - numpy.take(sums, range(sums.shape[axis] - width), axis=axis)) / width
    return image
