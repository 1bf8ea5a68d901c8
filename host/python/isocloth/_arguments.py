"""What arguments of bound functions say when they do not fit: one line, as all messages are.

The binding's own text lists signatures and types and says neither which argument is meant nor what was in it.
"""

import ast
import functools
import inspect
import numbers
import operator
import re

_NOT_FITTING = "incompatible function arguments"
_WORDS = {"int": f"an integer from {-2**31} to {2**31 - 1}",
          "float": "a number", "bool": "True or False", "str": "a text", "None": "None"}
_MOST = 60  # characters of a value


def shown(value):
    """A value for a message: short, in ASCII."""
    try:
        text = ascii(value)
    except Exception:
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= _MOST else text[:_MOST - 3] + "..."


def make_readable(module):
    """Wraps the functions and the methods of all classes of a module that nanobind has made."""
    for name, value in list(vars(module).items()):
        if isinstance(value, type):
            for method, function in list(vars(value).items()):
                wrapped = _wrapped(function, value.__name__ if method == "__init__" else f"{value.__name__}.{method}")
                if wrapped is not None:
                    is_static = type(function).__name__ == "nb_func"
                    setattr(value, method, staticmethod(wrapped) if is_static else wrapped)
        elif (wrapped := _wrapped(value, name)) is not None:
            setattr(module, name, wrapped)


def _wrapped(function, name):
    if type(function).__name__ not in ("nb_func", "nb_method"):
        return None
    name = name.replace("._", ".")  # what a method of Python is made of

    @functools.wraps(function)
    def call(*arguments, **options):
        try:
            return function(*arguments, **options)
        except TypeError as error:
            if _NOT_FITTING not in str(error):
                raise
        raise TypeError(_message(name, _signature(function), arguments, options))

    return call


def _signature(function):
    """That of the binding, which is not Python's where defaults are; annotations are texts."""
    text = re.sub(r"= \\\d+", "= ...", function.__nb_signature__[0][0].rsplit(" -> ", 1)[0])
    text = re.sub(r"ndarray\[[^]]*\]", "ndarray", text)
    arguments = ast.parse(text + ": ...").body[0].args
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    first_default = len(arguments.args) - len(arguments.defaults)
    parameters = [inspect.Parameter(a.arg, kind, annotation=ast.unparse(a.annotation) if a.annotation else "",
                                    default=None if i >= first_default else inspect.Parameter.empty)
                  for i, a in enumerate(arguments.args)]
    if arguments.kwarg:
        parameters.append(inspect.Parameter(arguments.kwarg.arg, inspect.Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


def _message(name, signature, arguments, options):
    names = [p.name if p.default is p.empty else f"{p.name}=..." for p in signature.parameters.values()
             if p.name != "self" and p.kind is not p.VAR_KEYWORD]
    expected = f"{name}({', '.join(names)})"
    try:
        bound = signature.bind(*arguments, **options)
    except TypeError as error:
        return f"{name}: {error}, expected {expected}"
    for key, value in bound.arguments.items():
        parameter = signature.parameters[key]
        if key != "self" and parameter.kind is not parameter.VAR_KEYWORD and not _fits(value, parameter.annotation):
            return f"{name}: {key}: found {shown(value)}, expected {_words(parameter.annotation)}"
    found = ", ".join(shown(value) for key, value in bound.arguments.items() if key != "self")
    return f"{name}: found {found}, expected {expected}"


def _words(annotation):
    return " or ".join(_WORDS.get(part, re.sub(r"collections\.abc\.|numpy\.typing\.|_core\.", "", part))
                       for part in annotation.split(" | "))


def _fits(value, annotation):
    if "[" not in annotation and " | " in annotation:
        return any(_fits(value, part) for part in annotation.split(" | "))
    if annotation == "int":
        try:
            return -2**31 <= operator.index(value) < 2**31
        except (TypeError, ValueError):  # arrays of numpy have an index that raises
            return False
    if annotation == "float":
        return isinstance(value, numbers.Real) and not (isinstance(value, int) and abs(value) > 2**1023)
    if annotation == "str":
        return isinstance(value, str)
    if annotation == "bool":
        return isinstance(value, bool)
    if annotation == "None":
        return value is None
    if annotation.startswith("collections.abc.Sequence["):
        inner = annotation[len("collections.abc.Sequence["):-1]
        return isinstance(value, (list, tuple)) and all(_fits(part, inner) for part in value)
    if annotation.startswith("isocloth."):
        return any(kind.__name__ == annotation.split(".")[-1] for kind in type(value).__mro__)
    return value is not None
