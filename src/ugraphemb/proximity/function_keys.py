"""A key of a user's function, as JSON: from its code and all that it refers to, or from a version that the user gives.

Stored values of a function are found by this key, so two functions must not share one. The name is not enough: all
lambdas in one scope have the same name.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import re
import sys
import sysconfig
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ugraphemb.errors import TableError

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), range)
_INSTALLED = tuple(str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "purelib", "platlib"))


class _UnknownError(Exception):
    """Something whose content cannot be determined."""


def function_key(function: Callable[..., Any], version: str | None) -> dict[str, Any]:
    """Its version; or its name and a digest of its code, of what it encloses and of the globals that it uses.

    The digest is None where it cannot be determined: objects with state, functions of modules that are not installed.
    Functions of installed packages count by their name. Another release of Python compiles to other code.
    """
    if version is not None:
        return {"version": version}
    name = f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', type(function).__qualname__)}"
    return {"function": name, "code": content_digest(function)}


def content_digest(value: Any) -> str | None:
    """A digest of a function or a plain value, the same in every process; None where it cannot be determined."""
    try:
        text = repr(_content(value, []))
    except (_UnknownError, RecursionError):
        return None
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def refuse_unidentified(settings: Any, where: str) -> None:
    """Raises a TableError if a function among a table's settings is known neither by its code nor by a version."""
    if not isinstance(settings, Mapping):
        return
    if "function" in settings and settings.get("code") is None:
        raise TableError(
            f"{where} cannot distinguish the function {settings['function']} from others of its name: what it "
            "refers to is not known by its code; give version='1', and another one whenever the function changes"
        )
    for part in settings.values():
        refuse_unidentified(part, where)


def _content(value: Any, above: list[Any]) -> Any:
    """Nested tuples of strings that differ where values do; `above` are the functions that lead here."""
    kind = type(value).__name__
    if isinstance(value, _PLAIN):
        return kind, repr(value)
    if isinstance(value, tuple | list):
        return kind, *(_content(part, above) for part in value)
    if isinstance(value, set | frozenset):
        return kind, *sorted(map(repr, (_content(part, above) for part in value)))
    if isinstance(value, Mapping):
        return _mapping(value, above)
    if isinstance(value, np.ndarray | np.generic):
        return _array(np.asarray(value), above)
    if isinstance(value, re.Pattern):
        return kind, repr(value.pattern), value.flags
    if isinstance(value, functools.partial):
        return kind, *(_content(part, above) for part in (value.func, value.args, value.keywords))
    if isinstance(value, types.MethodType):
        return kind, _content(value.__func__, above), _content(value.__self__, above)
    if isinstance(value, types.CodeType):
        return _code(value, above)
    if isinstance(value, types.FunctionType) and not _is_installed(value.__module__):
        return _function(value, above)
    return _by_name(value, above)


def _by_name(value: Any, above: list[Any]) -> Any:
    """Modules, classes and functions of installed packages."""
    if isinstance(value, types.ModuleType):
        if _is_installed(value.__name__):
            return "module", value.__name__
    elif isinstance(value, type | types.FunctionType | types.BuiltinFunctionType | np.ufunc):
        module = getattr(value, "__module__", None) or "builtins"
        own = getattr(value, "__self__", None)
        if own is not None and not isinstance(own, types.ModuleType):  # a method of an object, such as a dict's get
            return "method", value.__name__, _content(own, above)
        if isinstance(value, np.ufunc) or _is_installed(module):
            return "name", module, getattr(value, "__qualname__", value.__name__)
    raise _UnknownError


def _mapping(value: Mapping[Any, Any], above: list[Any]) -> Any:
    if type(value).__name__ not in ("dict", "defaultdict", "OrderedDict", "Counter", "mappingproxy"):
        raise _UnknownError
    factory = _content(getattr(value, "default_factory", None), above)
    pairs = (repr((_content(key, above), _content(entry, above))) for key, entry in value.items())
    return type(value).__name__, factory, *sorted(pairs)


def _array(value: np.ndarray[Any, Any], above: list[Any]) -> Any:
    if value.dtype.hasobject:
        return "array", value.shape, _content(value.tolist(), above)
    return "array", value.dtype.str, value.shape, hashlib.blake2b(value.tobytes(), digest_size=16).hexdigest()


def _function(value: types.FunctionType, above: list[Any]) -> Any:
    if value in above:  # it calls itself, or one that calls it
        return "recursion", above.index(value)
    above = [*above, value]
    try:
        enclosed = [cell.cell_contents for cell in value.__closure__ or ()]
    except ValueError:  # not assigned yet
        raise _UnknownError from None
    used = {name: value.__globals__[name] for name in _globals_of(value.__code__) if name in value.__globals__}
    parts = (value.__defaults__, value.__kwdefaults__, enclosed, used)
    return "function", _code(value.__code__, above), *(_content(part, above) for part in parts)


def _code(code: types.CodeType, above: list[Any]) -> Any:
    shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    handlers = getattr(code, "co_exceptiontable", b"")
    return "code", shape, names, code.co_code.hex(), handlers.hex(), _content(code.co_consts, above)


def _globals_of(code: types.CodeType) -> list[str]:
    """Names that the code, or code inside of it, looks up among the globals of its module."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    inner = [name for part in code.co_consts if isinstance(part, types.CodeType) for name in _globals_of(part)]
    return sorted(names.union(inner))


def _is_installed(module: str | None) -> bool:
    """Whether a module is of Python or of an installed package, and changes with its release only."""
    name = (module or "").partition(".")[0]
    if name in sys.builtin_module_names or name in sys.stdlib_module_names or name == "ugraphemb":
        return name != "__main__"
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is not None and str(Path(file).resolve()).startswith(_INSTALLED)
