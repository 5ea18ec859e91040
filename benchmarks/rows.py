"""The README's table of the epsilon that a choice needs, by number of people: python benchmarks/rows.py."""

from bisect import bisect_left
from functools import partial

from skdpmic.planning.plan import Request, planned_releases

ROWS = (300, 1000, 5000, 20_000, 100_000)
_EPSILONS = [digits * 10.0**power for power in range(-4, 4) for digits in range(10, 100)]


def table():
    """Lines of the table in Markdown."""
    return "\n".join(f"| {n:,} | {_finds(0.5, n):g} | {_finds(0.8, n):g} | {_scores(n):g} |" for n in ROWS)


def _finds(share, n_samples):
    """The least two-digit epsilon with which this share of the best 5 of 100 features will be found."""
    return round(_EPSILONS[bisect_left(_EPSILONS, share, key=partial(_found, n_samples))], 6)


def _found(n_samples, epsilon):
    request = Request(n_samples, 100, 5, epsilon, None, 0.0, None, None)
    return planned_releases("mtv_r", request, "names")[0].found


def _scores(n_samples):
    """The epsilon with which each of 50 scores is within 0.1 with 95% confidence."""
    request = Request(n_samples, 50, None, None, 0.1, 0.0, None, None)
    return min(row.epsilon for row in planned_releases("mtv_r", request))


if __name__ == "__main__":
    print(table())
