"""Random numbers of one fit: the generators of which a process has only one, seeded for as long as the fit takes."""

import contextlib
import random
import threading

import numpy as np

_TURN = threading.RLock()


@contextlib.contextmanager
def generators_seeded(seed):
    """Seed the global generators of NumPy and of Python's `random` within the block; after it they are as before.

    What the block draws from them is then a function of the seed and of what the block does, whatever was drawn
    before, and whatever is drawn after does not depend on the block. Threads of a process share the generators, so they
    take turns: one block at a time.

    Parameters
    ----------
    seed : bytes
    """
    with _TURN:
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
