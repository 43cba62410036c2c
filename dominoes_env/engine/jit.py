"""The one ``@jit`` of the project: its options, and a cache that never answers for edited sources.

Numba's own cache looks at the file of the decorated function alone, so an edit to a callee in another file leaves
its cached callers answering as before. Here every cached function is stamped with a digest of the whole engine and
of the package that it lives in; any edit to either recompiles.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import caching, config, types
from numba.extending import intrinsic, overload
from numba.np.numpy_support import carray
from numpy.typing import NDArray

__all__ = ["IS_JIT_ENABLED", "array_at", "jit", "source_digest"]

Function = TypeVar("Function", bound=Callable[..., Any])

IS_JIT_ENABLED: bool = not vars(config)["DISABLE_JIT"]

if not IS_JIT_ENABLED:
    np.seterr(over="ignore")  # uint64 arithmetic wraps, as it does in machine code

_ENGINE = Path(__file__).resolve().parent
_announced = False


@cache
def source_digest(package: str) -> str:  # pragma: no cover - runs only with the JIT on
    """SHA-256 (hex) over the engine's sources and those of the package folder ``package``."""
    digest = hashlib.sha256(numba.__version__.encode())
    for folder in sorted({_ENGINE, Path(package)}):
        for path in sorted(folder.rglob("*.py")):
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _top_package(file: str) -> str:  # pragma: no cover - runs only with the JIT on
    folder = Path(file).resolve().parent
    if _ENGINE in (folder, *folder.parents):
        return str(_ENGINE)
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return str(folder)


class _Digested:
    """Mixed in before one of Numba's locators: the stamp is the digest of all sources that can matter."""

    _py_file: str

    def get_source_stamp(self) -> str:  # pragma: no cover - runs only with the JIT on
        return source_digest(_top_package(self._py_file))


class _UserProvided(_Digested, caching.UserProvidedCacheLocator):
    pass


class _InTree(_Digested, caching.InTreeCacheLocator):
    pass


class _UserWide(_Digested, caching.UserWideCacheLocator):
    pass


class _CacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = [_UserProvided, _InTree, _UserWide]  # noqa: RUF012


class _Cache(caching.FunctionCache):
    _impl_class = _CacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:  # pragma: no cover - runs only with the JIT on
        loaded = super().load_overload(sig, target_context)
        if loaded is None:
            _announce()
        return loaded


def _announce() -> None:  # pragma: no cover - runs only with the JIT on
    """Say once per process that compiling is why nothing happens; DOMINOES_QUIET=1 silences it."""
    global _announced
    if not _announced and not os.environ.get("DOMINOES_QUIET"):
        print(
            "dominoes_env: compiling the engine for this machine (once; later runs read a cache) ...", file=sys.stderr
        )
    _announced = True


def jit(function: Function | None = None, *, inline: bool = False, borrows: bool = False) -> Any:
    """Compile ``function`` to machine code without the GIL, cached on disk by a digest of the sources.

    With ``NUMBA_DISABLE_JIT=1`` the function is returned as it is and runs as plain Python.

    Args:
        function: what to compile; without it a decorator is returned.
        inline: have its machine code copied into every caller; for the few small functions where that was measured
            to pay, since it lengthens compiling.
        borrows: leave the reference counts of arrays alone, which costs a step of the game more than its rules do
            where arrays are handed on. For functions that take arrays, and neither make any nor call what makes any:
            Numba refuses the first to compile, and the second would leak.
    """
    if function is None:
        return partial(jit, inline=inline, borrows=borrows)
    options: Any = {"nogil": True, "error_model": "numpy", "forceinline": inline, "_nrt": not borrows}
    compiled: Any = numba.njit(**options)(function)
    if IS_JIT_ENABLED:  # pragma: no cover - runs only with the JIT on
        with suppress(RuntimeError):  # no writable place for a cache: compile in every process
            compiled._cache = _Cache(function)
    return compiled


def array_at(address: int, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """The array in C order that lies at ``address``, live; for compiled functions that are called once a step.

    Handing an array to one from Python takes about 0.1 microseconds, one of records 0.25, and a number next to
    nothing. Nothing is checked: who gives the address keeps the memory alive.
    """
    dtype = np.dtype(dtype)
    memory = ctypes.c_byte * (int(np.prod(shape)) * dtype.itemsize)
    return np.frombuffer(memory.from_address(int(address)), dtype).reshape(shape)


@overload(array_at)
def _array_at(address: Any, shape: Any, dtype: Any) -> Any:  # pragma: no cover - runs only with the JIT on
    def at(address: Any, shape: Any, dtype: Any) -> Any:
        return carray(_pointer(address), shape, dtype)  # type: ignore[call-arg]

    return at


@intrinsic
def _pointer(typing: Any, address: Any) -> Any:  # pragma: no cover - runs only with the JIT on
    def cast(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.intp), cast
