"""What redundancy= of the selector is worth: python -m benchmarks.redundancy; makes benchmarks/results/redundancy.csv.

Simulated tables of 40 features. Six signals, each with a shape of its own, decide on a numeric target, with 27, 18, 13,
11, 8 and 4 % of its variance; the rest is noise. The table holds

- copies: 8, 5, 3, 2, 1 and 1 near copies of them,
- groups: 4 members each of six groups, in which features have a correlation of about 0.85 with one another,
- none: each signal once,

and as many features as are missing that tell nothing. Of 3,000 records, five features are chosen (and three or ten, to
see how the noise at which it pays depends on k). What is reported is R² of a gradient boosting regressor on the chosen
features, trained on 8,000 fresh rows and tested on as many others: it depends on how many features of each signal were
chosen only, so each such choice is trained once. Standard errors are over tables.

redundancy is tuned on tables that are not reported. Noise is drawn in floating point, as many times for a table; rows
of kind "fit" are of fits of PrivateSelectKBest, as a user makes them.

--picture draws docs/images/redundancy.png from the file.
"""

import csv
import sys
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from tqdm import tqdm

from skdpmic import PrivateSelectKBest
from skdpmic.privacy.mechanisms import to_grid
from skdpmic.privacy.noise import entropy_source
from skdpmic.release.kinds import BestFeatures, GreedyFeatures
from skdpmic.statistics.registry import statistic_named
from skdpmic.table.records import Records
from skdpmic.table.targets import NumericTarget

FILE = Path(__file__).parent / "results" / "redundancy.csv"
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "redundancy.png"
N, D, K, N_FRESH = 3000, 40, 5, 8000
UNIT, TARGET = (0.0, 1.0), (-3.5, 3.5)
SHARES = (0.27, 0.18, 0.13, 0.11, 0.08, 0.04)
SHAPES = (
    lambda z: z,
    lambda z: (z - 0.5) ** 2,
    lambda z: np.sin(2 * np.pi * z),
    lambda z: np.abs(2 * z - 1),
    lambda z: np.cos(3 * np.pi * z),
    lambda z: (z > 0.5) * 1.0,
)
COPIES = {"copies": (8, 5, 3, 2, 1, 1), "groups": (4,) * 6, "none": (1,) * 6}
NEAR = {"copies": 0.03, "groups": 0.12, "none": 0.03}  # standard deviation of what tells a feature from its signal
REDUNDANCIES = (0.0, 0.25, 0.5, 1.0, 2.0)
N_EPSILONS = (300, 1000, 3000, 10_000, 30_000)
TABLES = {"mtv_r": (10, 30), "mic_r": (3, 8), "spearman": (0, 8), "chatterjee": (0, 8)}  # tuned on, and reported
N_DRAWS = 20
N_FITS = 40
NAMES = ("phase", "kind", "statistic", "k", "n_epsilon", "redundancy", "r2", "standard_error", "n_tables")


def table(rng, kind, n=N):
    """X, y and the number of the signal behind each feature, -1 for none."""
    signals, scale = rng.random((n, len(SHARES))), _MOMENTS
    effects = [np.sqrt(s) * (f(z) - m) / sd for s, f, z, (m, sd) in zip(SHARES, SHAPES, signals.T, scale, strict=True)]
    y = sum(effects) + np.sqrt(1 - sum(SHARES)) * rng.standard_normal(n)
    of_signal = np.repeat(np.arange(len(SHARES)), COPIES[kind])
    X = signals[:, of_signal] + NEAR[kind] * rng.standard_normal((n, len(of_signal)))
    useless = rng.random((n, D - len(of_signal)))
    return np.c_[np.clip(X, *UNIT), useless], y, np.append(of_signal, np.full(useless.shape[1], -1))


_GRID = (np.arange(10_000) + 0.5) / 10_000
_MOMENTS = [(f(_GRID).mean(), f(_GRID).std()) for f in SHAPES]


class Quality:
    """R² on fresh rows of a model on chosen features, told by how many there are of each signal."""

    def __init__(self, kind):
        self._tables = [table(np.random.default_rng(seed), kind, N_FRESH) for seed in (98, 99)]
        self._known = {}

    def __call__(self, chosen_signals):
        counts = tuple(np.bincount(np.asarray(chosen_signals) + 1, minlength=len(SHARES) + 1).tolist())
        if counts not in self._known:
            (X, y, signals), (X_test, y_test, _) = self._tables
            columns = np.concatenate([np.flatnonzero(signals == s - 1)[:count] for s, count in enumerate(counts)])
            model = HistGradientBoostingRegressor(max_iter=60, learning_rate=0.12, max_leaf_nodes=10)
            self._known[counts] = model.fit(X[:, columns], y).score(X_test[:, columns], y_test)
        return self._known[counts]


class Noise:
    """The choice of one feature with exponential noise in floating point."""

    def __init__(self, scale, rng):
        self._scale, self._rng = scale, rng

    def choose(self, worth, source):
        return int(np.argmax(worth.astype(float) + self._rng.exponential(self._scale, size=len(worth))))


_SOURCE = entropy_source(0)  # of the order of equal values, of which there are hardly any


