"""Exact samplers of discrete noise (Canonne, Kamath and Steinke 2020, Algorithms 1 to 3; ``docs/theory/k_norm.md``).

Only integers and comparisons of integers are used, never a floating-point logarithm or exponential, so samples follow
their distribution exactly, given uniform random bits. All samplers make many draws at a time, as int64 where sums of
them cannot overflow, otherwise as Python integers, which take ten times the memory.
"""

import math
import os
from fractions import Fraction

import numpy as np

from skdpmic._utils.arguments import is_whole
from skdpmic._utils.texts import quoted

_LIMIT = 2**60  # of integers kept as int64: sums of several of them cannot overflow
_BLOCK = 2**14  # draws at a time


def entropy_source(random_state=None):
    """A function that returns a given number of random bytes.

    Parameters
    ----------
    random_state : None, int or RandomState
        None uses the operating system's entropy. Anything else is a reproducible source, for tests only: reproducible
        noise gives no privacy.

    Raises
    ------
    ValueError
        If `random_state` is invalid.
    """
    if random_state is None:
        return os.urandom
    if isinstance(random_state, np.random.RandomState):
        return random_state.bytes
    if not is_whole(random_state) or not 0 <= random_state < 2**32:
        raise ValueError(
            "random_state must be None, an int in [0, 2**32 - 1] or a RandomState instance, got "
            f"{quoted(random_state)}."
        )
    return np.random.RandomState(random_state).bytes


def random_keys(n, random_bytes):
    """Keys that put equal values of x, and of y, in random order: two arrays of shape (n,).

    Any keys independent of the data preserve the guarantee. The same order for both axes would make two constant
    columns look dependent.
    """
    return np.frombuffer(random_bytes(16 * n), dtype=np.uint64).reshape(2, n)


def discrete_laplace(scale, size, random_bytes):
    """Integers with ``P(z)`` proportional to ``exp(-|z| / scale)``.

    Parameters
    ----------
    scale : int or Fraction, above 0
    size : int
    random_bytes : callable
        From :func:`entropy_source`.

    Returns
    -------
    ndarray of shape (size,)
        int64, or Python integers if one of them is 2**60 or more.
    """

    def with_sign(size):
        magnitude = geometric(scale, size, random_bytes)
        negative = uniform_below(2, size, random_bytes) == 0
        # Minus zero is rejected; otherwise zero would be drawn twice as often as it should.
        return np.where(negative, -magnitude, magnitude), ~(negative & (magnitude == 0))

    return _in_blocks(lambda size: _until_kept(with_sign, size), size)


def laplace_deviation(scale):
    """Standard deviation of :func:`discrete_laplace`: ``1 / (sqrt(2) sinh(1 / (2 scale)))``; 0 for a scale of 0.

    It is published, so it is not computed by numpy, whose exponentials differ between processors in the last bit.
    """
    if scale == 0:
        return 0.0
    half = 0.5 / float(scale)
    return math.sqrt(2) * math.exp(-half) / -math.expm1(-2 * half)


def laplace_scale(deviation):
    """The scale at which :func:`laplace_deviation` is this number above 0."""
    return 0.5 / math.asinh(math.sqrt(0.5) / deviation)


def geometric(scale, size, random_bytes):
    """Integers z >= 0 with ``P(z)`` proportional to ``exp(-z / scale)``: one-sided geometric noise.

    With scale = t / s, ``u + t v`` has this distribution for scale t if u < t is uniform, kept with probability exp(-u
    / t), and v counts successes of probability 1/e; dividing by s gives scale t / s.

    Parameters
    ----------
    scale : int or Fraction, above 0
    size : int
    random_bytes : callable
        From :func:`entropy_source`.

    Returns
    -------
    ndarray of shape (size,)
        int64, or Python integers if one of them is 2**60 or more.
    """
    t, s = Fraction(scale).as_integer_ratio()
    if t <= 0:
        raise ValueError(f"scale must be > 0, got {scale}.")

    def remainders(size):
        candidates = uniform_below(t, size, random_bytes)
        return candidates, _bernoulli_exp(candidates, t, random_bytes)

    def block(size):
        u = _until_kept(remainders, size)
        v = np.zeros(size, dtype=np.int64)
        running = np.arange(size)
        while len(running):
            running = running[_bernoulli_exp(np.ones(len(running), dtype=np.int64), 1, random_bytes)]
            v[running] += 1
        if max(t * (int(v.max(initial=0)) + 1), s) > _LIMIT:
            v = v.astype(object)
        return (u + t * v) // s

    return _in_blocks(block, size)


