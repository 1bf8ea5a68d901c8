"""What the classes of :mod:`isocloth.scene` have in common."""

import dataclasses
import difflib
import json
import os
import sys

from . import _core
from .errors import SceneError


class Keys:
    """An object of a scene, key by key."""

    def to_dict(self):
        """Keys as in a scene file; what is ``None`` is left out."""
        return {_key(f): _plain(getattr(self, f.name)) for f in dataclasses.fields(self)
                if getattr(self, f.name) is not None}

    @classmethod
    def from_dict(cls, keys, path=""):
        """The other way. Raises :class:`isocloth.SceneError` for a key that is none or is missing."""
        if not isinstance(keys, dict):
            raise SceneError(f"{path or cls.__name__}: found {type(keys).__name__}, expected a dict")
        fields = {_key(f): f for f in dataclasses.fields(cls)}
        values = {}
        for key, value in keys.items():
            at = f"{path}.{key}" if path else key
            if isinstance(key, str) and key not in fields:  # older names are read
                key = _core.present_path(f"{path or cls.__name__.lower()}.{key}").rpartition(".")[2]
            if key not in fields:
                near = difflib.get_close_matches(str(key), fields, 1, 0)
                raise SceneError(f"{at}: unknown key, the nearest known one is {near[0] if near else '(none)'}")
            values[fields[key].name] = _object(value, fields[key].metadata.get("classes", ()), cls, at)
        for key, field in fields.items():
            if field.default is dataclasses.MISSING and field.name not in values:
                raise SceneError(f"{path + '.' if path else ''}{key}: missing")
        return cls(**values)

    @classmethod
    def load(cls, path):
        """Of a JSON file; files that it names stay relative to its folder."""
        with open(path, encoding="utf-8") as file:
            try:
                return cls.from_dict(json.load(file))
            except ValueError as error:
                raise SceneError(f"{os.fspath(path)}: {error}") from None

    def save(self, path):
        """As a JSON file."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.to_dict(), file, indent=2)
            file.write("\n")


def _key(field):
    return field.metadata.get("key", field.name)


def _plain(value):
    if isinstance(value, Keys):
        return value.to_dict()
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(member) for member in value]
    return value.tolist() if hasattr(value, "tolist") else value


def _object(value, names, cls, path):
    """A dict as the one of these classes that has its keys; lists member by member; the rest as it is."""
    if isinstance(value, list):
        return [_object(member, names, cls, f"{path}[{i}]") for i, member in enumerate(value)]
    if not isinstance(value, dict) or not names:
        return value
    classes = [getattr(sys.modules[cls.__module__], name) for name in names]
    return min(classes, key=lambda c: _misfit(c, value)).from_dict(value, path)


def _misfit(cls, keys):
    """Wrong constants first, then keys that are missing or unknown."""
    fields = {_key(f): f for f in dataclasses.fields(cls)}
    constant = [key for key, f in fields.items() if "Literal[" in str(f.type) and isinstance(f.default, str)]
    return (sum(keys.get(key) != fields[key].default for key in constant),
            sum(key not in fields for key in keys)
            + sum(f.default is dataclasses.MISSING and key not in keys for key, f in fields.items()))
