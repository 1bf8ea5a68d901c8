"""RGBench's protocol on a capture that is made here, in the format of its files."""

import csv
import importlib
import json
import pathlib
import sys

import isocloth
import numpy
import pytest

pytest.importorskip("scipy")
yaml = pytest.importorskip("yaml")
FOLDER = pathlib.Path(__file__).parents[2] / "bench" / "rgbench"
BEGIN = 1_752_900_000.25  # stamp of the first pose [s]


@pytest.fixture
def bench(monkeypatch):
    """Its modules by their names."""
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield {name: importlib.import_module(name) for name in ("environment", "point_clouds", "run")}
    for name in ("environment", "point_clouds", "run"):
        del sys.modules[name]


def grid(count=7, size=0.24):
    """A towel in the plane z = 0: positions, triangles from 0."""
    at = numpy.linspace(-size / 2, size / 2, count)
    nodes = numpy.array([[x, y, 0.0] for y in at for x in at])
    corners = [j * count + i for j in range(count - 1) for i in range(count - 1)]
    halves = ((0, 1, count + 1), (0, count + 1, count))
    return nodes, numpy.array([[corner + k for k in half] for corner in corners for half in halves])


CAMERA = numpy.array([[0.0, -1, 0, 0.1], [-0.6, 0, -0.8, 0.2], [0.8, 0, -0.6, 0.9], [0, 0, 0, 1]])  # world to camera


def hand(side, t):
    """Place of a hand in the frame of its base at t [s]: down at 0.1 s, then up and forward."""
    lift = numpy.clip((t - 0.3) / 0.5, 0, 1)
    y = {"left": 0.12, "right": -0.12}[side]
    return numpy.array([-0.02 + 0.1 * lift, y - {"left": 0.25, "right": -0.25}[side], 0.011 + 0.12 * lift])


def write_pcd(file, points, kind="binary"):
    header = (f"# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS x y z rgb\nSIZE 4 4 4 4\nTYPE F F F F\n"
              f"COUNT 1 1 1 1\nWIDTH {len(points)}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\n"
              f"POINTS {len(points)}\nDATA {kind}\n")
    table = numpy.column_stack([points, numpy.zeros(len(points))]).astype("<f4")
    if kind == "ascii":
        body = "".join(" ".join(map(repr, map(float, row))) + "\n" for row in table).encode()
    elif kind == "binary":
        body = table.tobytes()
    else:
        plain = table.T.tobytes()
        packed = b"".join(bytes([len(plain[i:i + 32]) - 1]) + plain[i:i + 32] for i in range(0, len(plain), 32))
        body = numpy.array([len(packed), len(plain)], "<u4").tobytes() + packed
    file.write_bytes(header.encode() + body)


