"""Settings of Sphinx for build_site.py."""

import pathlib
import re

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

ROOT = pathlib.Path(__file__).resolve().parents[2]

project = "isocloth"
version = release = re.search(r"project\(isocloth VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
copyright = "Apache-2.0"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_gallery.gen_gallery"]
root_doc = "host/docs/index"
exclude_patterns = ["**/*.ipynb", "**/sg_execution_times.rst", "sg_execution_times.rst"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
# Fences of shell commands and plain text carry no language.
highlight_language = "none"
smartquotes = False

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "none"

html_theme = "furo"
html_title = f"isocloth {version}"
html_static_path = [str(ROOT / "host/docs/static")]
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "host/docs/tutorials"),
    "gallery_dirs": "host/docs/tutorials",
    "filename_pattern": r"/\w+\.py$",
    "within_subsection_order": "FileNameSortKey",
    "run_stale_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "plot_gallery": True,
    "only_warn_on_example_error": False,
    "write_computation_times": False,
    "capture_repr": (),
    "min_reported_time": 1e9,
    "download_all_examples": False,
    "default_thumb_file": None,
}


def visit_math(self, node):
    self.body.append(tex2mathml(node.astext(), as_block=False))
    raise SkipNode


def visit_math_block(self, node):
    self.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise SkipNode


def escape_bars(app, what, name, thing, options, lines):
    """Docstrings write sizes as |x|, which reStructuredText takes for a substitution."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[i] = re.sub(r"(``.*?``)|\|", lambda match: match[1] or "\\|", line)


def setup(app):
    app.connect("autodoc-process-docstring", escape_bars)
    # MathML is drawn by browsers themselves: no script, no font, no server.
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.add_css_file("isocloth.css")
