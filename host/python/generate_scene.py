"""Writes isocloth/scene.py: a dataclass for every object of the schema of scenes.

usage: generate_scene.py OUTPUT, with the folder of the compiled module on PYTHONPATH
"""

import json
import keyword
import sys
import textwrap

import _core

HEADER = '''\
"""Scenes as dataclasses, generated from the schema of scene files: every key with type, unit, range and default.

What is ``None`` is not said, and the engine takes its default. ``Scene.from_dict`` and ``to_dict`` are the way from
and to the keys of a scene file, ``Scene.load`` and ``save`` to the file itself.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass, field

from ._keys import Keys

'''


def camel(name):
    return "".join(part[:1].upper() + part[1:] for part in name.replace("-", "_").split("_"))


def singular(name):
    irregular = {"bodies": "body"}
    return irregular.get(name, name[:-1] if name.endswith("s") and not name.endswith("ss") else name)


class Classes:
    """Python source of classes by their names; equal objects share one."""

    def __init__(self):
        self.known = {}
        self.sources = {}
        self.around = []  # keys of the objects that the one under way is in, from the scene's entries inwards

    def name_of(self, schema, wanted, parent):
        text = json.dumps(schema, sort_keys=True)
        if text in self.known:
            return self.known[text]
        name = parent + wanted if wanted in self.sources or self.is_of_another(wanted) else wanted
        assert name not in self.sources, name
        self.known[text] = name
        self.sources[name] = None  # its place, before those that it is made of take one
        self.sources[name] = self.source(name, schema)
        return name

    def is_of_another(self, wanted):
        """Whether an object around has one of this name, which is to have it: the fabric of a garment, of a panel."""
        return any(wanted in {camel(key) for key in keys} for keys in self.around[:-1])

    def annotation(self, schema, key, parent):
        """Type of a value, and the classes that it may be made of."""
        if "oneOf" in schema:
            parts = [self.annotation(variant, key, parent) for variant in schema["oneOf"]]
            types = list(dict.fromkeys(part for part, _ in parts))
            return (f"typing.Union[{', '.join(types)}]" if len(types) > 1 else types[0],
                    [name for _, names in parts for name in names])
        if "const" in schema:
            return f"typing.Literal[{schema['const']!r}]", []
        if "enum" in schema:
            return f"typing.Literal[{', '.join(map(repr, schema['enum']))}]", []
        kind = schema.get("type")
        if kind == "array":
            inner, names = self.annotation(schema.get("items", {}), singular(key), parent)
            return f"typing.Sequence[{inner}]", names
        if kind == "object" and schema.get("properties"):
            constants = [value["const"] for value in schema["properties"].values() if "const" in value]
            wanted = camel(constants[0] if constants else key)
            required = schema.get("required", [])
            if not constants and wanted in self.sources and required:
                wanted += camel(required[0])
            name = self.name_of(schema, wanted, parent)
            return name, [name]
        plain = {"number": "float", "integer": "int", "boolean": "bool", "string": "str", "object": "dict"}
        return plain.get(kind, "typing.Any"), []

    def source(self, name, schema):
        required = schema.get("required", [])
        lines, documented = [], []
        properties = schema["properties"]
        if name != "Scene":
            self.around.append(properties)
        for key in sorted(properties, key=lambda key: key not in required):
            value = properties[key]
            attribute = key.lstrip("$") + ("_" if keyword.iskeyword(key) else "")
            attribute = attribute if attribute.isidentifier() else "_" + attribute  # 2HG of a KES sheet
            annotation, names = self.annotation(value, key, name)
            metadata = {}
            if attribute != key:
                metadata["key"] = key
            if names:
                metadata["classes"] = names
            default = repr(value["const"]) if "const" in value else None if key in required else "None"
            if default == "None":
                annotation = f"typing.Optional[{annotation}]"
            arguments = ([] if default is None else [f"default={default}"]) + (
                [f"metadata={metadata!r}"] if metadata else [])
            line = f"    {attribute}: {annotation}" + (f" = field({', '.join(arguments)})" if arguments else "")
            lines.append(line)
            documented.append(textwrap.fill(f"{attribute}: {described(value)}", 112, initial_indent="    ",
                                            subsequent_indent="        "))
        if name != "Scene":
            self.around.pop()
        text = textwrap.fill(schema.get("description", f"The keys of a {name}").strip(".") + ".", 112,
                             initial_indent="    ", subsequent_indent="    ").strip()
        body = "\n".join(documented)
        return (f'@dataclass(kw_only=True)\nclass {name}(Keys):\n    """{text}\n\n{body}\n    """\n\n'
                + "\n".join(lines) + "\n")


def described(schema):
    parts = [schema.get("description", "").replace("\\", "\\\\")]
    limits = [f"{sign} {schema[key]:g}" for key, sign in
              (("minimum", ">="), ("exclusiveMinimum", ">"), ("maximum", "<=")) if key in schema]
    if limits:
        parts.append(", ".join(limits))
    if "default" in schema and "default" not in parts[0]:
        parts.append(f"default {schema['default']!r}")
    return "; ".join(part for part in parts if part) or "as it says"


def main():
    classes = Classes()
    schema = json.loads(_core.schema())
    schema["description"] = "A scene: cloths, what they meet, and how long"
    classes.name_of(schema, "Scene", "")
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(HEADER + f"__all__ = {sorted(classes.sources)!r}\n\n\n" + "\n\n".join(classes.sources.values()))


main()
