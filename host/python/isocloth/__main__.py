"""``python -m isocloth``: what the package does beside the command of the engine."""

import argparse
import os
import signal
import sys
import warnings

from ._campaign import campaign, seed_of_the_day
from ._export import WRITERS, export
from ._fields import QUANTITIES
from ._gallery import gallery
from ._import import EXACT, import_meshes, read_meshes
from ._import_pattern import add_arguments as add_pattern_arguments
from ._import_pattern import import_from_command, is_pattern
from ._render import render
from ._repair import LEAST_ALTITUDE, LEAST_PIECE, repair
from ._results import Result, run
from ._sweep import load_plan, run_plan
from ._view import view
from .errors import Error, SceneError

_EVERY = 10_000_000  # garments: more than there are


def main(arguments=None):
    """Returns the exit code: 0 done, 1 a run missed its tolerance, 2 bad input, 130 interrupted."""
    parser = argparse.ArgumentParser(prog="python -m isocloth", description=__doc__)
    commands = parser.add_subparsers(required=True)
    _add_run(commands)
    command = commands.add_parser("export", help="write a result for other programs")
    command.set_defaults(run=_export)
    command.add_argument("result", help="folder")
    command.add_argument("files", nargs="+", help="files to write: " + " ".join(WRITERS))
    command.add_argument("--garment", action="append", help="one to write, by its name; default: all")
    command.add_argument("--no-obstacles", action="store_true", help="garments alone")
    command.add_argument("--fps", type=float, help="frames per second of the program that reads it; default: those of "
                         "the result")
    command.add_argument("--color", action="append", default=[], metavar="NAME=#rrggbb",
                         help="of a garment or obstacle")
    command.add_argument("--thickness", type=float, metavar="METRES", help="a second side of cloth in this distance")
    _add_import(commands)
    _add_repair(commands)
    command = commands.add_parser("view", help="watch a scene in the browser, and drag its cloth")
    command.set_defaults(run=lambda options: view(options.scene, options.port, options.record, threads=options.threads,
                                                   allow=options.allow))
    command.add_argument("scene", help="file")
    command.add_argument("--port", type=int, default=8080, help="of the page; the next free one if taken")
    command.add_argument("--threads", type=int, default=0, help="0: all cores")
    command.add_argument("--record", metavar="FOLDER", help="for pictures and films; the page has buttons then")
    _add_allow(command)
    _add_render(commands)
    _add_gallery(commands)
    _add_sweep(commands)
    _add_campaign(commands)
    options = parser.parse_args(arguments)
    try:
        return options.run(options) or 0
    except (Error, ImportError) as error:
        print(f"isocloth: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _add_run(commands):
    command = commands.add_parser("run", help="simulate a scene into a result folder, as the command isocloth does")
    command.set_defaults(run=_run)
    command.add_argument("scene", help="file")
    command.add_argument("-o", "--output", metavar="FOLDER", required=True, help="of the result")
    how = command.add_mutually_exclusive_group()
    how.add_argument("--overwrite", action="store_true", help="replace an earlier result")
    how.add_argument("--resume", action="store_true", help="continue a result from its checkpoint")
    command.add_argument("--ply", action="store_true", help="write every frame as frames/*.ply too")
    command.add_argument("--frames-of", type=int, metavar="N", help="garments whose positions are kept; 0: all")
    command.add_argument("--threads", type=int, default=0, help="0: all cores")
    command.add_argument("--backend", default="cpu", help="cpu or cuda; default: %(default)s")
    command.add_argument("--certify", action="store_true", help="test every step for cloth through cloth")
    command.add_argument("--quiet", action="store_true", help="no progress on standard error")
    _add_allow(command)


def _run(options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run(options.scene, options.output, overwrite=options.overwrite, resume=options.resume,
                     ply=options.ply, frames_of=None if options.frames_of is None else options.frames_of or _EVERY,
                     threads=options.threads, backend=options.backend, certify=options.certify, quiet=options.quiet,
                     allow=options.allow)
    for warning in caught:
        print(f"isocloth: warning: {warning.message}", file=sys.stderr)
    summary = result.summary
    message = f": {summary['message']}" if summary["message"] else ""
    is_done = summary["status"] == "completed" and not summary["steps_violated"]
    print(f"{options.output}: {summary['status']}, {len(result.times)} frames{message}",
          file=sys.stdout if is_done else sys.stderr)
    return 0 if is_done else 1


def _add_allow(command):
    command.add_argument("--allow", metavar="FOLDER", action="append", default=[],
                         help="besides that of the file, in whose tree files that it names may lie; / for any")


def _add_import(commands):
    command = commands.add_parser("import", help="write meshes of glTF, USD or FBX, or sewing patterns, for scenes")
    command.set_defaults(run=_import)
    command.add_argument("file", help=".glb .gltf .usd .usda .usdc .fbx; patterns: .json (GarmentCode) .dxf .svg")
    command.add_argument("-o", "--output", metavar="FOLDER", help="for NAME.obj, NAME.mdd and scene.json")
    command.add_argument("--list", action="store_true", help="say what the file holds, and write nothing")
    command.add_argument("--mesh", action="append", metavar="NAME", help="one to take; default: all")
    for role, help in (("garment", "what is open"), ("obstacle", "what is closed"), ("body", "what moves")):
        command.add_argument(f"--{role}", action="append", default=[], metavar="NAME",
                             help=f"one that becomes {role}; default: {help}"
                             + ("; of a pattern: the file of the body that it is arranged around" * (role == "body")))
    command.add_argument("--unit", help="m, cm, mm, in, ft, or metres as a number; default: that of the file")
    command.add_argument("--up", help="x, y or z; default: that of the file")
    command.add_argument("--weld", type=float, nargs="?", const=EXACT, metavar="METRES",
                         help="unite nodes on open edges that lie so near; without a number: %(const)g m, for vertices "
                         "that a program has split")
    command.add_argument("--repair", action="store_true", help="mend what can be mended, as isocloth repair does")
    command.add_argument("--rate", type=float, help="frames per second of an animation; default: that of the file")
    command.add_argument("--from", type=float, dest="begin", help="[s] of the file, time 0 of the scene")
    command.add_argument("--to", type=float, dest="end", help="[s] of the file")
    command.add_argument("--animation", metavar="NAME", help="one of several")
    command.add_argument("--overwrite", action="store_true", help="files that are there")
    _add_allow(command)
    add_pattern_arguments(command)


def _import(options):
    if is_pattern(options.file):
        import_from_command(options)
        return
    if options.list:
        source = read_meshes(options.file, animation=options.animation, allow=options.allow)
        unit = "no unit" if source.unit is None else f"unit {source.unit:g} m"
        span = "no animation" if source.span is None else "an animation from {:g} to {:g} s".format(*source.span)
        print(f"{options.file}: {unit}, {f'{source.up} is up' if source.up else 'no axis that is up'}, {span}")
        for mesh in source.meshes:
            print(f"  {mesh.name}: {len(mesh.faces)} faces{', moving' if mesh.moves and source.span else ''}"
                  f"{'' if mesh.uvs is None else ', with texture coordinates'}")
        return
    if options.output is None:
        raise Error("import: found no output, expected a folder (-o FOLDER), or --list")
    done = import_meshes(options.file, options.output, meshes=options.mesh, garments=options.garment,
                         obstacles=options.obstacle, bodies=options.body, unit=options.unit, up=options.up,
                         weld=options.weld, repairs=options.repair, rate=options.rate, begin=options.begin,
                         end=options.end, animation=options.animation, overwrite=options.overwrite, allow=options.allow)
    print(f"{options.file}: unit {done.unit:g} m, {done.up} was up; metres and z up now")
    for mesh in done.meshes:
        print("  {role} {name}: {nodes} nodes, {faces} faces, {0:.3g} x {1:.3g} x {2:.3g} m{3}".format(
            *mesh["size"], f", {mesh['frames']} frames" if mesh["motion"] else "", **mesh))
    for note in done.notes:
        print(f"  note: {note}")
    print(f"{done.scene}:")
    print(done.scene.read_text(encoding="utf-8"), end="")


def _add_repair(commands):
    command = commands.add_parser("repair", help="mend a mesh that another program made")
    command.set_defaults(run=_repair)
    command.add_argument("file", help=".obj .ply .stl")
    command.add_argument("-o", "--output", metavar="FILE", help=".obj to write; without one faults are said alone")
    command.add_argument("--report", action="store_true", help="say the faults alone, and write nothing")
    command.add_argument("--weld", type=float, help="distance within which vertices on open edges are united, in the "
                         "unit of the file; default: a millionth of its diagonal")
    command.add_argument("--least-altitude", type=float, default=LEAST_ALTITUDE, metavar="SHARE",
                         help="least altitude of a triangle over the median edge; default: %(default)s")
    command.add_argument("--least-piece", type=float, default=LEAST_PIECE, metavar="SHARE",
                         help="of the area, of pieces of at most eight faces that stay; default: %(default)s")
    command.add_argument("--overwrite", action="store_true", help="a file that is there")


def _repair(options):
    if options.output is None and not options.report:
        raise Error("repair: found no output, expected a file (-o FILE), or --report")
    done = repair(options.file, None if options.report else options.output, weld=options.weld,
                  least_altitude=options.least_altitude, least_piece=options.least_piece,
                  overwrite=options.overwrite)
    print(f"{options.file}:")
    for line in done.report.splitlines():
        print(f"  {line}")
    if done.file is not None:
        print(f"{done.file}: {len(done.positions)} vertices, {len(done.faces)} faces")


def _add_render(commands):
    command = commands.add_parser("render", help="draw a result as a picture or a film, without a display")
    command.set_defaults(run=_render)
    command.add_argument("result", help="folder")
    command.add_argument("file", help="to write: .png, .mp4 or .webm")
    command.add_argument("--color", help="plain, garment, " + ", ".join(QUANTITIES) + "; default: plain, of several "
                         "garments garment")
    command.add_argument("--most", type=float, help="upper end of the colours in their unit; default: by all frames")
    command.add_argument("--frame", type=int, help="of a picture, from 0, or from -1 backwards; default: the last")
    command.add_argument("--size", default="1280x720", help="width x height in pixels; default: %(default)s")
    command.add_argument("--fps", type=float, default=30, help="frames per second of a film; default: %(default)s")
    command.add_argument("--speed", type=float, default=1, help="seconds of the run per second of the film")
    command.add_argument("--azimuth", type=float, default=-55, help="from where, degrees from x; default: %(default)s")
    command.add_argument("--elevation", type=float, default=18, help="degrees; default: %(default)s")


def _add_gallery(commands):
    command = commands.add_parser("gallery", help="a page with a picture and figures of each result")
    command.set_defaults(run=_gallery)
    command.add_argument("folders", nargs="+", metavar="FOLDER",
                         help="a result, a folder of results, or a folder of scenes, which are run")
    command.add_argument("--output", default="gallery.html", help="page to write; default: %(default)s")
    command.add_argument("--results", default="results", help="where scenes are run that have no result there yet; "
                         "default: %(default)s")
    command.add_argument("--color", help="plain, garment, " + ", ".join(QUANTITIES))


def _size(text):
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isascii() and part.isdecimal() and 16 <= int(part) <= 8192 for part in parts):
        raise Error(f"--size: found \"{text}\", expected WIDTHxHEIGHT, 16 to 8192 each")
    return int(parts[0]), int(parts[1])


def _render(options):
    print(render(options.result, options.file, color=options.color, most=options.most, frame=options.frame,
                 size=_size(options.size), frames_per_second=options.fps, speed=options.speed, azimuth=options.azimuth,
                 elevation=options.elevation))


def _gallery(options):
    print(gallery(options.folders, options.output, results=options.results, color=options.color))


def _add_sweep(commands):
    command = commands.add_parser("sweep", help="run a scene for all cases of a plan, on this machine or many")
    command.set_defaults(run=_sweep)
    command.add_argument("plan", help="JSON file with the keys of isocloth.sweep: scene, vary, measures, ...")
    command.add_argument("-o", "--output", required=True, help="folder of the table; a sweep there is gone on with")
    how = command.add_mutually_exclusive_group()
    how.add_argument("--worker", metavar="I/N", help="the I-th of N processes that share the folder, from 1")
    how.add_argument("--workers", type=int, default=1, metavar="N", help="processes of this machine")
    how.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask scheduler whose workers run the batches")
    command.add_argument("--threads", type=int, default=0, help="of each process; 0: all cores, or an equal part")
    command.add_argument("--devices", metavar="I,J,...", help="GPUs, one for each process of this machine")
    command.add_argument("--quiet", action="store_true", help="no progress on standard error")
    _add_allow(command)


def _add_campaign(commands):
    command = commands.add_parser("campaign", help="run scenes as many seeds jitter them, certified at every step, and "
                                  "keep what fails as scenes")
    command.set_defaults(run=_campaign)
    command.add_argument("scenes", nargs="+", metavar="SCENES", help="files, or folders of scenes")
    command.add_argument("-o", "--output", required=True, help="folder; a campaign there is gone on with")
    command.add_argument("--seeds", type=int, default=10, metavar="N", help="of each scene; default: %(default)s")
    first = command.add_mutually_exclusive_group()
    first.add_argument("--first-seed", type=int, default=0, metavar="K", help="0, which changes nothing, or another")
    first.add_argument("--today", action="store_true", help="the first seed is that of the day, which is printed")
    command.add_argument("--shard", default="1/1", metavar="I/N", help="the I-th of N shares of the cases, from 1")
    command.add_argument("--steps", type=int, metavar="N", help="of a case, at most")
    command.add_argument("--contacts", action="store_true", help="contact.cloth in scenes that do not say it")
    command.add_argument("--case-seconds", type=float, default=600, help="wall time of a case; default: %(default)s")
    command.add_argument("--jobs", type=int, default=1, metavar="N", help="cases at once, each of one thread")
    command.add_argument("--quiet", action="store_true", help="no progress on standard error")


def _shares(option, words):
    parts = words.split("/")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts) or not 1 <= int(parts[0]) <= int(parts[1]):
        raise SceneError(f"{option}: found {words}, expected I/N with I from 1 to N")
    return int(parts[0]), int(parts[1])


