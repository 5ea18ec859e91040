"""Which features of an insurance plan and of a patient tell how often a doctor is seen, under differential privacy?

The data are the RAND Health Insurance Experiment, which statsmodels ships: 20,190 rows, no download. A private
selection is published as a table and a chart, then a model on the selected features is compared with others.

    python examples/rand_health.py --epsilon 1 --output rand_health.png
"""

import argparse
from functools import partial
from itertools import product

import numpy as np
from matplotlib.figure import Figure
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import SelectKBest, mutual_info_regression
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from statsmodels.datasets import randhie
from tqdm import tqdm

from skdpmic import DPMICSelector

# Bounds are part of the question, not of the answer: they come from the published design of the experiment or are
# round numbers, never the least and largest value of the data, which would tell about single people. Values outside
# are clipped, so a poor bound costs accuracy but no privacy.
BOUNDS = {
    "lncoins": (0, np.log(101)),  # ln(coinsurance + 1); coinsurance is a percentage, 0 to 100
    "idp": (0, 1),  # indicator: individual deductible plan
    "lpi": (0, np.log(2000)),  # ln(max(1, yearly incentive to take part)); it paid for losses of about $1,000 at most
    "fmde": (0, np.log(4000)),  # ln(max(1, MDE / coinsurance)); MDE, the yearly maximum, <= $1,000; lowest rate 25 %
    "physlm": (0, 1),  # indicator: physical limitation; the file has some fractions too
    "disea": (0, 100),  # index of chronic diseases; no range is documented, other health indices there run 0 to 100
    "hlthg": (0, 1),  # indicator: health rated good by the person
    "hlthf": (0, 1),  # indicator: rated fair
    "hlthp": (0, 1),  # indicator: rated poor
}
MEANING = {
    "lncoins": "coinsurance rate (log)",
    "idp": "individual deductible plan",
    "lpi": "participation incentive (log)",
    "fmde": "maximum expenditure (log)",
    "physlm": "physical limitation",
    "disea": "chronic diseases",
    "hlthg": "good self-rated health",
    "hlthf": "fair self-rated health",
    "hlthp": "poor self-rated health",
}
MAX_VISITS = 100  # a year, round: about two a week
# Families were enrolled for 3 or 5 years. statsmodels does not say what a row is, but the original file that it ships,
# src/randhie.csv, has a person number and a study year: a row is one person in one year.
MAX_ROWS_PER_PERSON = 5


def log_visits(visits):
    """The target as it is scored and learned.

    MICr cuts the range into equal parts. Most people see a doctor a few times a year, so on [0, 100] nearly all of
    them would share one part; logarithms spread them out. Each record is mapped by itself, which costs no privacy.
    """
    return np.log1p(np.clip(visits, 0, MAX_VISITS))


def main(argv=None):
    options = parse(argv)
    data = randhie.load_pandas().data
    X, visits = data[list(BOUNDS)], data["mdvis"]

    selector = DPMICSelector(
        k=options.k,
        epsilon=options.epsilon,
        bounds=BOUNDS,
        target_bounds=(0, log_visits(MAX_VISITS)),
        random_state=options.seed,
    )
    selector.fit(X, log_visits(visits))
    print_scores(selector)
    print_guarantee(selector)
    save_chart(selector, options.output)
    compare(selector, X, visits, options)


def parse(argv):
    parser = argparse.ArgumentParser(description="Private feature selection on the RAND Health Insurance Experiment.")
    parser.add_argument("--epsilon", type=float, default=1.0, help="privacy budget of one fit")
    parser.add_argument("--k", type=int, default=4, help="features to keep")
    parser.add_argument("--output", default="rand_health.png", help="where the chart is saved")
    parser.add_argument("--quick", action="store_true", help="2 folds and small models")
    parser.add_argument("--seed", type=int, help="for tests only: known noise gives no privacy")
    return parser.parse_args(argv)


def print_scores(selector):
    lower, upper = selector.scores_interval(0.95)
    chosen = selector.get_support()
    print(f"{'feature':<8} {'meaning':<30} {'score':>6}   95 % interval    chosen")
    for j in np.argsort(selector.ranking_):
        name = selector.feature_names_in_[j]
        interval = f"[{lower[j]:.3f}, {upper[j]:.3f}]"
        print(
            f"{name:<8} {MEANING[name]:<30} {selector.scores_[j]:>6.3f}   {interval}   {'yes' if chosen[j] else 'no'}"
        )
    print(
        "A feature whose interval starts at 0.000 may owe its place to noise alone, which is new in every run.\n"
        f"An interval holds the score without noise in 95 % of runs; all do in {100 * 0.95 ** len(chosen):.0f} %.\n"
    )


