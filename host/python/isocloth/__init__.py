"""Cloth that does not stretch, on CPU and GPU.

>>> import isocloth
>>> result = isocloth.run("scene.json", "results/towel")  # doctest: +SKIP
>>> simulation = isocloth.Simulation("scene.json")  # doctest: +SKIP
"""

from . import _arguments, _core
from ._campaign import Campaign, campaign
from ._core import ContactMeasures, EnergySums, GarmentInfo, HoldMeasures, Measures, Snapshot, StepReport, Strain
from ._core import version as _version
from ._export import export
from ._export_pattern import export_pattern
from ._fit import fit, save_recording
from ._forces import ClothState, SlopedForce
from ._gallery import gallery
from ._gradients import Gradient, Tape
from ._import import Imported, import_meshes
from ._import_pattern import ImportedPattern, import_pattern, read_pattern
from ._pattern import Pattern
from ._render import render
from ._repair import Fault, Repaired, repair
from ._results import Result, check, run, save_mesh, schema
from ._run_function import RunFunction
from ._simulation import Simulation, View
from ._smoothing import SmoothedGradient, smoothed_gradient
from ._sweep import load_plan, read_sweep, run_plan, sweep
from ._sweep_run import CaseRun
from ._sweep_table import SweepTable
from ._view import Viewer, view
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

_arguments.make_readable(_core)
__version__ = _version()
quantities = _core.quantities
__all__ = [
    "Campaign", "CaseRun", "ClothState", "ContactMeasures", "DeviceError", "EnergySums", "Error", "Fault", "FileError",
    "ForceError", "GarmentInfo", "Gradient", "HoldMeasures", "Imported", "ImportedPattern", "Measures", "MeshError",
    "NumericalError", "Pattern", "Repaired", "Result", "RunFunction", "SceneError", "SceneWarning", "ShapeError",
    "Simulation", "SlopedForce", "SmoothedGradient", "Snapshot", "StepReport", "Strain", "SweepTable", "Tape", "View",
    "Viewer", "campaign", "check", "export", "export_pattern", "fit", "gallery", "import_meshes", "import_pattern",
    "load_plan", "quantities", "read_pattern", "read_sweep", "render", "repair", "run", "run_plan", "save_mesh",
    "save_recording", "schema", "smoothed_gradient", "sweep", "view",
]
