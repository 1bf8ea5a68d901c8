"""Cameras of environments: what they see, their noise, and where they stand."""

import isocloth.gym
import numpy
import pytest
from isocloth.gym import LABELS, PinholeCamera, StructuredLight
from isocloth.gym.camera import Camera, see

ABOVE = PinholeCamera((0, 0, 1), (0, 0, 0), up=(0, 1, 0), field_of_view=60, shape=(48, 64))
SQUARE = numpy.array([[0, 1, 2], [0, 2, 3]])


def square(half, height=0.0):
    return numpy.array([[[-half, -half, height], [half, -half, height], [half, half, height], [-half, half, height]]])


def test_a_square_is_as_large_as_optics_say():
    views = see([ABOVE], square(0.2, 0.3), SQUARE)
    seen = views.faces[0, 0] >= 0
    focal = 24 / numpy.tan(numpy.radians(30))
    side = 0.4 * focal / 0.7
    assert abs(seen.sum() - side**2) < 2 * side
    numpy.testing.assert_allclose(views.depth[0, 0][seen], 0.7, rtol=1e-6)
    assert (views.depth[0, 0][~seen] == ABOVE.far).all() and views.depth.dtype == numpy.float32


def test_depth_is_along_the_axis_and_rows_go_down():
    """A plane that rises along y: its depth by the ray of each pixel."""
    slope = 0.5
    plane = square(2.0)
    plane[..., 2] = slope * plane[..., 1]
    depth = see([ABOVE], plane, SQUARE).depth[0, 0]
    focal = 24 / numpy.tan(numpy.radians(30))
    up = (24 - (numpy.arange(48) + 0.5)) / focal  # of y per depth
    expected = 1 / (1 + slope * up)
    numpy.testing.assert_allclose(depth, numpy.broadcast_to(expected[:, None], depth.shape), rtol=1e-4)


def test_what_is_nearer_hides_what_is_behind():
    front, back = square(0.1, 0.3), square(0.3, 0.1)
    for first, second, near in ((front, back, 0), (back, front, 2)):
        views = see([ABOVE], first, SQUARE, [(second, SQUARE)])
        middle = views.faces[0, 0, 24, 32]
        assert middle // 2 == near // 2 and abs(views.depth[0, 0, 24, 32] - 0.7) < 1e-6
    behind = PinholeCamera((0, 0, 1), (0, 0, 2), up=(0, 1, 0))
    assert (see([behind], front, SQUARE).faces == -1).all()
    assert (see([PinholeCamera((0, 0, 0.31), (0, 0, 0), up=(0, 1, 0))], front, SQUARE).faces == -1).all()  # too near


def test_moves_are_of_position_angles_and_lens():
    point = square(0.03, 0.0)
    def middle(move):
        rows, columns = numpy.nonzero(see([ABOVE], point, SQUARE, moves=numpy.array([[move]])).faces[0, 0] >= 0)
        return rows.mean() + 0.5 - 24, columns.mean() + 0.5 - 32
    focal = 24 / numpy.tan(numpy.radians(30))
    numpy.testing.assert_allclose(middle([0, 0, 0, 0, 0, 0, 1.0]), 0, atol=0.51)
    numpy.testing.assert_allclose(middle([0.1, 0, 0, 0, 0, 0, 1.0]), (0, -0.1 * focal), atol=1)
    numpy.testing.assert_allclose(middle([0, 0.1, 0, 0, 0, 0, 1.0]), (0.1 * focal, 0), atol=1)
    numpy.testing.assert_allclose(middle([0.1, 0, 0, 0, 0, 0, 2.0]), (0, -0.2 * focal), atol=1)
    numpy.testing.assert_allclose(middle([0, 0, 0, 0, 0, 0.3, 1.0]), 0, atol=0.51)
    assert abs(middle([0, 0, 0, 0.1, 0, 0, 1.0])[0]) > 3 and abs(middle([0, 0, 0, 0, 0.1, 0, 1.0])[1]) > 3


def test_structured_light_has_holes_and_steps():
    camera = PinholeCamera((0, 0, 1), (0, 0, 0), up=(0, 1, 0), field_of_view=40, noise=StructuredLight())
    views = see([camera], square(0.15, 0.2), SQUARE, [(square(1.0), SQUARE)])
    generators = [numpy.random.default_rng(1)]
    depth = camera.noise.apply(views.depth[:, 0], camera, generators)[0]
    truth, light = views.depth[0, 0], camera.noise
    holes = depth == 0
    # A shadow to the left of the raised square, and nothing else.
    edge = (numpy.diff(truth, axis=1) < -0.1)
    assert edge.any() and (holes[:, :-1] == edge).all() and not holes[:, -1].any()
    disparity = light.focal_length * light.baseline / depth[~holes] / light.step
    numpy.testing.assert_allclose(disparity, numpy.rint(disparity), atol=1e-3)
    errors = (depth - truth)[~holes & (truth > 0.9)]
    step = light.step / (light.focal_length * light.baseline)
    # Of a normal deviation of half a step, rounded: sqrt(1/4 + 1/12) steps.
    assert abs(errors.std() / step - numpy.sqrt(1 / 4 + 1 / 12)) < 0.05 and abs(errors.mean()) < step / 2
    again = camera.noise.apply(views.depth[:, 0], camera, [numpy.random.default_rng(1)])[0]
    numpy.testing.assert_array_equal(depth, again)