def print_guarantee(selector):
    epsilon, delta = selector.privacy_spent_
    print(
        f"Spent by this table and the chart: epsilon = {epsilon:g}, delta = {delta:g}, for one row replaced.\n"
        f"A row is one person in one year. Someone with {MAX_ROWS_PER_PERSON} rows, the most by design, is covered at "
        f"{MAX_ROWS_PER_PERSON} * epsilon = {MAX_ROWS_PER_PERSON * epsilon:g}.\n"
    )


def save_chart(selector, path):
    order = np.argsort(-selector.ranking_)  # bars are drawn upwards: the best comes last
    lower, upper = selector.scores_interval(0.95)
    scores, chosen = selector.scores_, selector.get_support()

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for keep, colour, label in ((True, "tab:blue", "chosen"), (False, "lightgrey", "not chosen")):
        places = np.flatnonzero(chosen[order] == keep)
        axes.barh(places, scores[order][places], color=colour, label=label)
    axes.errorbar(
        scores[order],
        np.arange(len(order)),
        xerr=[(scores - lower)[order], (upper - scores)[order]],
        fmt="none",
        ecolor="black",
        capsize=3,
        label="95 % interval for the score without noise",
    )
    names = selector.feature_names_in_[order]
    axes.set_yticks(np.arange(len(order)), [f"{MEANING[name]}: {name}" for name in names])
    axes.set_xlim(left=0)
    axes.set_xlabel("private MICr with ln(1 + outpatient visits)")
    axes.set_title(f"RAND Health Insurance Experiment, all nine scores at ε = {selector.epsilon:g}")
    figure.legend(loc="outside lower center", ncols=3)
    figure.savefig(path, dpi=150)
    print(f"Chart: {path}\n")


def compare(selector, X, visits, options):
    """Print the cross-validated error with each way to select; the private one runs anew in every training fold."""
    k, n_folds, rng = options.k, 2 if options.quick else 5, np.random.default_rng(0)
    mutual_info = SelectKBest(partial(mutual_info_regression, random_state=0), k=k)
    at_random = SelectKBest(lambda X, y: rng.random(X.shape[1]), k=k)
    everything = f"all {X.shape[1]} features"
    models = {
        everything: visits_model("passthrough", options),
        f"{k} features, mutual information": visits_model(mutual_info, options),
        f"{k} features, private": visits_model(selector, options),
        f"{k} features at random": visits_model(at_random, options),
        "no feature (the median)": DummyRegressor(strategy="median"),
    }
    errors = {name: [] for name in models}
    pairs = list(product(folds(X, n_folds), models.items()))
    for (train, test), (name, model) in tqdm(pairs, desc="cross-validation", unit="fit"):
        model.fit(X.iloc[train], visits.iloc[train])
        errors[name].append(mean_absolute_error(visits.iloc[test], model.predict(X.iloc[test])))

    # Folds differ more than models do, so the difference within a fold says more than the error itself.
    print(f"Mean absolute error in visits a year: mean ± sd over {n_folds} folds")
    print(f"{'':<32} {'error':<16} above that with {everything}")
    for name, error in errors.items():
        above = np.subtract(error, errors[everything])
        print(f"{name:<32} {np.mean(error):.3f} ± {np.std(error):.3f}    {above.mean():.3f} ± {above.std():.3f}")
    print(
        f"Each row is in {n_folds - 1} of the {n_folds} training folds, so publishing the private choices of all folds "
        f"would cost\n(K-1) * epsilon = {(n_folds - 1) * options.epsilon:g} more, by basic composition. "
        "The errors themselves are computed from raw rows: they are not private."
    )


def visits_model(selection, options):
    """A model of visits whose pipeline, selection included, sees the mapped target."""
    trees = RandomForestRegressor(3 if options.quick else 30, min_samples_leaf=50, random_state=0)
    return TransformedTargetRegressor(
        make_pipeline(selection, trees), func=log_visits, inverse_func=np.expm1, check_inverse=False
    )


def folds(X, n_folds):
    """Splits that keep nearly everyone within one fold.

    The rows of a person stand together in the file, which bears no names. Were they spread over the folds, a model
    could know a test row by the person's other years. So blocks of 200 rows stay whole.
    """
    blocks = np.arange(len(X)) // 200
    return list(GroupKFold(n_folds, shuffle=True, random_state=0).split(X, groups=blocks))


if __name__ == "__main__":
    main()
