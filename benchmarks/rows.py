"""The README's table of the epsilon that a choice needs, by number of people: python benchmarks/rows.py."""

from decimal import ROUND_CEILING, Context

from skdpmic import plan_release

ROWS = (300, 1000, 5000, 20_000, 100_000)


def table():
    """Lines of the table in Markdown."""
    return "\n".join(f"| {n:,} | {_finds(0.5, n)} | {_finds(0.8, n)} | {_scores(n):g} |" for n in ROWS)


def _finds(share, n_samples):
    """The epsilon with which this share of the best 5 of 100 features will be found, rounded up to two digits."""
    rows = plan_release(n_samples=n_samples, n_features=100, k=5, found=share)
    epsilon = next(row.epsilon for row in rows if (row.release, row.statistic) == ("names", "mtv_r"))
    return Context(prec=2, rounding=ROUND_CEILING).create_decimal(str(epsilon))


def _scores(n_samples):
    """The epsilon with which each of 50 scores is within 0.1 with 95% confidence."""
    rows = plan_release(n_samples=n_samples, n_features=50, error=0.1)
    return min(row.epsilon for row in rows if row.statistic == "mtv_r")


if __name__ == "__main__":
    print(table())