@pytest.fixture
def data(tmp_path, bench):
    """Captures of a grasp and a fling whose clouds are what isocloth itself gives, 3 mm higher; and the configs."""
    nodes, faces = grid()
    (tmp_path / "data" / "meshes" / "Towel").mkdir(parents=True)
    isocloth.save_mesh(tmp_path / "data" / "meshes" / "Towel" / "towel.obj", nodes, faces)
    (tmp_path / "configs" / "cloth_params").mkdir(parents=True)
    params = {"name": "towel", "cloth_model_file_name": "Towel/towel.obj", "density": 220, "friction": 0.6,
              "kinetic_friction": 0.6, "ground_friction": 0.266, "ground_kinetic_friction": 0.025,
              "shoulder_index": [45, 3]}
    (tmp_path / "configs" / "cloth_params" / "towel.yaml").write_text(yaml.safe_dump(params))
    window = {"start_record_time": 0.0, "end_record_time": 0.8, "start_calculate_time": 0.2, "end_calculate_time": 0.7}
    entries = {kind: {"piper": {"01": {"camera_delay": 0.06, "data_subfolder": f"towel/towel_{kind}_1",
                                       "evaluate": window}}} for kind in ("grasp", "fling")}
    (tmp_path / "configs" / "experiment_library.yaml").write_text(yaml.safe_dump({"experiments": {"towel": entries}}))
    for kind in entries:
        root = tmp_path / "data" / f"towel/towel_{kind}_1"
        for name in ("calibration", "joints", "segment_pcds"):
            (root / name).mkdir(parents=True)
        (root / "calibration" / "world_to_camera_transform.json").write_text(json.dumps(CAMERA.tolist()))
        for side in ("left", "right"):
            with open(root / "joints" / f"{side}_arm_joint_states_and_end_pose.csv", "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["time", *(f"pos_{i}" for i in range(1, 7)), "pos_gripper", "pos_x", "pos_y", "pos_z",
                                 "orn_w", "orn_x", "orn_y", "orn_z"])
                for t in numpy.arange(0, 1.0, 0.02):
                    writer.writerow([repr(float(BEGIN + t)), *[0.0] * 7, *map(float, hand(side, t)), 1, 0, 0, 0])
        entry = entries[kind]["piper"]["01"]
        cfg = bench["run"].active_run(tmp_path / "data", params, kind, entry)
        env = bench["environment"].IsoclothEnv(cfg, threads=1)
        prepare = 10.0 if kind == "fling" else 0.0
        for number, t in enumerate(numpy.arange(0.012, 0.7, 0.1)):
            env.step_to_time(t + 0.06 + prepare)
            points = env.get_sim_vertices() + [0, 0, 0.003]
            points = points @ CAMERA[:3, :3].T + CAMERA[:3, 3]
            write_pcd(root / "segment_pcds" / f"pointcloud_{float(BEGIN + t)!r}_segmented.pcd", points,
                      ("binary", "ascii", "binary_compressed")[number % 3])
    return tmp_path


def test_a_capture_of_its_own_is_as_far_as_it_was_moved(data, bench, capsys):
    """3 mm up: Chamfer, Hausdorff and height are 3 mm, by L1 and L2, on both ways."""
    (data / "paper.csv").write_text("garment,action,simulator,mode,n_samples,cd_l1_s2r,cd_l2_s2r,cd_l1_r2s\n"
                                    "towel,grasp,pybullet,fixed_point,3,0.05,0.04,0.0402\n"
                                    "towel,grasp,pybullet,robot,3,0.05,0.04,0.9\n")
    code = bench["run"].main([str(data / "data"), "--configs", str(data / "configs"), "-o", str(data / "out"),
                              "--threads", "1", "--baselines", str(data / "paper.csv")])
    said = capsys.readouterr()
    assert code == 0, said.err
    assert "towel/grasp/01: 3.0 mm real to sim, 3.0 mm sim to real, 0 steps missed" in said.out
    assert "towel              grasp          1       3.0      40.2" in said.out
    for kind in ("grasp", "fling"):
        file = data / "out" / "towel" / kind / "isocloth/fixed_point/piper/sample_01/run/metrics.csv"
        rows = list(csv.DictReader(file.open()))
        mean, spread = rows[-2], rows[-1]
        assert mean["sim_time"] == "" and len(rows) == 9
        for name in ("chamfer_l1_sim_to_real", "chamfer_l1_real_to_sim", "chamfer_l2_sim_to_real", "z_mean_error",
                     "one_sided_hausdorff_sim_to_real", "one_sided_hausdorff_real_to_sim"):
            assert float(mean[name]) == pytest.approx(0.003, abs=2e-5), (kind, name)
            assert float(spread[name]) < 2e-5
        assert float(rows[0]["sim_time"]) == pytest.approx(0.075, abs=1e-9)
        assert float(rows[0]["target_time"]) == pytest.approx(0.012, abs=1e-6)