def _end_on_sigterm():
    """As on Ctrl-C: batch systems say so that they want the machine back."""
    def stop(*_):
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, stop)


def _campaign(options):
    _end_on_sigterm()
    shard = _shares("--shard", options.shard)
    first = seed_of_the_day() if options.today else options.first_seed
    print(f"seeds {first} to {first + options.seeds - 1}, shard {options.shard}")
    found = campaign(options.scenes, options.output, seeds=options.seeds, first_seed=first,
                     shard=shard, steps=options.steps, contacts=options.contacts, case_seconds=options.case_seconds,
                     jobs=options.jobs, quiet=options.quiet)
    print(found)
    for record in found.failures:
        print(f"{record['outcome']}: {options.output}/failures/{record['scene']}.{record['seed']}.json: "
              f"{record['message']}")
    print(f"result: {options.output} (campaign.csv, campaign.json, campaign.svg)")
    return 1 if found.failures else 0


def command():
    """:func:`main` as a process."""
    code = main()
    if code == 130:  # other processes that were interrupted, too, are not waited for: they end with this one
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _sweep(options):
    _end_on_sigterm()
    worker = _shares("--worker", options.worker) if options.worker else None
    devices = [word for word in (options.devices or "").split(",") if word]
    plan = load_plan(options.plan, allow=options.allow or None)
    table = run_plan(plan, options.output, workers=options.scheduler or options.workers, worker=worker,
                     threads=options.threads, devices=devices, quiet=options.quiet)
    print(f"{table.case_count} cases: {table.count('completed')} completed, {table.count('stalled')} missed the "
          f"tolerance, {table.count('failed')} failed"
          + (f"; {table.batches_missing} batches to come" if table.batches_missing else ""))
    for message in table["message"][table["status"] == "failed"][:3]:
        print(f"failed: {message}")
    print(f"result: {options.output} (table/*.{table.format}: read the folder as one table, or isocloth.read_sweep)")


def _export(options):
    result = Result(options.result)
    colors = dict(word.partition("=")[::2] for word in options.color)
    for file in options.files:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            written = export(result, file, garments=options.garment, obstacles=False if options.no_obstacles else None,
                             frames_per_second=options.fps, colors=colors, thickness=options.thickness)
        for warning in caught:
            print(f"isocloth: warning: {warning.message}", file=sys.stderr)
        print(written[0] if len(written) == 1 else f"{written[0]} ... {written[-1]}")


if __name__ == "__main__":
    command()
