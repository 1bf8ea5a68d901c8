"""Tables of sweeps: columns of numpy, as Parquet or CSV, a file per batch in a folder."""

import collections.abc
import csv
import io
import json
import math
import os
import pathlib
import socket

import numpy

from ._hdf5 import linked_file, open_result
from .errors import FileError, ShapeError


class SweepTable(collections.abc.Mapping):
    """Columns of a sweep by name, a row per case in order: ``case``, what varies by path, ``status`` (``completed``;
    ``stalled``: a step missed its tolerance and ``on_violation`` is ``continue``; ``stopped``: one did where a run
    stops; ``failed``), ``message`` of failed cases, then the measures, NaN in
    failed cases. Numbers are float64 or int64, other values of keys text: themselves, or as JSON.

    ``folder``: where it lies, or None; ``batches_missing`` there; ``units``: of measures, by column; ``plan_digest``:
    SHA-256 of scene and plan.

    >>> table = SweepTable({"case": numpy.array([0, 1]), "strain_max": numpy.array([0.1, 0.2])})
    >>> len(table["case"]), table["strain_max"].max()
    (2, np.float64(0.2))
    """

    def __init__(self, columns, units=None, plan_digest="", folder=None):
        self.columns, self.units, self.plan_digest = dict(columns), units or {}, plan_digest
        self.folder = pathlib.Path(folder) if folder is not None else None
        self.batches_missing, self.format = 0, ""

    def __getitem__(self, name):
        return self.columns[name]

    def __iter__(self):
        return iter(self.columns)

    def __len__(self):
        return len(self.columns)

    @property
    def case_count(self):
        return len(self.columns["case"])

    def count(self, status):
        """Cases that ended so."""
        return int((self.columns["status"] == status).sum())

    def to_arrow(self):
        """As a ``pyarrow.Table``, with what is not there (measures of failed cases) as null."""
        arrow = _pyarrow()
        arrays = [arrow.array(v, mask=numpy.isnan(v)) if v.dtype.kind == "f" else arrow.array(v.tolist())
                  for v in self.columns.values()]
        metadata = {"isocloth.sweep": self.plan_digest, "isocloth.units": json.dumps(self.units)}
        return arrow.Table.from_arrays(arrays, list(self.columns)).replace_schema_metadata(metadata)

    def to_pandas(self):
        """As a ``pandas.DataFrame``."""
        import pandas

        return pandas.DataFrame(self.columns)

    def save(self, path):
        """As ``.parquet`` or ``.csv``, whole or not at all."""
        path = pathlib.Path(path)
        if path.suffix not in (".parquet", ".csv"):
            raise ShapeError(f"{path}: found {path.suffix!r}, expected a file .parquet or .csv")
        _write(path, self)

    def frames(self, case):
        """Times [s], shape (frames,), positions [m], shape (frames, nodes, 3), and faces of a case whose frames were
        kept."""
        if self.folder is None:
            raise FileError("sweep: found a table without folder, expected one that was made with frames=True")
        with open_result(self.folder / "frames.h5") as index:
            cases, groups, rows = index.read("case", "iu", 1), index.texts("group"), index.read("row", "iu", 1)
            if not len(cases) == len(groups) == len(rows):
                index.refuse("case, group, row", f"{len(cases)}, {len(groups)} and {len(rows)}", "as many of each")
            at = numpy.flatnonzero(cases == case)
            if not len(at):
                raise ShapeError(f"case: found {case}, expected one of the {len(cases)} that have frames")
            row, (path, group) = int(rows[at[0]]), linked_file(index, groups[at[0]], "frames")
        with open_result(path) as file:
            positions, origins = file.dataset(f"{group}/positions", "f", 4), file.read(f"{group}/origins", "f", 4)
            times, faces = file.read(f"{group}/times", "f", 1), file.read(f"{group}/faces", "iu", 2)
            if not 0 <= row < len(positions) == len(origins) or origins.shape[1:] != (1, 1, 3) or (
                    positions.shape[1], positions.shape[3]) != (len(times), 3):
                file.refuse(group, f"row {row} of {positions.shape} and {origins.shape}",
                            f"(cases, {len(times)}, nodes, 3) and (cases, 1, 1, 3)")
            return times, origins[row] + positions[row].astype(float), faces

    def __repr__(self):
        return (f"SweepTable({self.case_count} cases: {self.count('completed')} completed, {self.count('stalled')} "
                f"stalled, {self.count('failed')} failed; {', '.join(self.columns)})")


def batch_table(plan, batch, folder=None):
    """The rows of a batch as a table."""
    columns = {"case": numpy.array(batch.cases, dtype=numpy.int64)}
    named = [plan.named(case) for case in batch.cases]
    for name in plan.names:
        columns[name] = _column([values[name] for values in named], column_kind(plan, name))
    columns["status"] = numpy.array(batch.status, dtype=str)
    columns["message"] = numpy.array(batch.messages, dtype=str)
    numbers = numpy.array(batch.measures, dtype=float).reshape(len(batch.cases), len(plan.columns))
    for i, name in enumerate(plan.columns):
        columns[name] = numbers[:, i]
    return SweepTable(columns, units_of(plan), plan.digest, folder)


