"""What can go wrong. Each message is one line: file, key or index, what was found and what was expected."""


class Error(Exception):
    """Base of all errors of the engine."""


class SceneError(Error, ValueError):
    """A scene that cannot be simulated."""


class MeshError(Error, ValueError):
    """A mesh that is not an orientable surface with faces of positive area."""


class ShapeError(Error, ValueError):
    """Arrays, indices or names that do not belong together."""


class DeviceError(Error, RuntimeError):
    """A backend or device that is absent or failed."""


class NumericalError(Error, ArithmeticError):
    """A computation that left the finite numbers."""


class ForceError(Error, ValueError):
    """What a force returned that is no force."""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


class SceneWarning(UserWarning):
    """What a scene says that was likely meant otherwise."""
