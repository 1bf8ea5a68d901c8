"""``python -m isocloth``: what the package does beside the command of the engine."""

import argparse
import os
import signal
import sys

from ._export import WRITERS, export
from ._results import Result
from ._sweep import load_plan, run_plan
from ._view import view
from .errors import Error, SceneError


def main(arguments=None):
    """Returns the exit code: 0 done, 2 bad input, 130 interrupted."""
    parser = argparse.ArgumentParser(prog="python -m isocloth", description=__doc__)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("export", help="write a result for other programs")
    command.set_defaults(run=_export)
    command.add_argument("result", help="folder")
    command.add_argument("files", nargs="+", help="files to write: " + " ".join(WRITERS))
    command.add_argument("--garment", action="append", help="one to write, by its name; default: all")
    command.add_argument("--no-obstacles", action="store_true", help="garments alone")
    command = commands.add_parser("view", help="watch a scene in the browser, and drag its cloth")
    command.set_defaults(run=lambda options: view(options.scene, options.port, threads=options.threads))
    command.add_argument("scene", help="file")
    command.add_argument("--port", type=int, default=8080, help="of the page; the next free one if taken")
    command.add_argument("--threads", type=int, default=0, help="0: all cores")
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
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except (Error, ImportError) as error:
        print(f"isocloth: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def command():
    """:func:`main` as a process."""
    code = main()
    if code == 130:  # other processes that were interrupted, too, are not waited for: they end with this one
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _sweep(options):
    def stop(*_):
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, stop)  # of batch systems that want the machine back
    worker = None
    if options.worker:
        words = options.worker.split("/")
        if len(words) != 2 or not all(word.isdigit() for word in words):
            raise SceneError(f"--worker: found {options.worker}, expected I/N with I from 1 to N")
        worker = int(words[0]), int(words[1])
    devices = [word for word in (options.devices or "").split(",") if word]
    table = run_plan(load_plan(options.plan), options.output, workers=options.scheduler or options.workers,
                     worker=worker, threads=options.threads, devices=devices, quiet=options.quiet)
    print(f"{table.case_count} cases: {table.count('completed')} completed, {table.count('stalled')} missed the "
          f"tolerance, {table.count('failed')} failed"
          + (f"; {table.batches_missing} batches to come" if table.batches_missing else ""))
    for message in table["message"][table["status"] == "failed"][:3]:
        print(f"failed: {message}")
    print(f"result: {options.output} (table/*.{table.format}: read the folder as one table, or isocloth.read_sweep)")


def _export(options):
    result = Result(options.result)
    for file in options.files:
        written = export(result, file, garments=options.garment, obstacles=False if options.no_obstacles else None)
        print(written[0] if len(written) == 1 else f"{written[0]} ... {written[-1]}")


if __name__ == "__main__":
    command()
