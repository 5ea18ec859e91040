"""How the package compiles its kernels: no GIL, no fastmath, cached on disk if possible.

A first call spends most of its time on compiling. A *kernel* is called from Python, always with the same argument
types, so that it is compiled only once; its work arrays are passed to it. numba optimises a function again in every
function that calls it, so kernels call only *leaves*: small functions that call no others.
"""

import contextlib
import hashlib
import threading
from contextvars import ContextVar
from functools import cache, update_wrapper
from pathlib import Path

import numba
from llvmlite import binding

from skdpmic._utils.texts import warn

_COMPILER_LOCK = threading.Lock()  # only one thread compiles at a time
_COMPARES_TIMES = numba.version_info.short < (0, 68)  # of source files, which unpacking a container image changes


def jit(kernel):
    """Compile `kernel` with numba when it is called first, or take its machine code from disk."""
    if numba.config.DISABLE_JIT:
        return kernel
    KERNELS.append(Kernel(kernel))
    return KERNELS[-1]


def leaf(function):
    """Compile `function` for calls from kernels only: a wrapper for calls from Python would take time to compile."""
    return numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


class Kernel:
    """A function compiled by its first call, for the types of its arguments. Disk errors never make a call fail.

    Attributes
    ----------
    folder : str or None
        Folder of its machine code; None if that is not kept, or the function has not been called.
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
            with _COMPILER_LOCK:
                self._prepare(tuple(map(numba.typeof, arguments)))
        return self._machine_code(*arguments)

    @property
    def is_compiled(self):
        return self._machine_code is not None and not self.is_read

    def _prepare(self, types):
        if self._machine_code is not None:  # by another thread
            return
        for _ in range(2):  # the first attempt removes a damaged file
            with contextlib.suppress(Exception):  # no folder, a full disk, or whatever such a file leads to
                return self._read_or_compile(types)
        compiled = numba.njit(nogil=True, no_cfunc_wrapper=True)(self.__wrapped__)
        compiled.compile(types)
        self._machine_code = compiled
        _warn_once()

    def _read_or_compile(self, types):
        compiled = numba.njit(nogil=True, cache=True, no_cfunc_wrapper=True)(self.__wrapped__)
        folder = compiled.stats.cache_path
        if _COMPARES_TIMES:  # a private name, but only in past versions; see tests/test_private_names.py
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


def sources():
    """The source files of kernels, and of everything that they use."""
    return sorted([Path(__file__), *_ROOT.joinpath("statistics").rglob("*.py")])


def _digest():
    """A digest of everything that machine code depends on: its sources, the processor, and numba's checks.

    numba checks only the time and size of one file, that of the called function. It would go on using old machine
    code of other files after an upgrade, or on another processor with the same home folder.
    """
    digest = hashlib.sha256()
    for path in sources():
        digest.update(path.relative_to(_ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    name, features = numba.config.CPU_NAME, numba.config.CPU_FEATURES  # set to compile for another processor
    name = binding.get_host_cpu_name() if name is None else name
    features = binding.get_host_cpu_features().flatten() if features is None else features
    digest.update(f"{name}{features} {numba.config.BOUNDSCHECK}".encode())
    return digest.hexdigest()[:16]


@cache
def _warn_once():
    with contextlib.suppress(Warning):  # as an error, it would end a fit that has been paid for
        warn(
            "skdpmic has no folder to keep its compiled functions in, so every process spends seconds on compiling "
            "them anew; set the environment variable NUMBA_CACHE_DIR to a folder on a disk that can be written and "
            "has some free MB.",
        )


_DIGEST = _digest()


_USES_NUMPY: ContextVar[bool] = ContextVar("uses_numpy", default=False)


@contextlib.contextmanager
def in_numpy(is_little):
    """Within this context, numpy replaces kernels that have a twin in numpy, if there is little work.

    Both give the same results. Compiling takes seconds, so numpy is faster for a small table that is scored once.
    Whether there is little work must follow from the shapes of the arguments: then the same call takes the same path,
    whatever the process did before.
    """
    before = _USES_NUMPY.set(is_little)
    try:
        yield
    finally:
        _USES_NUMPY.reset(before)


def uses_numpy():
    """Whether numpy replaces kernels."""
    return _USES_NUMPY.get()
