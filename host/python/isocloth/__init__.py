"""Cloth that does not stretch, on CPU and GPU.

>>> import isocloth
>>> result = isocloth.run("scene.json", "results/towel")  # doctest: +SKIP
>>> simulation = isocloth.Simulation("scene.json")  # doctest: +SKIP
"""

from ._core import ContactMeasures, GarmentInfo, HoldMeasures, Measures, Snapshot, StepReport, Strain
from ._core import version as _version
from ._export import export
from ._fit import fit, save_recording
from ._forces import ClothState
from ._gradients import Gradient, Tape
from ._results import Result, check, run, save_mesh, schema
from ._run_function import RunFunction
from ._simulation import Simulation, View
from ._view import view
from .errors import (
    DeviceError,
    Error,
    FileError,
    ForceError,
    MeshError,
    NumericalError,
    SceneError,
    SceneWarning,
    ShapeError,
)

__version__ = _version()
__all__ = [
    "ClothState", "ContactMeasures", "DeviceError", "Error", "FileError", "ForceError", "GarmentInfo", "Gradient",
    "HoldMeasures", "Measures", "MeshError", "NumericalError", "Result", "RunFunction", "SceneError", "SceneWarning",
    "ShapeError", "Simulation", "Snapshot", "StepReport", "Strain", "Tape", "View", "check", "export",
    "fit", "run", "save_mesh", "save_recording", "schema", "view",
]