class Scored:
    """A table whose scores are computed once for all choices."""

    def __init__(self, X, y, signals, statistic):
        self._records = Records(X.T, [UNIT] * D, NumericTarget(y, TARGET))
        self._statistic, self._known, self.signals = statistic_named(statistic, "miller-madow"), {}, signals

    def _scores(self, measure, j=None):
        if (measure, j) not in self._known:
            records = self._records
            if j is None:
                scores = records.map_features(records.scorer(measure, _SOURCE).score, n_jobs=1)
            else:
                scores = records.scores_against(j, measure, (), 1, _SOURCE)
            self._known[measure, j] = to_grid(np.array(scores))
        return self._known[measure, j]

    def choose(self, n_epsilon, k, redundancy, rng):
        """Signals of the k features chosen."""
        budget = n_epsilon / N, 0.0, k
        way = GreedyFeatures(*budget, redundancy) if redundancy > 0 else BestFeatures(*budget)
        measure = way.measure(self._statistic, "auto", "auto", N, None)
        mechanism = way.mechanism(measure, self._records.shape)
        if redundancy == 0:
            noisy = self._scores(measure).astype(float) + rng.exponential(mechanism.scale, size=D)
            return self.signals[np.argsort(-noisy)[:k]]
        mechanism._one_choice = Noise(mechanism.scale, rng)
        with_feature = lambda j, chosen: np.delete(self._scores(measure, j), chosen)  # noqa: E731
        return self.signals[mechanism.release(self._scores(measure), with_feature, None)]


def simulated(phase, kind, statistic, k, quality):
    """Rows of all n epsilon and redundancies."""
    n_tuned, n_reported = TABLES[statistic]
    seeds = range(n_tuned) if phase == "tuned" else range(n_tuned, n_tuned + n_reported)
    tables = [Scored(*table(np.random.default_rng(seed), kind), statistic) for seed in seeds]
    for n_epsilon, redundancy in product(N_EPSILONS, REDUNDANCIES):
        rng = np.random.default_rng(7)
        of_tables = [
            np.mean([quality(scored.choose(n_epsilon, k, redundancy, rng)) for _ in range(N_DRAWS)])
            for scored in tables
        ]
        yield phase, kind, statistic, k, n_epsilon, redundancy, *_mean(of_tables), len(tables)


def fitted(kind, statistic, n_epsilon, redundancy, quality):
    """The row of fits as a user makes them, a table each."""
    r2 = []
    for seed in range(1000, 1000 + N_FITS):
        X, y, signals = table(np.random.default_rng(seed), kind)
        selector = PrivateSelectKBest(K, statistic=statistic, epsilon=n_epsilon / N, bounds=UNIT, target_bounds=TARGET)
        r2.append(quality(signals[selector.set_params(redundancy=redundancy).fit(X, y).get_support()]))
    return "fit", kind, statistic, K, n_epsilon, redundancy, *_mean(r2), N_FITS


def _mean(values):
    return f"{np.mean(values):.4f}", f"{np.std(values, ddof=1) / np.sqrt(len(values)):.4f}"


def main():
    qualities = {kind: Quality(kind) for kind in COPIES}
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(NAMES)
        for kind, best in qualities.items():
            writer.writerow(["ceiling", kind, "", K, "", "", f"{best(range(K)):.4f}", "", ""])
        cells = [*product(("tuned", "reported"), COPIES, ["mtv_r"], (K,))]
        cells += [*product(["reported"], ["copies"], ["mtv_r"], (3, 10))]
        cells += [*product(("tuned", "reported"), COPIES, ["mic_r"], (K,))]
        cells += [*product(["reported"], ("copies", "groups"), ("spearman", "chatterjee"), (K,))]
        for cell, redundancy, n_epsilon in product(["copies"], (0.0, 0.5, 1.0), (1000, 3000)):
            writer.writerow(fitted(cell, "mtv_r", n_epsilon, redundancy, qualities[cell]))
            file.flush()
        for phase, kind, statistic, k in tqdm(cells):
            for row in simulated(phase, kind, statistic, k, qualities[kind]):
                writer.writerow(row)
                file.flush()


# --- The picture ------------------------------------------------------------------------------------------------------

TITLES = {
    "copies": "8, 5, 3, 2, 1, 1 copies of six signals",
    "groups": "six groups of 4 related features",
    "none": "six features, none like another",
}
LINES = [("mtv_r", 0.0, "C7"), ("mtv_r", 0.5, "C0"), ("mtv_r", 1.0, "C1"), ("mtv_r", 2.0, "C3")]
LINES += [("mic_r", 0.0, "C7"), ("mic_r", 1.0, "C1")]


def picture():
    """R² by n epsilon, with two standard errors either way."""
    from matplotlib.figure import Figure

    with FILE.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    for place, (axes, kind) in enumerate(zip(figure.subplots(1, 3, sharey=True), COPIES, strict=True)):
        for statistic, redundancy, color in LINES:
            line = [
                (int(row["n_epsilon"]), float(row["r2"]), 2 * float(row["standard_error"]))
                for row in rows
                if (row["phase"], row["kind"], row["statistic"], row["k"]) == ("reported", kind, statistic, str(K))
                and float(row["redundancy"]) == redundancy
            ]
            x, r2, error = zip(*line, strict=True)
            style = {"color": color, "linestyle": "-" if statistic == "mtv_r" else ":", "marker": "."}
            axes.errorbar(x, r2, error, capsize=2, label=f"{statistic}, redundancy={redundancy:g}", **style)
        (ceiling,) = (float(row["r2"]) for row in rows if (row["phase"], row["kind"]) == ("ceiling", kind))
        axes.axhline(ceiling, color="0.8", zorder=0)
        axes.set(xscale="log", ylim=(0, 0.76), title=TITLES[kind], xlabel="number of records times epsilon")
        axes.title.set_size("medium")
        if place == 0:
            axes.set_ylabel("R² on fresh rows, of 5 features")
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    figure.savefig(PICTURE, dpi=90)


if __name__ == "__main__":
    picture() if "--picture" in sys.argv else main()
