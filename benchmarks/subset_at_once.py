"""Would choosing the set of k features at once find more than one-shot noise? python -m benchmarks.subset_at_once.

The canonical Lipschitz mechanism (Shekelyan and Loukides 2022) chooses a set S of k features without order, with weight
``exp(-epsilon * gap(S) / (4 * sensitivity))``, the gap being the best score left out less the worst one taken: if each
score moves by at most the sensitivity, a gap moves by twice that. With scores sorted, a set is known by the rank a of
the best left out, the rank b of the worst taken and the k - a taken between them, so k (d - k) + 1 weights are enough.

Scores are drawn from the laws that the choice benchmark has, as kept in ``planning/scores_without_noise.csv``; and, for
tables in which every feature depends on the target a little, from a straight line.
"""

import argparse
from functools import cache
from itertools import product

import numpy as np
from scipy.special import gammaln, logsumexp

from skdpmic.planning.chances import SHARES, _scores_without_noise

N_TABLES = 300
N_SAMPLES, EPSILONS = (300, 1000, 3000, 10_000), (0.03, 0.1, 0.3, 1.0, 3.0)
CHOICES = [(5, 20), (5, 100), (15, 100), (5, 1000), (50, 1000)]  # k of d features
GAPS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4)  # that a public rule may count on
MTV_R = "mtv_r"


def gap_needed(sensitivity, epsilon, k, d):
    """How large a gap must be for the best set to be as likely as all others: about 4 / epsilon ln C(d, k) / 2."""
    return 4 * sensitivity / epsilon * log_choose(d, k) / 2


def log_choose(n, k):
    """Logarithm of the number of subsets."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


@cache
def ends(k, d):
    """Ranks from 0 on of the best left out and of the worst taken, of all kinds of sets but the best."""
    return tuple(np.array(each) for each in zip(*product(range(k), range(k, d)), strict=True))


def taken_at_once(scores, k, rate):
    """The probability that each feature is in the set: scores of shape (d,), best first; weights exp(-rate * gap)."""
    d = len(scores)
    out, last = ends(k, d)
    between, wanted = last - out - 1, k - out - 1
    logs = log_choose(between, wanted) - rate * (scores[out] - scores[last])
    logs = np.append(logs, rate * (scores[k - 1] - scores[k]))  # the best set
    p = np.exp(logs - logsumexp(logs))
    best, p = p[-1], p[:-1]
    share = np.divide(p * wanted, between, out=np.zeros_like(p), where=between > 0)
    chances = np.zeros(d)
    np.add.at(chances, last, p)
    steps = np.zeros((2, d + 1))  # what begins and ends at each rank
    np.add.at(steps[0], out, -p), np.add.at(steps[0], out + 1, p)  # all before `out` are taken, and `out` is not
    certain = np.array([p[out > rank].sum() for rank in range(k)])
    np.add.at(steps[1], out + 1, share), np.add.at(steps[1], last, -share)
    chances += np.cumsum(steps[1])[:d]
    chances[:k] += certain + best
    return chances


def taken_by_one_shot(scores, k, scale, random, n_draws=20):
    """How often each feature is among the k largest with one-sided noise."""
    noisy = scores + random.exponential(scale, size=(n_draws, len(scores)))
    chosen = np.argpartition(-noisy, k - 1, axis=1)[:, :k]
    return np.bincount(chosen.ravel(), minlength=len(scores)) / n_draws


def benchmark_table(n, k, d, random):
    """Scores, best first, and what finding each of them is worth: 1 / k for the true ones."""
    true, noise = (np.interp(random.random(m), np.cumsum(SHARES) - SHARES / 2, law) for m, law in _laws(n, k, d))
    scores, worth = np.concatenate([true, noise]), np.repeat([1 / k, 0.0], [k, d - k])
    order = np.argsort(-scores)
    return scores[order], worth[order]


def _laws(n, k, d):
    return zip((k, d - k), _scores_without_noise(MTV_R, None, n), strict=True)


def falling_table(n, k, d, random):
    """Scores that fall in a straight line, each worth what it is, as a share of the best k."""
    scores = np.sort(random.uniform(0.0, 0.5, size=d))[::-1]
    return scores, scores / scores[:k].sum()


def compared(make, n, k, d, epsilon, seed=0):
    """Means of what one-shot noise, and the set at once, find."""
    random, sensitivity = np.random.default_rng([seed, n, k, d]), 4 * (n - 1) / n**2
    found = []
    for _ in range(N_TABLES):
        scores, worth = make(n, k, d, random)
        one_shot = taken_by_one_shot(scores, k, 2 * k * sensitivity / epsilon, random)
        found.append((one_shot @ worth, taken_at_once(scores, k, epsilon / (4 * sensitivity)) @ worth))
    return np.mean(found, axis=0)


def main():
    """Print what both find in each cell, and what rules would."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args()
    for make in (benchmark_table, falling_table):
        cells = []
        for (k, d), n, epsilon in product(CHOICES, N_SAMPLES, EPSILONS):
            needed = gap_needed(4 * (n - 1) / n**2, epsilon, k, d)
            cells.append((needed, *compared(make, n, k, d, epsilon)))
            print(make.__name__, k, d, n, epsilon, *(f"{number:.3f}" for number in cells[-1]), flush=True)
        needed, one_shot, at_once = np.array(cells).T
        print(f"{make.__name__}: one-shot {one_shot.mean():.3f}, at once {at_once.mean():.3f}, ", end="")
        print(f"the better of both {np.maximum(one_shot, at_once).mean():.3f}")
        for gap in GAPS:
            ruled = np.where(needed <= gap, at_once, one_shot)
            change = ruled - one_shot
            print(
                f"  at once where the gap needed is at most {gap}: {ruled.mean():.4f}; {(needed <= gap).sum()} of "
                f"{len(needed)} cells, best {change.max():+.3f}, worst {change.min():+.3f}"
            )


if __name__ == "__main__":
    main()