def test_held_vertices_follow_the_hands(data, bench):
    params = yaml.safe_load((data / "configs" / "cloth_params" / "towel.yaml").read_text())
    entry = yaml.safe_load((data / "configs" / "experiment_library.yaml").read_text())["experiments"]["towel"]["grasp"][
        "piper"]["01"]
    cfg = bench["run"].active_run(data / "data", params, "grasp", entry)
    env = bench["environment"].IsoclothEnv(cfg, threads=1)
    assert env.get_master_start_time() == BEGIN
    pins = {pin["name"]: pin["select"]["nodes"][0] for pin in env.scene["garments"][0]["pins"]}
    start = grid()[0] + [0.1, 0, 0.01]
    assert pins == {"left": 42, "right": 0}  # the corners at x = -0.02, y = +-0.12
    env.step_to_time(0.15)
    numpy.testing.assert_allclose(env.get_sim_vertices()[[42, 0]], start[[42, 0]], atol=1e-9)
    env.step_to_time(0.6)
    now = env.get_current_sim_time()
    for side, base in (("left", 0.25), ("right", -0.25)):
        place = hand(side, now) + [0, base, 0]
        numpy.testing.assert_allclose(env.get_sim_vertices()[pins[side]], place, atol=1e-3)
    fabric = env.scene["garments"][0]["fabric"]
    assert fabric["density"] == 0.22 and env.scene["obstacles"][0]["friction"] == {"static": 0.266, "dynamic": 0.025}


def test_costs_are_those_of_their_definitions(bench):
    draw = numpy.random.default_rng(5)
    a, b = (draw.normal(size=(n, 3)).astype(numpy.float32) for n in (40, 55))
    found = bench["run"].cost(a, b)
    difference = numpy.abs(a[:, None].astype(float) - b[None].astype(float))
    l1, l2 = difference.sum(axis=2), numpy.sqrt((difference**2).sum(axis=2))
    expected = {"chamfer_l1_sim_to_real": l1.min(axis=1).mean(), "chamfer_l1_real_to_sim": l1.min(axis=0).mean(),
                "chamfer_l2_sim_to_real": l2.min(axis=1).mean(),
                "one_sided_hausdorff_sim_to_real": l2.min(axis=1).max(),
                "one_sided_hausdorff_real_to_sim": l2.min(axis=0).max(),
                "sim_stability_score": sum(numpy.linalg.norm((a[i - 1] + a[i] + a[i + 1]) / 3 - a[i])
                                           for i in range(1, 39)) / 40,
                "z_mean_error": abs(a[:, 2].mean() - b[:, 2].mean())}
    assert found == pytest.approx(expected, rel=1e-5)


def test_packed_clouds_are_unpacked(bench, tmp_path):
    unpacked = bench["point_clouds"]._unpacked
    assert unpacked(bytes([2]) + b"abc" + bytes([0x20, 2]), 6) == b"abcabc"  # three bytes, from three before
    assert unpacked(bytes([0]) + b"x" + bytes([0xE0, 1, 0]), 11) == b"x" * 11  # ten, of which nine are new
    points = numpy.array([[1.0, 2, 3], [numpy.nan, 0, 0], [4, 5, 6]])
    for kind in ("ascii", "binary", "binary_compressed"):
        write_pcd(tmp_path / "a.pcd", points, kind)
        numpy.testing.assert_array_equal(bench["point_clouds"].read_pcd(tmp_path / "a.pcd"), points[[0, 2]])


@pytest.mark.parametrize("file, content, message", [
    ("joints/left_arm_joint_states_and_end_pose.csv", "time,pos_x\n1,2\n", "found no column pos_y"),
    ("calibration/world_to_camera_transform.json", "[[1, 0], [0, 1]]", "found the shape (2, 2), expected (4, 4)"),
    ("calibration/world_to_camera_transform.json", "", "expected a matrix of 4 x 4"),
    ("segment_pcds/pointcloud_x_segmented.pcd", "", "found no time in the name"),
    (f"segment_pcds/pointcloud_{BEGIN + 0.2!r}_segmented.pcd", "VERSION 0.7\nDATA binary\n", "found a header without"),
    (f"segment_pcds/pointcloud_{BEGIN + 0.2!r}_segmented.pcd", "nothing", "found no line DATA")])
def test_what_is_wrong_with_a_capture_is_said(data, bench, capsys, file, content, message):
    (data / "data" / "towel" / "towel_grasp_1" / file).write_text(content)
    code = bench["run"].main([str(data / "data"), "--configs", str(data / "configs"), "--action", "grasp", "-o",
                              str(data / "out")])
    said = capsys.readouterr()
    assert code == 2 and message in said.err and f"towel_grasp_1/{file}" in said.err
