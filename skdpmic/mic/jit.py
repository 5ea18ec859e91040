"""How the package compiles its kernels: no GIL, no fastmath, cached on disk where a disk can be written."""

import numba


def jit(function):
    """Compile `function` with numba, keeping the machine code on disk if there is a place for it.

    numba refuses to decorate a cached function when neither the package's folder nor the user's cache
    folder can be written (a read-only container, say). The package must still import there.
    """
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:
        return numba.njit(nogil=True)(function)
