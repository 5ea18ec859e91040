"""How the package compiles its kernels: no GIL, no fastmath, kept on disk where a disk can be written.

Most of the time of a first call goes into compiling. A *kernel* is called from Python, with arguments of one type each,
so that it is compiled once; all arrays that it works in are given to it. numba optimises a function once more with
every function that calls it, so a kernel calls nothing but *leaves*: small functions that call no other.
"""

import contextlib
import hashlib
import threading
from functools import cache, update_wrapper
from pathlib import Path

import numba
from llvmlite import binding

from skdpmic._utils.errors import warn

_ONE_THREAD = threading.Lock()  # only one thread compiles at a time
_COMPARES_TIMES = numba.version_info.short < (0, 68)  # of source files, which unpacking a container image changes


def jit(kernel):
    """Compile `kernel` with numba when it is called first, or take its machine code from disk."""
    if numba.config.DISABLE_JIT:
        return kernel
    KERNELS.append(Kernel(kernel))
    return KERNELS[-1]


def leaf(function):
    """Compile `function` for kernels to call, and for them only: being called from Python costs time to compile."""
    return numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


class Kernel:
    """A function that is compiled by its first call, for the types of its arguments. No error of the disk ends a call.

    Attributes
    ----------
    folder : str or None
        Where its machine code is kept; None if it is not, or has not been called.
    is_read : bool
        Whether its machine code was read from disk.
    is_compiled : bool
        Whether it was compiled in this process.
    """

    def __init__(self, function):
        update_wrapper(self, function)
        function.__qualname__ = self._file_name = f"{function.__qualname__}_{_DIGEST}"  # numba names its files by it
        self._machine_code, self.folder, self.is_read = None, None, False

    def __call__(self, *arguments):
        if self._machine_code is None:
            with _ONE_THREAD:
                self._prepare(tuple(map(numba.typeof, arguments)))
        return self._machine_code(*arguments)

    @property
    def is_compiled(self):
        return self._machine_code is not None and not self.is_read

    def _prepare(self, types):
        if self._machine_code is not None:  # by another thread
            return
        with contextlib.suppress(Exception):  # no folder, a full disk, or whatever a damaged file leads to
            self._read_or_compile(types)
            return
        with contextlib.suppress(Exception):  # which has been removed by now
            self._read_or_compile(types)
            return
        compiled = numba.njit(nogil=True, no_cfunc_wrapper=True)(self.__wrapped__)
        compiled.compile(types)
        self._machine_code = compiled
        _warn_once()

    def _read_or_compile(self, types):
        compiled = numba.njit(nogil=True, cache=True, no_cfunc_wrapper=True)(self.__wrapped__)
        folder = compiled.stats.cache_path
        if _COMPARES_TIMES:  # a private name, but of versions that no longer change; tests/test_private_names.py
            compiled._cache._cache_file._source_stamp = _DIGEST
        try:
            compiled.compile(types)
        except Exception:
            for file in Path(folder).glob(f"*{self._file_name}*"):
                file.unlink(missing_ok=True)
            raise
        self.folder, self.is_read, self._machine_code = folder, bool(compiled.stats.cache_hits), compiled


KERNELS: list[Kernel] = []  # of the modules that have been imported; see skdpmic.compile
_ROOT = Path(__file__).parents[1]
_OF_TABLES = ("table/domains.py", "table/domains.py", "table/normal_form", "table/values.py")
_SEEN_BY_KERNELS = ("_utils", "statistics", *_OF_TABLES, "correlation")  # and nothing else is


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


@cache
def _warn_once():
    with contextlib.suppress(Warning):  # made an error by a filter, it would end a fit that has been paid for
        warn(
            "skdpmic has no folder to keep its compiled functions in, so every process spends seconds on compiling "
            "them anew; set the environment variable NUMBA_CACHE_DIR to a folder on a disk that can be written and "
            "has some free MB.",
        )


_DIGEST = _digest()
