"""Pictures and films as files."""

import pathlib

import numpy

from ._library import library
from ._vtk_renderer import image_data
from .errors import Error, FileError


def write_png(path, picture):
    """Writes a picture, shape (height, width, 3), uint8."""
    io = library("vtkmodules.vtkIOImage", "vtk")
    _write(io.vtkPNGWriter(), pathlib.Path(path), picture)


def jpeg(picture, quality=85):
    """Bytes of a picture as JPEG."""
    arrays = library("vtkmodules.util.numpy_support", "vtk")
    writer = library("vtkmodules.vtkIOImage", "vtk").vtkJPEGWriter()
    writer.SetQuality(quality)
    writer.WriteToMemoryOn()
    writer.SetInputData(image_data(numpy.ascontiguousarray(picture[::-1])))
    writer.Write()
    return arrays.vtk_to_numpy(writer.GetResult()).tobytes()


def _write(writer, path, picture):
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("wb").close()
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    writer.SetFileName(str(path))
    writer.SetInputData(image_data(numpy.ascontiguousarray(picture[::-1])))
    writer.Write()


class Video:
    """A film that is written frame by frame: .mp4 (H.264) or .webm (VP9), by the suffix of the path. Needs
    imageio-ffmpeg."""

    CODECS = {".mp4": "libx264", ".webm": "libvpx-vp9"}

    def __init__(self, path, size, frames_per_second):
        ffmpeg = library("imageio_ffmpeg", "imageio-ffmpeg")
        path = pathlib.Path(path)
        codec = self.CODECS.get(path.suffix.lower())
        if codec is None:
            raise Error(f"render: {path.name}: found the suffix \"{path.suffix}\", expected "
                        f"{', '.join(self.CODECS)} or .png")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.open("wb").close()
        except OSError as error:
            raise FileError(f"{path}: {error.strerror}") from None
        options = ["-row-mt", "1", "-cpu-used", "6", "-deadline", "realtime", "-b:v", "0", "-crf", "33"] \
            if codec == "libvpx-vp9" else ["-preset", "veryfast", "-crf", "20", "-movflags", "+faststart"]
        # Both codecs want sides that are even.
        self._size = (size[0] // 2 * 2, size[1] // 2 * 2)
        self._frames = ffmpeg.write_frames(str(path), self._size, fps=frames_per_second, codec=codec, quality=None,
                                           pix_fmt_out="yuv420p", macro_block_size=2, output_params=options,
                                           ffmpeg_log_level="error")
        self._frames.send(None)

    def add(self, picture):
        """The next frame."""
        width, height = self._size
        self._frames.send(numpy.ascontiguousarray(picture[:height, :width]))

    def close(self):
        """Ends the file."""
        self._frames.close()


RECORDED = tuple(suffix[1:] for suffix in Video.CODECS)  # kinds of films
