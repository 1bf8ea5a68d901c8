"""``python -m isocloth``: what the package does beside the command of the engine."""

import argparse
import sys

from ._export import WRITERS, export
from ._results import Result
from ._view import view
from .errors import Error


def main(arguments=None):
    """Returns the exit code: 0 done, 2 bad input."""
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
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except Error as error:
        print(f"isocloth: {error}", file=sys.stderr)
        return 2
    return 0


def _export(options):
    result = Result(options.result)
    for file in options.files:
        written = export(result, file, garments=options.garment, obstacles=False if options.no_obstacles else None)
        print(written[0] if len(written) == 1 else f"{written[0]} ... {written[-1]}")


if __name__ == "__main__":
    sys.exit(main())
