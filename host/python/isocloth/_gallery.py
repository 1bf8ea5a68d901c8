"""A page with a picture and the key figures of each of many results."""

import base64
import html
import json
import os
import pathlib

from ._render import frame_picture
from ._results import Result, run
from ._video import jpeg
from .errors import Error, FileError

_STYLE = """
body { font: 15px/1.4 system-ui, sans-serif; margin: 2rem; color: #222; background: #fafafa; }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr)); gap: 1.2rem; }
article { background: #fff; border: 1px solid #ddd; border-radius: 6px; overflow: hidden; }
article img, article .none { display: block; width: 100%; aspect-ratio: 16 / 9; background: #eee; }
article .none { display: grid; place-items: center; color: #777; }
article h2 { font-size: 1rem; margin: 0.6rem 0.8rem 0.2rem; }
article table { margin: 0 0.8rem 0.8rem; border-spacing: 0; font-size: 0.85rem; }
article td { padding: 0.05rem 0.8rem 0.05rem 0; } article td + td { font-variant-numeric: tabular-nums; }
.bad { color: #a50f15; font-weight: 600; }
a { color: #0b5394; }
"""


def _is_result(folder):
    return (folder / "summary.json").is_file()


def _is_scene(path):
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and "garments" in content


def _result_of(scene, results):
    """The result folder of a scene file, made if it is not there; what is wrong, if it cannot be run."""
    folder = results / scene.stem
    if not _is_result(folder):
        try:
            run(scene, folder)
        except Error as error:
            return folder, str(error)
    return folder, None


def _entries(folder, results):
    """Result folders that a path stands for, each with what is wrong or None."""
    if _is_result(folder):
        return [(folder, None)]
    if not folder.is_dir():
        raise FileError(f"gallery: {folder}: expected a result, a folder of results, or a folder of scenes")
    inside = [(path, None) for path in sorted(folder.iterdir()) if path.is_dir() and _is_result(path)]
    scenes = [path for path in sorted(folder.glob("*.json")) if _is_scene(path)]
    return inside + [_result_of(path, results) for path in scenes]


def _rows(summary):
    """Names and texts of the key figures, and whether each is bad."""
    missed, frozen = summary["steps_violated"], summary["garments_frozen"]
    # A run in memory of no time has no rate.
    realtime = summary.get("realtime_factor")
    return [
        ("nodes", f"{summary['node_count']:,}", False),
        ("strain, 95 %", f"{100 * summary['strain_p95']:.3g} %", False),
        ("strain, most", f"{100 * summary['strain_max']:.3g} %", False),
        ("iterations per step", f"{summary['iterations_per_step_mean']:.3g}", False),
        ("times real time", f"{realtime:.3g}" if realtime else "", False),
        ("missed steps", f"{missed:,} of {summary['step_count']:,}", missed > 0),
        *([("frozen garments", f"{frozen:,}", True)] if frozen else []),
        *([("status", summary["status"], True)] if summary["status"] != "completed" else []),
    ]


def _article(folder, wrong, page, color, size):
    title, picture, rows, report = folder.name, None, [], folder / "report.html"
    if wrong is None:
        try:
            result = Result(folder)
            title, rows = result.summary.get("scene") or folder.name, _rows(result.summary)
            picture = jpeg(frame_picture(result, color, size))
        except KeyError as error:
            wrong = f"{folder / 'summary.json'}: {error} is missing"
        except Error as error:
            wrong = str(error)
    parts = ["<article>"]
    link = html.escape(os.path.relpath(report, page.parent).replace(os.sep, "/")) if report.is_file() else None
    shown = (f'<img alt="{html.escape(folder.name)}" loading="lazy" '
             f'src="data:image/jpeg;base64,{base64.b64encode(picture).decode()}">'
             if picture is not None else '<div class="none">no picture</div>')
    parts.append(f'<a href="{link}">{shown}</a>' if link else shown)
    parts.append(f"<h2>{html.escape(title)}</h2><table>")
    if wrong is not None:
        parts.append(f'<tr><td colspan="2" class="bad">{html.escape(wrong)}</td></tr>')
    parts += [f'<tr><td>{name}</td><td{" class=bad" if bad else ""}>{html.escape(text)}</td></tr>'
              for name, text, bad in rows]
    to_report = f'<a href="{link}">report</a>' if link else ""
    parts.append(f"<tr><td>{html.escape(folder.name)}</td><td>{to_report}</td></tr></table></article>")
    return "\n".join(parts)


def gallery(folders, output="gallery.html", *, results="results", color=None, size=(640, 360)):
    """Writes one HTML page with a picture of each result, its key figures and a link to its report; returns its path.

    folders: each a result, a folder of results, or a folder of scenes, which are run into ``results`` unless they have
    a result there. color: as of :func:`isocloth.render`; results that lack the quantity say so. The page needs nothing
    but itself, and the reports where they lie. Needs vtk and h5py.
    """
    page = pathlib.Path(output)
    entries = [entry for folder in ([folders] if isinstance(folders, (str, os.PathLike)) else folders)
               for entry in _entries(pathlib.Path(folder), pathlib.Path(results))]
    if not entries:
        raise Error("gallery: found neither a result nor a scene, expected at least one")
    articles = [_article(folder, wrong, page, color, size) for folder, wrong in entries]
    text = ('<!doctype html>\n<html lang="en"><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<title>isocloth: {len(entries)} scenes</title><style>{_STYLE}</style>\n<h1>{len(entries)} scenes</h1>\n"
            "<main>\n" + "\n".join(articles) + "\n</main></html>\n")
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"{page}: {error.strerror}") from None
    return page