def discrete_gaussian(sigma2, size, random_bytes):
    """Integers with ``P(z)`` proportional to ``exp(-z**2 / (2 sigma2))``.

    Discrete Laplace integers y of scale t, the next integer above sigma, are kept with probability ``exp(-(|y| - sigma2
    / t)**2 / (2 sigma2))``, about three in four.

    Parameters
    ----------
    sigma2 : int or Fraction, above 0
        Variance of the continuous distribution; that of the discrete one is slightly smaller.
    size : int
    random_bytes : callable
        From :func:`entropy_source`.

    Returns
    -------
    ndarray of shape (size,)
        int64, or Python integers if one of them is 2**60 or more.
    """
    p, q = Fraction(sigma2).as_integer_ratio()
    if p <= 0:
        raise ValueError(f"sigma2 must be > 0, got {sigma2}.")
    t = math.isqrt(p // q) + 1

    def nearly_gaussian(size):
        candidates = discrete_laplace(t, size, random_bytes)
        squares = (np.abs(candidates.astype(object)) * (t * q) - p) ** 2
        return candidates, _bernoulli_exp_any(squares, 2 * p * q * t**2, random_bytes)

    return _in_blocks(lambda size: _until_kept(nearly_gaussian, size), size)


def rounded_gaussian(sigma2, size, random_bytes):
    """Integers nearest to normal numbers of this variance: ``P(z) = Phi((z + 1/2) / sigma) - Phi((z - 1/2) / sigma)``.

    Half of a normal number is in the cell from h / 2 to (h + 1) / 2 with a probability proportional to the integral of
    ``exp(-(h + u)**2 / (8 sigma2))`` over u in [0, 1]. So h is drawn with ``exp(-h**2 / (8 sigma2))``, and kept with the
    mean of ``exp(-(2 h u + u**2) / (8 sigma2))`` over a uniform u: that is the probability that u lies below each of a
    Poisson number of other uniform numbers, of mean ``2 h / (8 sigma2)``, and below one of each of a Poisson number of
    pairs, of mean ``1 / (8 sigma2)``. Only the order of these numbers matters, so none of them is drawn.

    Parameters
    ----------
    sigma2 : int or Fraction, above 0
    size : int
    random_bytes : callable
        From :func:`entropy_source`.

    Returns
    -------
    ndarray of shape (size,)
        int64, or Python integers if one of them is 2**60 or more.
    """
    p, q = Fraction(8 * Fraction(sigma2)).as_integer_ratio()

    def signed(size):
        cells = _half_gaussian(4 * Fraction(sigma2), size, random_bytes)
        exact = cells.astype(object) if int(cells.max(initial=0)) * 2 * q > _LIMIT or p > _LIMIT else cells
        singles = _poisson(2 * q * exact, p, random_bytes)
        pairs = _poisson(np.full(size, q, dtype=exact.dtype), p, random_bytes)
        kept = _is_least(singles, pairs, random_bytes)
        negative = uniform_below(2, size, random_bytes) == 0
        nearest = (cells + 1) // 2
        return np.where(negative, -nearest, nearest), kept

    return _in_blocks(lambda size: _until_kept(signed, size), size)


def _half_gaussian(sigma2, size, random_bytes):
    """Integers z >= 0 with ``P(z)`` proportional to ``exp(-z**2 / (2 sigma2))``, from geometric ones of scale t.

    With t the next integer above sigma, z is kept with probability ``exp(-(z - sigma2 / t)**2 / (2 sigma2))``.
    """
    p, q = Fraction(sigma2).as_integer_ratio()
    t = math.isqrt(p // q) + 1

    def nearly(size):
        candidates = geometric(t, size, random_bytes)
        squares = (candidates.astype(object) * (t * q) - p) ** 2
        return candidates, _bernoulli_exp_any(squares, 2 * p * q * t**2, random_bytes)

    return _until_kept(nearly, size)


def _is_least(singles, pairs, random_bytes):
    """Whether one of 1 + singles + 2 pairs numbers in random order is below all singles, and below one of each pair.

    The least of all numbers is each of them with the same chance. If it is in a pair, the other one becomes a single.
    """
    is_least = np.ones(len(singles), dtype=bool)
    running = np.flatnonzero(singles + pairs)
    while len(running):
        n_singles, n_pairs = singles[running], pairs[running]
        n_numbers, least = 1 + n_singles + 2 * n_pairs, np.zeros(len(running), dtype=np.int64)
        for bound in np.unique(n_numbers):
            among = n_numbers == bound
            least[among] = uniform_below(int(bound), np.count_nonzero(among), random_bytes)
        is_least[running[(least > 0) & (least <= n_singles)]] = False
        running = running[least > n_singles]
        pairs[running] -= 1
        singles[running] += 1
    return is_least


def _poisson(numerators, denominator, random_bytes):
    """Poisson numbers of mean ``numerator / denominator`` each: thinned ones of mean 1."""
    counts, left = np.zeros(len(numerators), dtype=np.int64), numerators.copy()
    running = np.flatnonzero(left > 0)
    while len(running):
        share = np.minimum(left[running], denominator)
        owners = np.repeat(np.arange(len(running)), _poisson_of_one(len(running), random_bytes))
        hits = owners[uniform_below(denominator, len(owners), random_bytes) < share[owners]]
        counts[running] += np.bincount(hits, minlength=len(running))
        left[running] -= share
        running = running[left[running] > 0]
    return counts


def _poisson_of_one(size, random_bytes):
    """Integers with ``P(n) = exp(-1) / n!``: ``2**-(n + 1)``, kept with probability ``2**(n - 1) / n!``."""

    def nearly(size):
        numbers, running = np.zeros(size, dtype=np.int64), np.arange(size)
        while len(running):
            running = running[uniform_below(2, len(running), random_bytes) == 1]
            numbers[running] += 1
        kept = (numbers > 0) | (uniform_below(2, size, random_bytes) == 0)
        factor = 3
        while len(running := np.flatnonzero(kept & (numbers >= factor))):
            kept[running] = uniform_below(factor, len(running), random_bytes) < 2
            factor += 1
        return numbers, kept

    return _until_kept(nearly, size)


def clamped(noisy):
    """Noisy counts as int64: the noise of a tiny budget may not fit, and a count beyond 2**62 says nothing."""
    return np.clip(noisy, -(2**62), 2**62).astype(np.int64)


def with_noise(draw, scale, counts, random_bytes):
    """Integers with independent noise on each, zeros included: :func:`clamped`, but not at 0.

    Parameters
    ----------
    draw : callable
        :func:`discrete_laplace` or :func:`discrete_gaussian`.
    scale : int or Fraction
        Of the noise, as `draw` takes it; 0 for none.
    counts : int64 ndarray
    random_bytes : callable
        From :func:`entropy_source`.

    Returns
    -------
    int64 ndarray of the same shape
    """
    return counts if scale == 0 else clamped(counts + draw(scale, counts.size, random_bytes).reshape(counts.shape))


def discrete_k_norm(scale, size, random_bytes):
    """One vector of integers with ``P(z)`` proportional to ``exp(-max(abs(z)) / scale)``.

    It is uniform in a cube of random size: a cube of half-width m contains z if m >= max(abs(z)), so the distribution
    above is the mixture of uniform distributions with weights ``(2 m + 1)**size exp(-m / scale)``.

    Parameters
    ----------
    scale : int, above 0
    size : int, at least 1
        Length of the vector.
    random_bytes : callable
        From :func:`entropy_source`.

    Returns
    -------
    ndarray of shape (size,)
        int64, or Python integers if one of them is 2**60 or more.
    """
    half_width = _half_width(scale, size, random_bytes)
    draws = uniform_below(2 * half_width + 1, size, random_bytes)
    return draws.astype(np.int64 if half_width < _LIMIT else object) - half_width


def _half_width(scale, size, random_bytes):
    """An integer m >= 0 with ``P(m)`` proportional to ``(2 m + 1)**size exp(-m / scale)``.

    The sum g of size + 1 geometric numbers of scale 2 L ``scale`` has P(g) proportional to (g + 1) ... (g + size)
    exp(-g / (2 L scale)). The 2 L sums from centre = L (2 m + 1) on represent m: each is kept with probability (centre
    / (g + 1)) ... (centre / (g + size)) times exp(-(last - g) / (2 L scale)), which makes their weights equal, and
    proportional to P(m). If L, the fineness, is size / (2 scale) or more, at least a few percent are kept.
    """
    fineness = -(-size // (2 * scale))
    unit = 2 * fineness * scale
    while True:
        total = sum(geometric(unit, size + 1, random_bytes).tolist())
        half_width = (total - fineness) // (2 * fineness)
        if half_width < 0:
            continue
        centre = fineness * (2 * half_width + 1)
        last = centre + 2 * fineness - 1
        if not bernoulli_exp(Fraction(last - total, unit), 1, random_bytes)[0]:
            continue
        if (_uniform_below_each(total + 1, size, random_bytes) < centre).all():
            return half_width


def exponential_choice(scores, scale, random_bytes):
    """An index, drawn with probability proportional to ``exp(score / scale)``: the exponential mechanism.

    A uniform index is kept with probability ``exp(-(largest score - its score) / scale)``, otherwise drawn again.

    Parameters
    ----------
    scores : ndarray of shape (n_scores,) of integers
    scale : int, above 0
    random_bytes : callable
        From :func:`entropy_source`.

    Returns
    -------
    int
    """
    gaps = scores.max() - scores
    while True:  # with one candidate per score, at least one is kept on average
        candidates = uniform_below(len(gaps), len(gaps), random_bytes)
        accepted = np.flatnonzero(_bernoulli_exp_any(gaps[candidates], scale, random_bytes))
        if len(accepted):
            return int(candidates[accepted[0]])


def bernoulli_exp(gamma, size, random_bytes):
    """True with probability ``exp(-gamma)`` each.

    Parameters
    ----------
    gamma : int or Fraction, at least 0
    size : int
    random_bytes : callable
        From :func:`entropy_source`.

    Returns
    -------
    bool ndarray of shape (size,)
    """
    numerator, denominator = Fraction(gamma).as_integer_ratio()
    numerators = np.full(size, numerator, dtype=np.int64 if numerator < _LIMIT else object)
    return _bernoulli_exp_any(numerators, denominator, random_bytes)


def _bernoulli_exp_any(numerators, denominator, random_bytes):
    """True with probability ``exp(-numerator / denominator)`` each, for numerators >= 0.

    That is one success of probability 1/e for each unit of the quotient, and one of exp(-remainder).
    """
    if denominator > _LIMIT:
        numerators = numerators.astype(object)
    whole, rest = numerators // denominator, numerators % denominator
    success = np.ones(len(numerators), dtype=bool)
    running = np.flatnonzero(whole)
    while len(running):
        success[running] = _bernoulli_exp(np.ones(len(running), dtype=np.int64), 1, random_bytes)
        whole[running] -= 1
        running = running[success[running] & (whole[running] > 0)]
    kept = np.flatnonzero(success)
    success[kept] = _bernoulli_exp(rest[kept], denominator, random_bytes)
    return success


def _bernoulli_exp(numerators, denominator, random_bytes):
    """True with probability ``exp(-numerator / denominator)`` each, for 0 <= numerator <= denominator.

    With trials of probability x/1, x/2, x/3, ... until the first failure, the number of successes is even
    with probability 1 - x + x**2/2! - ... = exp(-x).
    """
    is_even = np.ones(len(numerators), dtype=bool)
    running = np.arange(len(numerators))
    trial = 0
    while len(running):
        trial += 1
        success = uniform_below(denominator, len(running), random_bytes) < numerators[running]
        if trial > 1:
            success &= uniform_below(trial, len(running), random_bytes) == 0
        running = running[success]
        is_even[running] = trial % 2 == 0
    return is_even


def _until_kept(propose, size):
    """Candidates, each drawn again until kept: ``propose(size)`` returns this many, and a mask of those to keep."""
    draws = np.zeros(size, dtype=np.int64)
    pending = np.arange(size)
    while len(pending):
        candidates, is_kept = propose(len(pending))
        if candidates.dtype == object:
            draws = draws.astype(object, copy=False)
        draws[pending[is_kept]] = candidates[is_kept]
        pending = pending[~is_kept]
    return draws


def _in_blocks(draw, size):
    """``draw(size)``, a block at a time, which bounds memory."""
    return np.concatenate([draw(min(_BLOCK, size - start)) for start in range(0, max(size, 1), _BLOCK)])


def uniform_below(bound, size, random_bytes):
    """Uniform integers in [0, bound): as many random bits as `bound` has, drawn again if they are not below it."""
    n_bits = (bound - 1).bit_length()
    if n_bits == 0:
        return np.zeros(size, dtype=np.int64)
    draws = _random_bits(n_bits, size, random_bytes)
    while bound < 1 << n_bits and (n_too_large := np.count_nonzero(too_large := draws >= bound)):
        draws[too_large] = _random_bits(n_bits, n_too_large, random_bytes)
    return draws


def _uniform_below_each(first, size, random_bytes):
    """Uniform integers, the first of them in [0, first), the next in [0, first + 1), and so on."""
    last = first + size - 1
    bounds = first + np.arange(size, dtype=np.int64 if last < 2**62 else object)
    n_bits = (last - 1).bit_length()
    draws = np.zeros(size, dtype=bounds.dtype)
    pending = np.arange(size)
    while len(pending):
        draws[pending] = _random_bits(n_bits, len(pending), random_bytes)
        pending = pending[draws[pending] >= bounds[pending]]
    return draws


def _random_bits(n_bits, size, random_bytes):
    n_bytes = -(-n_bits // 8)
    if n_bits < 64:
        # One begins every n_bytes; bits of the next are masked.
        data = random_bytes(n_bytes * size) + bytes(8 - n_bytes)
        return np.ndarray(size, "<i8", data, strides=(n_bytes,)) & ((1 << n_bits) - 1)
    data = random_bytes(n_bytes * size)
    mask = (1 << n_bits) - 1
    words = [int.from_bytes(data[i : i + n_bytes], "little") & mask for i in range(0, len(data), n_bytes)]
    return np.array(words, dtype=object)


_BITS = 60  # of the integers used to draw proposals
_MORE_BITS = 64
_SLACK = 1 + 2.0**-40  # far more than the seventy roundings of a ceiling


def weighted_choice(weights, losses, rate, random_bytes):
    """An index, drawn with probability proportional to ``weight * exp(-rate * loss)``.

    Parameters
    ----------
    weights : int64 ndarray of shape (n_choices,)
        At least 0, not all 0, with a sum below 2**58.
    losses : int64 ndarray of shape (n_choices,)
        At least 0.
    rate : Fraction, at least 0, or infinity
        With infinity, the choice is among the smallest losses, by weight.
    random_bytes : callable
        From :func:`entropy_source`.

    Returns
    -------
    int
    """
    losses = losses - losses[weights > 0].min()
    if rate == math.inf:
        weights, rate = np.where(losses == 0, weights, 0), Fraction(0)
    ceilings, shift = _ceilings(weights, losses, rate)
    ends = np.cumsum(ceilings)
    while True:
        point = int.from_bytes(random_bytes(8), "little") >> (64 - _BITS)
        i = int(np.searchsorted(ends, point, side="right"))
        if i < len(ends):
            offset = point - int(ends[i] - ceilings[i])
            if _is_below(offset, int(weights[i]) << shift, rate * int(losses[i]), random_bytes):
                return i


def _ceilings(weights, losses, rate):
    """Integers above ``2**shift * weight * exp(-rate * loss)``, whose sum is at most about 2**_BITS; and the shift."""
    ceilings = weights * _exponentials(losses, rate) * _SLACK
    shift = _BITS - 1 - math.frexp(ceilings.sum())[1]
    # One more than the floor, also if a product underflowed.
    return np.where(weights > 0, np.ldexp(ceilings, shift).astype(np.int64) + 1, 0), shift


def _exponentials(losses, rate):
    """``exp(-rate * loss)``, up to rounding: a product over the bits of each loss."""
    product, (_, above) = np.ones(len(losses)), exponential_bounds(rate, 128)
    for bit in range(int(losses.max()).bit_length()):
        product *= np.where(losses >> bit & 1, math.ldexp(above, -128), 1.0)
        above = -(-above * above >> 128)  # of the square, rounded up
    return product


def _is_below(whole, weight, x, random_bytes):
    """Whether ``whole`` plus a random fraction is below ``weight * exp(-x)``: bits are added until this is certain."""
    n_bits, point = 0, whole
    while True:
        precision = n_bits + weight.bit_length() + _MORE_BITS
        below, above = exponential_bounds(x, precision)
        if (point + 1) << precision <= (weight * below) << n_bits:
            return True
        if point << precision >= (weight * above) << n_bits:
            return False
        point = (point << _MORE_BITS) + int.from_bytes(random_bytes(_MORE_BITS // 8), "little")
        n_bits += _MORE_BITS


def exponential_bounds(x, precision):
    """Integers closely below and above ``2**precision * exp(-x)``.

    Parameters
    ----------
    x : Fraction, at least 0
    precision : int
    """
    halvings = math.floor(x).bit_length()
    bits = precision + 2 * halvings + 16
    y = math.floor(x * 2 ** (bits - halvings))  # x, halved until it is below 1
    term, total, sign, k = 1 << bits, 0, 1, 0
    while term:
        total += sign * term
        sign, k = -sign, k + 1
        term = (term * y >> bits) // k
    # Each term is at most 3 too small, the omitted terms sum to at most one more, and y was rounded.
    margin = 3 * k + 8
    below, above = max(total - margin, 0), min(total + margin, 1 << bits)
    for _ in range(halvings):
        below, above = below * below >> bits, -(-above * above >> bits)
    return below >> (bits - precision), -(-above >> (bits - precision))


_HALF_PERIOD = 12.0  # standard deviations; the few sums beyond it are taken for smaller ones
_SMOOTHING = 1 / 40  # standard deviation of normal noise that makes the law continuous, in those of the sum
_BEYOND = 2.5 * _SMOOTHING  # covers it where the law has atoms
_TIMES = np.pi / _HALF_PERIOD * np.arange(1, round(4 / _SMOOTHING * _HALF_PERIOD / np.pi))
_STEPS = 16  # of bisection


def reach(weights, deviations, confidence):
    """A number that the absolute value of a weighted sum of noise exceeds with a probability of 1 - `confidence`.

    A number of standard deviation s has the characteristic function ``1 / (1 + 2 s**2 sin(t / 2)**2)``, and is 0 with a
    probability of ``1 / sqrt(1 + 2 s**2)``. The reach is too large by up to an eighth of the sum's standard deviation.

    Parameters
    ----------
    weights, deviations : ndarrays of shape (n,)
        Weights, and standard deviations of independent discrete Laplace numbers.
    confidence : float in (0, 1)

    Returns
    -------
    float
        0 if the sum is 0 with at least this probability.
    """
    given = np.array([np.abs(weights), deviations])[:, weights * deviations != 0]
    (weights, deviations), repeats = np.unique(given, axis=1, return_counts=True)
    log_still = -np.log1p(2 * deviations**2) / 2 * repeats  # logarithms of the probabilities of all these to be 0
    if log_still.sum() >= math.log(confidence):
        return 0.0
    reached = _smoothed_reach(weights, deviations, repeats, confidence)
    is_small = weights <= reached
    log_rest = math.log(confidence) - log_still[~is_small].sum()
    if is_small.all() or log_rest >= 0:
        return reached
    # Large ones are 0 so often that a quantile of the small ones will do, which smoothing for all would not resolve.
    small = (np.repeat(of[is_small], repeats[is_small]) for of in (weights, deviations))
    return min(reached, reach(*small, math.exp(log_rest)))


def _smoothed_reach(weights, deviations, repeats, confidence):
    total = math.sqrt(repeats @ (weights * deviations) ** 2)
    sines = np.sin(np.outer(_TIMES / 2 / total, weights))
    logarithm = np.log1p(2 * (deviations * sines) ** 2) @ repeats + (_SMOOTHING * _TIMES) ** 2 / 2
    waves = 2 * np.exp(-np.minimum(logarithm, 600)) / _TIMES

    def within(x):
        return (x + waves @ np.sin(_TIMES * x)) / _HALF_PERIOD

    low, high = 0.0, _HALF_PERIOD
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if within(middle) >= confidence else (middle, high)
    return (high + _BEYOND) * total
