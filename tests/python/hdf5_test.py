"""Files of results as a stranger may have made them: what is read of them lies in them."""

import contextlib
import os
import shutil
import threading

import isocloth
import numpy
import pytest

h5py = pytest.importorskip("h5py")

from isocloth._export import obstacle_surfaces  # noqa: E402
from isocloth._hdf5 import open_result  # noqa: E402
from isocloth._sweep_folder import write_index  # noqa: E402

SECRET = b"root:x:0:0:a secret of somebody else\n" * 40


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(SECRET)
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A result with an obstacle that moves, and the folder of a sweep with frames."""
    folder = tmp_path_factory.mktemp("made")
    motion = {"type": "keyframes", "times": [0, 1], "translations": [[0, 0, 0], [1, 0, 0]]}
    scene = {"step": 0.01, "duration": 0.1, "frame_interval": 0.05, "garments": [
        {"mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [0.2, 0.2]},
         "pins": [{"select": {"nodes": [0, 2]}}]}],
        "obstacles": [{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "position": [0, 0, -1],
                       "motion": motion}]}
    isocloth.run(scene, folder / "result", quiet=True)
    isocloth.sweep(scene, {"fabric.mass_damping": [1.0, 2.0]}, folder / "sweep", frames=True, quiet=True, format="csv")
    return folder


@pytest.fixture
def result(made, tmp_path):
    shutil.copytree(made / "result", tmp_path / "result")
    return isocloth.Result(tmp_path / "result")


@pytest.fixture
def table(made, tmp_path):
    shutil.copytree(made / "sweep", tmp_path / "sweep")
    return isocloth.read_sweep(tmp_path / "sweep")


@contextlib.contextmanager
def edited(path):
    """Another file in the place of one that is perhaps open."""
    part = path.with_suffix(".part")
    shutil.copy(path, part)
    with h5py.File(part, "r+") as file:
        yield file
    os.replace(part, path)


def external(group, name, shape, dtype, secret):
    """A dataset whose bytes are those of another file."""
    size = int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize
    group.create_dataset(name, shape=shape, dtype=dtype, external=[(str(secret), 0, size)])


def virtual(group, name, shape, dtype, secret):
    other = secret.with_suffix(".h5")
    with h5py.File(other, "w") as file:
        file["data"] = numpy.frombuffer((SECRET * 100)[:int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize], dtype
                                        ).reshape(shape)
    layout = h5py.VirtualLayout(shape=shape, dtype=dtype)
    layout[...] = h5py.VirtualSource(str(other), "data", shape=shape)
    group.create_virtual_dataset(name, layout)


def linked(group, name, shape, dtype, secret):
    virtual(group, "aside", shape, dtype, secret)
    group[name] = h5py.ExternalLink(str(secret.with_suffix(".h5")), "data")


def soft(group, name, shape, dtype, _secret):
    group["aside"] = numpy.zeros(shape, dtype)
    group[name] = h5py.SoftLink(f"{group.name}/aside")


def absurd(group, name, shape, dtype, _secret):
    group.create_dataset(name, shape=(10**9, *shape[1:]), dtype=dtype, chunks=(1000, *shape[1:]), fillvalue=None)


def packed(group, name, shape, dtype, _secret):
    """3 GB of nothing, in some MB at most; of the same number of dimensions."""
    group.create_dataset(name, shape=(3 * 10**9, *[1] * (len(shape) - 1)), dtype="u1" if dtype != "S4" else "S1",
                         chunks=(10**8, *[1] * (len(shape) - 1)), compression="gzip")


def of_objects(group, name, shape, _dtype, _secret):
    group.create_dataset(name, shape=shape, dtype=h5py.string_dtype())


def of_records(group, name, shape, _dtype, _secret):
    group.create_dataset(name, shape=shape, dtype=[("a", "f4")])


def scaled(group, name, shape, dtype, _secret):
    """A filter that the engine does not write."""
    group.create_dataset(name, data=numpy.zeros(shape, dtype), chunks=tuple(max(n, 1) for n in shape),
                         compression="lzf")


def a_group(group, name, _shape, _dtype, _secret):
    group.create_group(name)


def other_shape(group, name, shape, dtype, _secret):
    group[name] = numpy.zeros((1, *shape), dtype)


HOSTILE = [external, virtual, linked, soft, absurd, packed, of_objects, of_records, scaled, a_group, other_shape]


@pytest.mark.parametrize("spoil", HOSTILE)
@pytest.mark.parametrize("name", ["obstacles/name", "obstacles/poses", "obstacles/0/vertices", "obstacles/0/triangles"])
def test_obstacles_of_a_result_lie_in_it(result, secret, spoil, name):
    assert [surface.name for surface in obstacle_surfaces(result)] == ["ball"]
    with edited(result.folder / "trajectory.h5") as file:
        old = file[name]
        shape, dtype = old.shape, old.dtype
        group = old.parent
        del file[name]
        spoil(group, name.split("/")[-1], shape, dtype, secret)
    with pytest.raises(isocloth.FileError, match="trajectory.h5: .*expected") as raised:
        obstacle_surfaces(result)
    assert "root:" not in str(raised.value)
    assert secret.read_bytes() == SECRET


@pytest.mark.parametrize("name, values, text", [
    ("obstacles/0/triangles", [[0, 1, 10**6]], "numbers from 0 to"),
    ("obstacles/0/triangles", [[0, 1, -1]], "numbers from"), ("obstacles/0/triangles", [[0, 1]], "numbers from 0 to"),
    ("obstacles/0/vertices", [[0.0, 0.0]], "finite numbers"),
    ("obstacles/0/vertices", [[numpy.nan] * 3], "finite numbers"),
    ("obstacles/poses", numpy.zeros((1, 1, 1, 7)), "or more"),
    ("obstacles/poses", numpy.zeros((3, 0, 1, 7)), "or more"),
    ("obstacles/poses", numpy.zeros((3, 1, 2, 7)), "or more"),
    ("obstacles/poses", numpy.full((3, 1, 1, 7), numpy.inf), "finite"), ("obstacles/name", numpy.array([b"\xff\xfe"]),
                                                                         "UTF-8")])
def test_obstacles_are_what_can_be_drawn(result, name, values, text):
    with edited(result.folder / "trajectory.h5") as file:
        del file[name]
        file[name] = values
    with pytest.raises(isocloth.FileError, match=f"{name}: found .*{text}"):
        obstacle_surfaces(result)


def test_groups_do_not_lead_out(result, secret, tmp_path):
    path = result.folder / "trajectory.h5"
    shutil.copy(path, tmp_path / "other.h5")
    with edited(path) as file:
        del file["obstacles"]
        file["obstacles"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "obstacles")
    with pytest.raises(isocloth.FileError, match="found a ExternalLink, expected what lies in the file itself"):
        obstacle_surfaces(result)
    with edited(path) as file:
        del file["obstacles"]
        file.create_group("obstacles")["name"] = h5py.ExternalLink(str(secret), "x")
    with pytest.raises(isocloth.FileError, match="obstacles/name: found a ExternalLink"):
        obstacle_surfaces(result)


def test_frames_of_a_sweep_are_read(table):
    times, positions, faces = table.frames(1)
    assert times.shape == (3,) and positions.shape == (3, 9, 3) and faces.shape == (4, 4)


@pytest.mark.parametrize("spoil", HOSTILE)
@pytest.mark.parametrize("name", ["case", "group", "row"])
def test_the_index_of_frames_lies_in_its_file(table, secret, spoil, name):
    with edited(table.folder / "frames.h5") as file:
        shape, dtype = file[name].shape, file[name].dtype
        del file[name]
        spoil(file, name, shape, dtype, secret)
    with pytest.raises(isocloth.FileError, match="frames.h5: .*expected"):
        table.frames(1)


@pytest.mark.parametrize("spoil", HOSTILE)
@pytest.mark.parametrize("name", ["times", "positions", "origins", "faces"])
def test_frames_lie_in_their_file(table, secret, spoil, name):
    [path] = (table.folder / "frames").glob("*.h5")
    with edited(path) as file:
        group = file["0"]
        shape, dtype = group[name].shape, group[name].dtype
        del group[name]
        spoil(group, name, shape, dtype, secret)
    with pytest.raises(isocloth.FileError, match=f"{path.name}: .*expected"):
        table.frames(1)


@pytest.mark.parametrize("target", ["../result/trajectory.h5", "/etc/passwd", "frames/../../secret.h5",
                                    "frames/none.h5", "frames/link.h5", "frames/pipe.h5", "frames", "frames.h5", "",
                                    "frames/sub/x.h5"])
def test_the_index_leads_to_the_frames_beside_it(table, made, tmp_path, target):
    shutil.copy(made / "result" / "trajectory.h5", tmp_path / "secret.h5")
    os.symlink(tmp_path / "secret.h5", table.folder / "frames" / "link.h5")
    os.mkfifo(table.folder / "frames" / "pipe.h5")
    with edited(table.folder / "frames.h5") as file:
        name = file["group"][1].decode()
        del file[name]
        file[name] = h5py.ExternalLink(target or ".", "0")
    failed = []

    def read():
        try:
            table.frames(1)
        except isocloth.FileError as error:
            failed.append(str(error))

    thread = threading.Thread(target=read, daemon=True)  # a pipe that is opened waits for ever
    thread.start()
    thread.join(20)
    assert len(failed) == 1 and "expected" in failed[0] or "cannot read" in failed[0], failed


def test_a_row_is_one_of_its_file(table):
    with edited(table.folder / "frames.h5") as file:
        file["row"][...] = [0, 7]
    with pytest.raises(isocloth.FileError, match="row 7"):
        table.frames(1)


@pytest.mark.parametrize("spoil", HOSTILE)
def test_an_index_is_made_of_what_lies_in_frames(table, secret, spoil):
    [path] = (table.folder / "frames").glob("*.h5")
    with edited(path) as file:
        del file["0/cases"]
        spoil(file["0"], "cases", (2,), "i8", secret)
    with pytest.raises(isocloth.FileError, match=f"{path.name}: .*expected"):
        write_index(table.folder, None)


@pytest.mark.parametrize("content", [b"", b"\x89HDF\r\n\x1a\n", b"\x89HDF\r\n\x1a\n" + bytes(5000), b"x" * 100_000])
def test_what_is_no_file_of_results_is_refused(tmp_path, content):
    path = tmp_path / "x.h5"
    path.write_bytes(content)
    with pytest.raises(isocloth.FileError, match="x.h5: found no HDF5 file"), open_result(path):
        pass
    with pytest.raises(isocloth.FileError, match="regular"), open_result(tmp_path):
        pass


def test_damaged_files_are_refused_or_read(result):
    """A byte in each of many places is another."""
    path = result.folder / "trajectory.h5"
    whole = path.read_bytes()
    random, outcomes = numpy.random.default_rng(1), {"read": 0, "refused": 0}
    for _ in range(300):
        damaged = bytearray(whole)
        for at in random.integers(0, len(whole), random.integers(1, 8)):
            damaged[at] = random.integers(0, 256)
        part = path.with_suffix(".part")
        part.write_bytes(damaged[:random.integers(0, len(whole))] if random.random() < 0.1 else damaged)
        os.replace(part, path)
        try:
            obstacle_surfaces(result)
            outcomes["read"] += 1
        except isocloth.FileError:
            outcomes["refused"] += 1
    assert outcomes["refused"] > 20 and outcomes["read"] > 20
