"""Builds the documentation's pages into a folder of HTML that needs no server.

usage: build_site.py WORK OUTPUT [--check], with isocloth and Sphinx installed; WORK keeps what a later build reuses

Pages are read where they lie in the tree. They are laid out in WORK/source as they are there, with the pictures and
files that they link to, so that a link that works in the tree works on the site; generated pages come beside them.
"""

import pathlib
import re
import shutil
import sys

import isocloth
from cpp_reference import cpp_page
from quantity_reference import quantity_page
from scene_reference import scene_page

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "SECURITY.md", "bench/README.md", "bench/closed_forms.md", "bench/impulse_solver.md",
         "bench/iterative_solver.md", "bench/peers/README.md", "host/python/README.md",
         *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "host/docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)#:\s]+)[^)]*\)|\{literalinclude\} (\S+)")

FRONT = """\
<!doctype html><meta charset="utf-8"><title>isocloth</title>
<meta http-equiv="refresh" content="0; url=host/docs/index.html">
<a href="host/docs/index.html">isocloth</a>
"""


def write_if_changed(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def copy(name, source):
    target = source / name
    if not target.exists() or target.stat().st_mtime < (ROOT / name).stat().st_mtime:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)


def lay_out(source):
    """Pages, and what they link to of the tree; a link to nothing is left for Sphinx to name."""
    for name in PAGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        copy(name, source)
        for found in LINK.findall(text):
            linked = ((ROOT / name).parent / "".join(found)).resolve()
            if linked.is_file() and linked.is_relative_to(ROOT) and linked.suffix != ".md":
                copy(linked.relative_to(ROOT), source)
    write_if_changed(source / "host/docs/SCENE_KEYS.md", scene_page(isocloth.schema()))
    write_if_changed(source / "host/docs/QUANTITIES.md", quantity_page(isocloth.quantities()))
    write_if_changed(source / "host/docs/CPP.md", cpp_page(ROOT))


def main():
    from sphinx.cmd.build import build_main

    work, output = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    check = sys.argv[3:] == ["--check"]
    source = work / "source"
    if check:
        shutil.rmtree(source, ignore_errors=True)
        shutil.rmtree(output, ignore_errors=True)
    lay_out(source)
    strict = ["-E", "-W", "--keep-going"] if check else []
    status = build_main(["-q", "-b", "html", "-c", str(ROOT / "host/docs"), "-d", str(work / "doctrees"), *strict,
                         str(source), str(output)])
    if status == 0:
        write_if_changed(output / "index.html", FRONT)
        print(f"{sum(1 for _ in output.rglob('*.html'))} pages: open {output / 'index.html'} in a browser")
    return status


if __name__ == "__main__":
    sys.exit(main())
