"""The check that all features of a sketch have counted the same records."""

import numpy as np

from skdpmic.table.targets import WEIGHT_UNITS

DAMAGED = "the sketch is damaged: its features have not counted the same records."


def check_undamaged(sketch):
    """Raise unless every feature has counted every record or its weight; an interrupted update may prevent that."""
    counted = np.add.reduceat(sketch._counts, sketch._starts[:-1], dtype=np.int64)
    n_tables = np.array([sketch._grids.n_tables(domain) for domain in sketch.domains])
    in_all = sketch.n_samples if sketch.max_weight is None else int(counted[0])
    is_possible = 0 <= sketch.n_samples <= sketch._most and in_all <= sketch.n_samples * WEIGHT_UNITS
    if sketch._is_torn or not is_possible or not (counted == in_all * n_tables).all():
        raise ValueError(DAMAGED)
