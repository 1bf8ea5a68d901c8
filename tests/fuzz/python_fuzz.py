"""Damaged meshes of glTF, USD and FBX, odd arguments of environments, and messages of pages: each ends well.

    python tests/fuzz/python_fuzz.py [--count N] [--seed N] [--only KIND ...] [--keep FOLDER]

A case is a number: the same number makes the same case. It ends well if it is done, or refused by an error of the
package whose message is one line, within a time and a memory, with nothing written elsewhere and nothing read
elsewhere. Cases run in a process of their own, so that one that brings it down is told. What ends
badly is kept.
"""

import argparse
import collections
import importlib
import json
import multiprocessing
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]
KINDS = ("gltf", "glb", "usda", "usdc", "fbx", "gym", "view")
SECONDS, BYTES = 90, 6 << 30  # of a case


class Bad(Exception):
    """How a case ended badly."""


def judge(kind, number, root):
    """Runs a case in a folder of its own. Returns how it ended well, raises Bad."""
    module = importlib.import_module("import_cases" if kind in KINDS[:5] else f"{kind}_cases")
    import isocloth

    try:
        return module.run(kind, random.Random(f"{kind} {number}"), root)
    except isocloth.Error as error:
        return _refusal(str(error))
    except Bad:
        raise
    except MemoryError as error:
        raise Bad(f"MemoryError: {error}") from None
    except module.EXPECTED as error:
        return _refusal(str(error))
    except Exception as error:
        raise Bad("".join(traceback.format_exception(error))) from None


def _refusal(text):
    if "\n" in text or not text.strip() or len(text) > 2000:
        raise Bad(f"a message of several lines, or none: {text[:500]!r}")
    return "refused: " + re.sub(r"[\d.e+-]+|'[^']*'|\"[^\"]*\"|/\S+", "#", text)[:90]


def files_of(root):
    """What lies in a folder, with sizes and times."""
    return {str(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in root.rglob("*")}


def _work(pipe):
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open(os.devnull, "w") as silent:  # libraries print what they think of such files
        os.dup2(silent.fileno(), 1)
        os.dup2(silent.fileno(), 2)

    def late(*_):
        raise Bad(f"took longer than {SECONDS} s")

    signal.signal(signal.SIGALRM, late)
    for kind, number, root in iter(pipe.recv, None):
        signal.alarm(SECONDS)
        try:
            pipe.send((True, judge(kind, number, pathlib.Path(root))))
        except Bad as error:
            pipe.send((False, str(error)))
        except BaseException as error:
            pipe.send((False, "".join(traceback.format_exception(error))))
        finally:
            signal.alarm(0)


class Worker:
    """A process that runs cases one after another, and another one where it ends."""

    def __init__(self):
        self._process = None

    def run(self, kind, number, root):
        """Whether a case ended well, and how."""
        if self._process is None or not self._process.is_alive():
            context = multiprocessing.get_context("fork")
            self._pipe, other = context.Pipe()
            self._process = context.Process(target=_work, args=(other,), daemon=False)
            self._process.start()
            other.close()
        try:
            self._pipe.send((kind, number, str(root)))
            if not self._pipe.poll(SECONDS + 15):
                self._process.kill()
                self._process.join()
                return False, f"hung for more than {SECONDS} s"
            return self._pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            return False, f"the process ended with code {self._process.exitcode}"

    def close(self):
        if self._process is not None and self._process.is_alive():
            self._pipe.send(None)
            self._process.join(10)
            self._process.kill()


def fuzz(count, seed=0, only=KINDS, keep=None, told=lambda line: None):
    """Runs ``count`` cases of each kind. Returns those that ended badly, and how the others ended, by kind."""
    bad, ends, worker = [], {kind: collections.Counter() for kind in only}, Worker()
    try:
        for kind in only:
            for number in range(seed, seed + count):
                with tempfile.TemporaryDirectory(prefix="isocloth-fuzz-") as folder:
                    root = pathlib.Path(folder)
                    is_well, how = worker.run(kind, number, root)
                    if is_well:
                        ends[kind][how] += 1
                        continue
                    bad.append((kind, number, how))
                    told(f"BAD {kind} {number}: {how}")
                    if keep is not None:
                        shutil.copytree(root, pathlib.Path(keep, f"{kind}-{number}"), dirs_exist_ok=True, symlinks=True,
                                        ignore=lambda at, names: [n for n in names if pathlib.Path(at, n).is_fifo()])
    finally:
        worker.close()
    return bad, ends


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--keep")
    parser.add_argument("--ends", action="store_true", help="say how often cases ended how")
    options = parser.parse_args()
    bad, ends = fuzz(options.count, options.seed, options.only, options.keep, lambda line: print(line, flush=True))
    for kind, how in ends.items():
        done = sum(number for text, number in how.items() if not text.startswith("refused"))
        print(f"{kind}: {sum(how.values())} ended well: {done} done, {sum(how.values()) - done} refused in "
              f"{sum(text.startswith('refused') for text in how)} ways")
        if options.ends:
            print(json.dumps(dict(how.most_common()), indent=1))
    print(f"{len(bad)} ended badly")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
