"""How the package compiles its kernels: no GIL, no fastmath, kept on disk where a disk can be written.

Most of the time of a first call goes into compiling. A *kernel* is called from Python, with arguments of one type each,
so that it is compiled once; all arrays that it works in are given to it. numba optimises a function once more with
every function that calls it, so a kernel calls nothing but *leaves*: small functions that call no other.
"""

import contextlib
import hashlib
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding

KERNELS: list[Any] = []  # of the modules that have been imported; see skdpmic.compile


def jit(kernel):
    """Compile `kernel` with numba when it is called first, or take its machine code from disk."""
    name = kernel.__qualname__
    try:
        kernel.__qualname__ = f"{name}_{_DIGEST}"  # numba names its files by it
        dispatcher = numba.njit(nogil=True, cache=True, no_cfunc_wrapper=True)(kernel)
    except (OSError, RuntimeError):  # no folder to keep machine code in
        dispatcher = numba.njit(nogil=True, no_cfunc_wrapper=True)(kernel)
    finally:
        kernel.__qualname__ = name
    if not numba.config.DISABLE_JIT:
        dispatcher._cache = _Cache(dispatcher._cache)
        KERNELS.append(dispatcher)
    return dispatcher


def leaf(function):
    """Compile `function` for kernels to call, and for them only: being called from Python costs time to compile."""
    return numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


_ROOT = Path(__file__).parents[1]
_SEEN_BY_KERNELS = ("_utils", "statistics", "table/nominal.py", "correlation")  # and nothing else is


def sources():
    """The files that kernels, and whatever their modules import, are written in."""
    places = [_ROOT / name for name in _SEEN_BY_KERNELS]
    return sorted(path for place in places for path in ([place] if place.is_file() else place.rglob("*.py")))


def _digest():
    """Of all that machine code depends on: every line that it may come from, the processor, and checks of numba's.

    By itself, numba looks at the time and size of one file, that of the function that is called. It would go on using
    old machine code of another file's functions after an upgrade, or on another processor with the same home folder.
    """
    digest = hashlib.sha256()
    for path in sources():
        digest.update(path.relative_to(_ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    name, features = numba.config.CPU_NAME, numba.config.CPU_FEATURES  # where machine code is made for other processors
    name = binding.get_host_cpu_name() if name is None else name
    features = binding.get_host_cpu_features().flatten() if features is None else features
    digest.update(f"{name}{features} {numba.config.BOUNDSCHECK}".encode())
    return digest.hexdigest()[:16]


class _Cache:
    """numba's cache of one kernel, without which a call still works: no error of the disk may end a fit.

    `is_kept` tells whether machine code was read from disk, or is there now.
    """

    def __init__(self, cache):
        self._cache = cache
        self.is_kept = False
        if cache.cache_path is not None:
            # Older versions of numba look at the time of the file, which unpacking an image of a container changes.
            cache._cache_file._source_stamp = _DIGEST

    def __getattr__(self, name):
        return getattr(self._cache, name)

    def load_overload(self, *arguments):
        try:
            found = self._cache.load_overload(*arguments)
        except Exception:  # whatever a damaged file leads to
            return None
        self.is_kept |= found is not None
        return found

    def save_overload(self, *arguments):
        try:
            self._cache.save_overload(*arguments)
            self.is_kept = self._cache.cache_path is not None
        except Exception:
            self.is_kept = False
        if not self.is_kept:
            _warn_once()


@cache
def _warn_once():
    with contextlib.suppress(Warning):  # made an error by a filter, it would end a fit that has been paid for
        warnings.warn(
            "skdpmic has no folder to keep its compiled functions in, so every process spends seconds on compiling "
            "them anew; set the environment variable NUMBA_CACHE_DIR to a folder on a disk that can be written and "
            "has some free MB.",
            stacklevel=2,
        )


_DIGEST = _digest()
