"""Random numbers of one fit: the global generators of a process, seeded for the duration of the fit."""

import contextlib
import random
import threading

import numpy as np

_GENERATORS_LOCK = threading.RLock()


@contextlib.contextmanager
def generators_seeded(seed):
    """Seed the global generators of NumPy and of Python's `random` within the block, and restore them afterwards.

    Draws within the block depend only on the seed and the block, not on earlier draws, and later draws do not depend on
    the block. Threads of a process share the generators, so only one block runs at a time.

    Parameters
    ----------
    seed : bytes
    """
    with _GENERATORS_LOCK:
        numpys, pythons_state = np.random.get_bit_generator(), random.getstate()
        numpys_state = np.random.get_state(legacy=False)
        try:
            np.random.set_bit_generator(np.random.MT19937(int.from_bytes(seed, "little")))
            random.seed(seed)
            yield
        finally:
            np.random.set_bit_generator(numpys)
            np.random.set_state(numpys_state)
            random.setstate(pythons_state)
