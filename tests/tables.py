"""Public facts, tables and refusals that many tests share."""

from contextlib import contextmanager

import numpy as np
import pytest

UNIT = {"bounds": (0, 1), "target_bounds": (0, 1)}


def uniform(n=60, d=3, seed=0):
    """Independent uniform columns, and a target like them."""
    rng = np.random.default_rng(seed)
    return rng.random((n, d)), rng.random(n)


@contextmanager
def refused(error, phrase, ledger=None):
    """What is called inside is refused in these words, and nothing is charged."""
    before = ledger and ledger.entries()
    with pytest.raises(error, match=phrase) as caught:
        yield caught
    assert (ledger and ledger.entries()) == before
