"""The page of every key of a scene, from the schema that the engine prints."""

import json
import re

HEAD = """\
# Every key of a scene

What `isocloth schema` prints, as a page. Lengths are metres, times seconds, all units SI; unknown keys are errors. In
Python the same keys are the fields of the dataclasses of `isocloth.scene`.

"""


def cell(text):
    return re.sub(r"([\\|*_<>`$])", r"\\\1", str(text)).replace("\n", " ")


def split_unit(text):
    """A description without its last [unit], and that: what stands in brackets and is not a list of numbers."""
    found = list(re.finditer(r"\s*\[([^\]\d][^\]]*)\]", text))
    return (text, "") if not found else (text[:found[-1].start()] + text[found[-1].end():], found[-1][1])


def kind_of(schema):
    if "oneOf" in schema:
        return "one of several forms"
    if "enum" in schema:
        return "word"
    if "const" in schema:
        return json.dumps(schema["const"])
    kind = {"number": "number", "integer": "whole number", "boolean": "true or false", "string": "text",
            "object": "object", "array": "list"}.get(schema.get("type"), "any")
    if kind != "list":
        return kind
    count = schema.get("minItems") if schema.get("minItems") == schema.get("maxItems") else None
    inner = kind_of(schema["items"])
    if count:
        return f"{count} numbers" if inner in ("number", "whole number") else f"{count} of: {inner}"
    plural = {"number": "numbers", "whole number": "whole numbers", "object": "objects", "text": "texts",
              "word": "words"}
    return "list of " + plural.get(inner, f"({inner})")


def range_of(schema):
    while schema.get("type") == "array":
        least = schema.get("minItems", 0)
        if least and least != schema.get("maxItems"):
            return f"at least {least}"
        schema = schema["items"]
    signs = (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"))
    return ", ".join(f"{sign} {json.dumps(schema[key]).removesuffix('.0')}" for key, sign in signs if key in schema)


def words_of(schema):
    while schema.get("type") == "array":
        schema = schema["items"]
    return "" if "enum" not in schema else ": " + ", ".join(f"`{word}`" for word in schema["enum"])


def default_of(schema, key, required):
    if key in required:
        return "required"
    if "default" not in schema:
        return ""
    return "" if schema["default"] == "" else f"`{json.dumps(schema['default'], ensure_ascii=False)}`"


class Page:
    def __init__(self):
        self.parts = []
        self.places = {}  # text of an object: the first place that has it

    def inner(self, schema, path):
        """Objects inside of a value: those of a list, or each of its forms."""
        if schema.get("type") == "array":
            yield from self.inner(schema["items"], path + "[]")
        elif "oneOf" in schema:
            for form in schema["oneOf"]:
                properties = form.get("properties", {})
                named = next((f"{key} {value['const']}" for key, value in properties.items() if "const" in value), None)
                named = named or ", ".join(form.get("required", [])[:1])
                yield from self.inner(form, f"{path}, {named}" if named else path)
        elif isinstance(schema.get("additionalProperties"), dict):
            yield from self.inner(schema["additionalProperties"], path + ".NAME")
        elif schema.get("properties"):
            yield path, schema

    def add(self, path, schema):
        text = json.dumps({key: value for key, value in schema.items() if key != "description"}, sort_keys=True)
        if text in self.places:
            self.parts.append(f"## {cell(path)}\n\nAs `{self.places[text]}`.\n")
            return
        self.places[text] = path
        required = schema.get("required", [])
        lines = [f"## {cell(path)}\n"]
        if schema.get("description"):
            lines.append(schema["description"][:1].upper() + cell(schema["description"][1:]).rstrip(".") + ".\n")
        lines += ["| key | is | unit | range | default | meaning |", "|---|---|---|---|---|---|"]
        below = []
        for key in sorted(schema["properties"], key=lambda key: key not in required):
            value = schema["properties"][key]
            meaning, unit = split_unit(value.get("description", ""))
            row = [f"`{key}`", cell(kind_of(value)), cell(unit), cell(range_of(value)),
                   default_of(value, key, required), cell(meaning) + words_of(value)]
            lines.append("| " + " | ".join(row) + " |")
            below += self.inner(value, key if path == "scene" else f"{path}.{key}")
        self.parts.append("\n".join(lines) + "\n")
        for inner_path, inner_schema in below:
            self.add(inner_path, inner_schema)


def scene_page(schema):
    """MyST text of the page; schema: as :func:`isocloth.schema` returns it."""
    page = Page()
    page.add("scene", {**schema, "description": "the file itself"})
    return HEAD + "\n".join(page.parts)
