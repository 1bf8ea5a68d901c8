"""Modules of other packages, each imported where it is needed."""

import importlib

from .errors import Error


def library(module, package):
    """A module, by the package that brings it. Raises Error where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise Error(f"found no {package}, which this needs: pip install {package}") from None
