"""A pytest plugin that imitates another processor, ``-p tests.other_processors``.

Eigenvectors and singular vectors have arbitrary signs and, for equal values, an arbitrary basis; unstable sorts put
equal numbers in an arbitrary order. All this depends on the processor's instructions, so no test may depend on it.
Here, as on a real processor, it depends on the input alone.
"""

import zlib

import numpy as np


def _random(values):
    return np.random.default_rng([3, zlib.crc32(np.ascontiguousarray(values).tobytes())])


def _turned(values, vectors, random):
    """Other eigenvectors of these values, in columns, that are equally correct."""
    vectors = vectors * random.choice([-1.0, 1.0], size=len(values))
    close = 1e-12 * np.abs(values).max(initial=0.0)
    for same in np.split(np.arange(len(values)), 1 + np.flatnonzero(np.abs(np.diff(values)) > close)):
        if len(same) > 1:
            vectors[:, same] = vectors[:, same] @ np.linalg.qr(random.normal(size=(len(same), len(same))))[0]
    return vectors


def _other_eigh(eigh):
    def other(a, UPLO="L"):
        found = eigh(a, UPLO)
        if np.ndim(a) != 2:
            return found
        return type(found)(found[0], _turned(*found, _random(a)))

    return other


def _other_svd(svd):
    def other(a, full_matrices=True, compute_uv=True, hermitian=False):
        found = svd(a, full_matrices, compute_uv, hermitian)
        if not compute_uv or np.ndim(a) != 2 or not np.array_equal(a, np.transpose(a)) or (found[1] <= 0).any():
            return found
        right = _turned(found[1], found[2].T, _random(a))
        return type(found)(a @ right / found[1], found[1], right.T)  # for covariances, with which samples are drawn

    return other


def _other_order(sort):
    def other(a, *position, axis=-1, **options):
        if type(a) is not np.ndarray or axis is None or options.get("kind") in ("stable", "mergesort") or a.ndim == 0:
            return sort(a, *position, axis=axis, **options)
        places = _random(a).permutation(a.shape[axis]) if a.dtype != object else np.arange(a.shape[axis])
        return places[sort(a.take(places, axis=axis), *position, axis=axis, **options)]

    return other


np.linalg.eigh, np.linalg.svd = _other_eigh(np.linalg.eigh), _other_svd(np.linalg.svd)
np.argsort, np.argpartition = _other_order(np.argsort), _other_order(np.argpartition)