def units_of(plan):
    return {name: unit for name, unit, _ in plan.content["columns"] if unit}


def column_kind(plan, name):
    """Of all values of a key: int, float or str."""
    vary, at = plan.content["vary"], plan.names.index(name)
    values = (row[at] for row in vary) if isinstance(vary, list) else vary[plan.paths[at]]
    kinds = {type(value) for value in values}
    return int if kinds == {int} else float if kinds <= {int, float} else str


def _column(values, kind):
    if kind is str:
        return numpy.array([v if isinstance(v, str) else json.dumps(v) for v in values], dtype=str)
    return numpy.array(values, dtype=numpy.int64 if kind is int else float)


def batch_file(folder, plan, number):
    return pathlib.Path(folder, "table", f"batch-{number:07d}.{plan.content['format']}")


def write_batch(folder, plan, number, table):
    """Whole or not at all, and once the function returns it lasts. Returns the bytes."""
    return _write(batch_file(folder, plan, number), table, is_batch=True)


def is_whole(folder, plan, number):
    """Whether the file of a batch is there, complete and of this plan."""
    path = batch_file(folder, plan, number)
    try:
        if path.suffix == ".parquet":
            with open(path, "rb") as file:
                found = _parquet().ParquetFile(file)
                return (found.metadata.num_rows == len(plan.batches()[number])
                        and (found.schema_arrow.metadata or {}).get(b"isocloth.sweep") == plan.digest.encode())
        rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
        return rows[0] == ["# isocloth.sweep", plan.digest] and rows[-1] == ["# end", str(len(rows) - 3)]
    except FileNotFoundError:
        return False
    except Exception as error:  # a part of a file, whatever its reader makes of it
        if isinstance(error, (PermissionError, ImportError)):
            raise
        return False


def read_table(folder, plan, numbers):
    """The rows of some batches, in the order of their cases."""
    return join_tables(plan, [_read(batch_file(folder, plan, number), plan) for number in numbers], folder)


def join_tables(plan, parts, folder):
    """Rows of batches as one table, in the order of their cases."""
    if not parts:
        return batch_table(plan, _Nothing(), folder)
    order = numpy.argsort(numpy.concatenate([part["case"] for part in parts]), kind="stable")
    columns = {name: numpy.concatenate([part[name] for part in parts])[order] for name in parts[0]}
    return SweepTable(columns, units_of(plan), plan.digest, folder)


class _Nothing:
    cases = status = messages = measures = ()


def _read(path, plan):
    kinds = {"case": int, "status": str, "message": str} | {name: column_kind(plan, name) for name in plan.names}
    if path.suffix == ".parquet":
        table = _parquet().ParquetFile(path).read()
        return {name: _filled(table[name].to_pylist(), kinds.get(name, float)) for name in table.column_names}
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    names, rows = rows[1], rows[2:-1]
    return {name: _filled([_of_text(row[i], kinds.get(name, float)) for row in rows], kinds.get(name, float))
            for i, name in enumerate(names)}


def _of_text(word, kind):
    return None if kind is float and word == "" else kind(word)


def _filled(values, kind):
    return _column([math.nan if v is None else v for v in values], kind)


def _write(path, table, is_batch=False):
    if path.suffix == ".parquet":
        arrow = _pyarrow()
        sink = arrow.BufferOutputStream()
        # Statistics and dictionaries are larger than such files; the bytes depend on nothing but the table.
        _parquet().write_table(table.to_arrow(), sink, compression="zstd", use_dictionary=["status"],
                               write_statistics=False)
        content = sink.getvalue().to_pybytes()
    else:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if is_batch:
            writer.writerow(["# isocloth.sweep", table.plan_digest])
        writer.writerow(table.columns)
        columns = [["" if v != v else repr(v) if isinstance(v, float) else v for v in column.tolist()]
                   for column in table.columns.values()]
        rows = list(zip(*columns))
        writer.writerows(rows)
        if is_batch:
            writer.writerow(["# end", len(rows)])
        content = text.getvalue().encode()
    replace(path, content)
    return len(content)


def replace(path, content):
    """Puts bytes into a file, whole or not at all, at once for every reader. Raises FileError."""
    part = part_of(path)
    try:
        with open(part, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise FileError(f"{path}: {error.strerror}; make the folder writable, or choose another") from None


def part_of(path):
    """What it is called while it is written: readers of a folder pass over names that begin with a dot."""
    return path.with_name(f".{path.name}.{socket.gethostname()}.{os.getpid()}.part")


def _pyarrow():
    try:
        import pyarrow
    except ImportError:
        raise ImportError("sweep: found no pyarrow, which writes Parquet; pip install isocloth[sweep], or say "
                          "format=\"csv\"") from None
    return pyarrow


def _parquet():
    _pyarrow()
    import pyarrow.parquet

    return pyarrow.parquet