def test_lateral_noise_frays_edges():
    camera = PinholeCamera((0, 0, 1), (0, 0, 0), up=(0, 1, 0), field_of_view=40)
    truth = see([camera], square(0.15, 0.2), SQUARE, [(square(1.0), SQUARE)]).depth[:, 0]
    light = StructuredLight(lateral_noise=1.0, edge=9.0)
    near = [light.apply(truth, camera, [numpy.random.default_rng(seed)])[0] < 0.9 for seed in range(2)]
    changed = near[0] != (truth[0] < 0.9)
    assert 20 < changed.sum() < 400 and (near[0] != near[1]).any()


def test_what_is_steep_is_a_hole():
    camera = PinholeCamera((0, 0, 1), (0, 0, 0), up=(0, 1, 0), field_of_view=20,
                           noise=StructuredLight(edge=1.0))
    for degrees, expected in ((60, False), (80, True)):
        plane = square(2.0)
        plane[..., 0] *= numpy.cos(numpy.radians(degrees))
        plane[..., 2] = numpy.sin(numpy.radians(degrees)) * square(2.0)[..., 0] - 0.0
        depth = see([camera], plane, SQUARE).depth[:, 0]
        measured = camera.noise.apply(depth, camera, [numpy.random.default_rng(1)])[0]
        assert ((measured == 0)[:, 20:44].all() if expected else not (measured == 0)[:, 20:44].any())


def test_environments_show_grippers_table_and_cloth():
    cameras = [PinholeCamera((0, -0.8, 0.8), (0, 0, 0)),
               PinholeCamera((0.8, 0, 0.6), (0, 0, 0), noise=StructuredLight())]
    envs = isocloth.gym.FoldTowels(3, nodes=7, starts=1, cameras=cameras, observation=("depth", "rgb", "segmentation"),
                                   randomize=["camera_position", "camera_angle", "camera_field_of_view"])
    seen, _ = envs.reset(seed=1)
    assert seen in envs.observation_space
    assert seen["depth"].shape == (3, 2, 64, 64) and seen["rgb"].shape == (3, 2, 64, 64, 3)
    for world in range(3):
        for camera in range(2):
            assert set(numpy.unique(seen["segmentation"][world, camera])) >= {LABELS["cloth"], LABELS["obstacle"],
                                                                              LABELS["gripper"]}
    assert (seen["depth"][:, 0] > 0).all() and (seen["depth"][:, 1] == 0).any()
    assert (seen["segmentation"][0] != seen["segmentation"][1]).any()  # they stand elsewhere
    mask = numpy.array([True, False, False])
    again, _ = envs.reset(options={"reset_mask": mask})
    numpy.testing.assert_array_equal(again["depth"][1:], seen["depth"][1:])
    assert (again["segmentation"][0] != seen["segmentation"][0]).any()
    numpy.testing.assert_array_equal(envs.reset(seed=1)[0]["depth"], seen["depth"])


def test_the_cloth_covers_as_much_as_before():
    """Of a square of 0.4 m that is turned, to a pixel along its edges."""
    camera = Camera((1, 0, 0), (0, 1, 0), (0, 0, 0), reach=0.4)
    for angle in numpy.linspace(0, 1, 5):
        c, s = numpy.cos(angle), numpy.sin(angle)
        turned = square(0.2, 0.01) @ numpy.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
        shown = (see([camera], turned, SQUARE).faces >= 0).sum() * camera.pixel**2
        assert abs(shown / 0.16 - 1) < 0.05


def test_wrong_pictures_are_refused():
    from isocloth import _core
    depth, faces = numpy.ones((1, 4, 4), numpy.float32), numpy.zeros((1, 4, 4), numpy.int32)
    with pytest.raises(isocloth.ShapeError, match="triangles: found node 9"):
        _core.rasterise(square(1.0), numpy.array([[0, 1, 9]], numpy.int32), numpy.eye(4)[None], depth, faces, 0.0, 0)
    with pytest.raises(isocloth.ShapeError, match="faces"):
        _core.rasterise(square(1.0), SQUARE.astype(numpy.int32), numpy.eye(4)[None], depth, faces[:, :2].copy(), 0.0, 0)
