"""The engine as a process of its own: whatever happens to it, Blender goes on.

It is the package isocloth where the Python of Blender finds it, else the command isocloth; both take the same words.
"""

import importlib.util
import os
import pathlib
import shutil
import signal
import subprocess
import sys

from .errors import AddonError

DONE, MISSED, REFUSED, INTERRUPTED = 0, 1, 2, 130  # exit codes


def find(chosen=""):
    """The words that start the engine, and the folder that its Python has to look in, or None. chosen: path of a
    command, which goes before what is found."""
    if chosen:
        if not shutil.which(chosen):
            raise AddonError(f"{chosen}: found no program, expected the command isocloth; preferences of the add-on")
        return [shutil.which(chosen)], None
    package = importlib.util.find_spec("isocloth")
    if package is not None and package.origin:
        folder = pathlib.Path(package.origin).parent
        if any(folder.glob("_core.*.so")):  # the engine, which is not brought into this process
            return [sys.executable, "-m", "isocloth"], str(folder.parent)
    command = os.environ.get("ISOCLOTH_COMMAND") or shutil.which("isocloth")
    if command:
        return [command], None
    raise AddonError("found neither the package isocloth in Blender's Python nor the command isocloth, expected one: "
                     f"{sys.executable} -m pip install isocloth-*.whl, or the path of the command in the "
                     "preferences of the add-on")


class Run:
    """A run of a scene. ``result``: folder; ``frames``: those that it is to have."""

    def __init__(self, engine, scene, result, frames, *, resume=False, threads=0):
        self.result, self.frames, self._log = pathlib.Path(result), frames, pathlib.Path(result).with_suffix(".log")
        words, folder = engine
        environment = dict(os.environ)
        if folder is not None:
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, environment.get("PYTHONPATH")]))
        words = [*words, "run", str(scene), "-o", str(result), "--ply", "--frames-of", "0", "--quiet", "--threads",
                 str(threads), "--resume" if resume else "--overwrite"]
        with open(self._log, "wb") as log:
            try:
                # Of a session of its own: Ctrl-C in the terminal of Blender is for Blender, which tells it.
                self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
                                                 env=environment, start_new_session=True)
            except OSError as error:
                raise AddonError(f"{words[0]}: {error.strerror}, expected to start the engine") from None

    @property
    def frames_done(self):
        """Frames that it has written."""
        folders = [self.result.with_name(f"{self.result.name}.partial-{self._process.pid}"), self.result]
        for folder in folders:
            if (folder / "frames").is_dir():
                return min(self.frames, sum(1 for _ in (folder / "frames").glob("*.ply")))
        return 0

    def wait(self, seconds):
        """Its exit code once it has ended, or None after some seconds."""
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        return INTERRUPTED if code == -signal.SIGINT else code

    def cancel(self):
        """Asks it to end; what it has done stays, and can be gone on with."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def kill(self):
        """Ends it at once."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def said(self):
        """Lines of its messages, without its name."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return [line.removeprefix("isocloth: ") for line in lines if line.strip()]


def frame_files(result):
    """Paths of the frames of a result, in their order."""
    return sorted((pathlib.Path(result) / "frames").glob("*.ply"))
