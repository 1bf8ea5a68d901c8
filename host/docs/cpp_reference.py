"""The page of the C++ library: declarations of its public headers with the comments that stand there."""

import re

HEADERS = [
    "host/simulation/simulation.hpp", "host/state/execution_options.hpp", "host/state/step_report.hpp",
    "host/state/advance_report.hpp", "host/state/strain.hpp", "host/state/measures.hpp", "host/state/garment_field.hpp",
    "host/state/garment_state.hpp", "host/state/node_force.hpp", "host/run/run_scene.hpp",
    "host/run/equilibrium_search.hpp",
    "host/run/certificate.hpp", "host/scene/scene_file.hpp", "host/meshes/mesh_file.hpp",
    "host/results/run_record.hpp", "host/results/result_options.hpp", "host/results/checkpoint_file.hpp",
    "host/results/trajectory_file.hpp", "host/results/trajectory_layout.hpp", "host/gradients/tape.hpp",
    "engine/mesh/generators.hpp", "engine/mesh/panels.hpp", "engine/mesh/mesh.hpp", "engine/model/sewing.hpp",
    "engine/model/scene.hpp", "engine/model/scene_intersections.hpp", "engine/material/fabric.hpp",
    "engine/material/fabric_presets.hpp", "engine/shapes/motion.hpp", "engine/model/gripper.hpp",
    "engine/shapes/obstacle.hpp", "engine/model/rigid_body.hpp", "engine/material/wind.hpp",
    "engine/core/errors.hpp", "engine/core/monitor.hpp",
]

HEAD = """\
# The C++ library

    #include "host/isocloth.hpp"

has all of this; `find_package(isocloth)` and the target `isocloth::isocloth` bring it ([START](START.md#c)). The page
is made from the headers when the documentation is built: declarations as they are, `///` text above them, `///<`
beside members. Private parts and `fields()` are left out: what these tell of the numbers of a result is in
[QUANTITIES](QUANTITIES.md).

"""


def blocks(body):
    """Declarations of a namespace with the comments above them: what blank lines part outside of braces."""
    found, block, depth = [], [], 0
    for line in body:
        if not line.strip() and depth == 0:
            found.append(block)
            block = []
            continue
        block.append(line)
        code = line.split("//")[0]
        depth += code.count("{") - code.count("}")
    return [block for block in [*found, block] if block]


def without_inner_parts(lines):
    """Without fields() and private members."""
    kept, skip_to, private = [], None, False
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if skip_to is not None:
            if indent <= skip_to and line.strip() == "}":
                skip_to = None
            continue
        if "fields() {" in line and not line.rstrip().endswith("}"):
            skip_to = indent
            continue
        if line.strip() == "private:":
            private = True
        if private and line.startswith("}"):
            private = False
            while kept and not kept[-1].strip():
                kept.pop()
        if not private and "fields() {" not in line:
            kept.append(line)
    return kept


def heading(declaration):
    text = re.sub(r"\s+", " ", " ".join(line.split("//")[0] for line in declaration))
    kind = re.match(r"(?:template <[^>]*> )?(struct|class|enum class|using) (\w+)", text)
    if kind:
        return None if re.match(r"(struct|class) \w+;", text) else f"`{kind[2]}`"
    name = re.search(r"(\w+|operator\S+)\s*\(", text)
    return f"`{name[1]}()`" if name else None


def prose(lines):
    """`///` lines as a paragraph; angle brackets and stars are text."""
    return re.sub(r"([<>*$|])", r"\\\1", " ".join(line.strip().lstrip("/").strip() for line in lines))


def header_part(path, name):
    text = path.read_text(encoding="utf-8")
    about = [line for line in text.splitlines()[:text.splitlines().index("#pragma once")] if line.startswith("//")]
    parts = [f"## {name}\n\n{prose(about)}\n"]
    for body in re.findall(r"^namespace isocloth \{\n(.*?)^\}  // namespace isocloth$", text, re.M | re.S):
        for block in blocks(body.splitlines()):
            count = next((i for i, line in enumerate(block) if not line.startswith("//")), len(block))
            above, declaration = block[:count], without_inner_parts(block[count:])
            title = heading(declaration) if declaration else None
            if title is None:
                continue
            parts.append(f"### {title}\n")
            if above:
                parts.append(prose(above) + "\n")
            parts.append("```cpp\n" + "\n".join(declaration) + "\n```\n")
    return "\n".join(parts)


def cpp_page(root):
    """MyST text of the page; root: folder of the project."""
    return HEAD + "\n".join(header_part(root / name, name) for name in HEADERS)
