"""The README's table of how much epsilon a choice takes, by the number of people: python benchmarks/rows.py."""

from skdpmic import plan_release

ROWS = (300, 1000, 5000, 20_000, 100_000)


def table():
    """Lines of the table in Markdown."""
    return "\n".join(f"| {n:,} | {_epsilon(n, 100, 5, 'names'):g} | {_epsilon(n, 50, 5, 'scores'):g} |" for n in ROWS)


def _epsilon(n_samples, n_features, k, release):
    plan = plan_release(n_samples=n_samples, n_features=n_features, k=k, error=0.1)
    return next(way.epsilon for way in plan if (way.release, way.statistic) == (release, "mtv_r"))


if __name__ == "__main__":
    print(table())
