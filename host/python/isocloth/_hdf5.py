"""The HDF5 files of results, as a stranger may have made them.

All that the package reads by h5py it reads here: datasets of numbers and short texts that lie in the file itself. Links
to other files, external storage and virtual datasets are refused before anything is opened by them, and sizes are
checked before anything is read.
"""

import contextlib
import math
import os
import pathlib

from ._import import MOST_BYTES, require_file
from ._library import library
from .errors import Error, FileError

_MOST_PACKED = 1032  # bytes that a byte of deflate can stand for
_KINDS = {"f": "numbers", "i": "integers", "u": "integers", "S": "texts of a fixed length"}


class ResultFile:
    """A file that is open for reading."""

    def __init__(self, path, root):
        self.path, self._root = path, root

    def refuse(self, name, found, expected):
        """Raises FileError."""
        raise FileError(f"{self.path}: {name}: found {found}, expected {expected}")

    def link(self, name):
        """The link of a path from group to group, none of which may lead out of the file; None: there is none."""
        h5py = library("h5py", "h5py")
        group, link = self._root, None
        parts = name.split("/")
        for number, part in enumerate(parts):
            link = group.get(part, getlink=True)
            if number == len(parts) - 1 or link is None:
                break
            self._require_hard(name, link)
            group = group[part]
            if not isinstance(group, h5py.Group):
                self.refuse(name, "no group", "a group")
        return link

    def _require_hard(self, name, link):
        h5py = library("h5py", "h5py")
        if not isinstance(link, h5py.HardLink):
            self.refuse(name, f"a {type(link).__name__}", "what lies in the file itself")

    def has(self, name):
        """Whether there is something of a name."""
        return self.link(name) is not None

    def names(self, name):
        """Of what a group has."""
        h5py = library("h5py", "h5py")
        group = self._at(name)
        if not isinstance(group, h5py.Group):
            self.refuse(name, "no group", "a group")
        return list(group)

    def _at(self, name):
        if name in ("", "/"):
            return self._root
        link = self.link(name)
        if link is None:
            self.refuse(name, "nothing", "a dataset or group")
        self._require_hard(name, link)
        return self._root[name]

    def dataset(self, name, kinds, dimensions):
        """A dataset of some kinds of numpy's, as "iu", and so many dimensions, that can be read."""
        h5py = library("h5py", "h5py")
        found = self._at(name)
        if not isinstance(found, h5py.Dataset):
            self.refuse(name, "no dataset", "a dataset")
        layout = found.id.get_create_plist().get_layout()
        if found.external or found.is_virtual or layout not in (h5py.h5d.COMPACT, h5py.h5d.CONTIGUOUS,
                                                                h5py.h5d.CHUNKED):
            self.refuse(name, "a dataset whose values lie in other files", "values in the file itself")
        if found.dtype.kind not in kinds or found.dtype.hasobject or found.dtype.subdtype is not None:
            self.refuse(name, f"the type {str(found.dtype)[:60]}", " or ".join(dict.fromkeys(_KINDS[k] for k in kinds)))
        if found.shape is None or len(found.shape) != dimensions:
            self.refuse(name, f"the shape {found.shape}", f"{dimensions} dimensions")
        filters = found.id.get_create_plist()
        for number in range(filters.get_nfilters()):
            if filters.get_filter(number)[0] not in (h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE,
                                                     h5py.h5z.FILTER_FLETCHER32):
                self.refuse(name, f"the filter {filters.get_filter(number)[0]}", "deflate, shuffle or checksums")
        size = math.prod(found.shape) * found.dtype.itemsize
        chunk = math.prod(found.chunks or (1,)) * found.dtype.itemsize
        if max(size, chunk) > MOST_BYTES:
            self.refuse(name, f"the shape {found.shape}, {max(size, chunk)} bytes", f"at most {MOST_BYTES} bytes")
        stored = found.id.get_storage_size()
        if size > stored * _MOST_PACKED or stored > self.path.stat().st_size:
            self.refuse(name, f"{stored} bytes for the shape {found.shape}", "as many as that needs")
        return found

    def read(self, name, kinds, dimensions):
        """Its values as an array."""
        return self.dataset(name, kinds, dimensions)[()]

    def texts(self, name):
        """A list of texts."""
        try:
            return [text.decode("utf-8") for text in self.read(name, "S", 1)]
        except UnicodeDecodeError:
            self.refuse(name, "bytes that are no text", "UTF-8")


@contextlib.contextmanager
def open_result(path):
    """A :class:`ResultFile`. What goes wrong while it is open is a FileError."""
    h5py = library("h5py", "h5py")
    path = pathlib.Path(path)
    require_file(path, "a file of results")
    try:
        with h5py.File(path, "r") as root:
            yield ResultFile(path, root)
    except Error:
        raise
    except (OSError, RuntimeError, ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
        raise FileError(f"{path}: found no HDF5 file that can be read: {' '.join(str(error).split())[:200]}") from None


def linked_file(file, name, folder):
    """The path of the file and the name in it that an external link says, as those of ``frames.h5``: one that lies in
    the folder beside it with this name."""
    h5py = library("h5py", "h5py")
    link = file.link(name)
    if not isinstance(link, h5py.ExternalLink):
        file.refuse(name, "nothing" if link is None else f"a {type(link).__name__}", "a link to a file of frames")
    inside = file.path.parent / folder
    path = file.path.parent / link.filename
    if path.parent != inside or os.path.dirname(os.path.realpath(path)) != os.path.realpath(inside):
        file.refuse(name, f"a link to {link.filename[:200]!r}", f"a file in {inside}")
    return path, link.path.strip("/")
