"""Publish scores of all features, or only which ones are the best? What the second saves, on handwritten digits.

Two ways to keep k of 64 pixels at the same epsilon:
- ``SelectKBest(DPMICScorer(...))`` publishes all 64 scores, so each gets epsilon / 64;
- ``DPMICSelector(release="support")`` publishes the k chosen only, with noise that grows with k instead of 64.

    python examples/digits_support.py --epsilon 4 --output digits_support.png
"""

import argparse
import warnings
from functools import partial

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from sklearn.datasets import load_digits
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from tqdm import tqdm

from skdpmic import DPMICScorer, DPMICSelector

# Public by the format of the images: 16 grey levels over a 4 x 4 block of dots, and ten digits.
PUBLIC = {"bounds": (0, 16), "classes": range(10)}
EPSILONS = (0.5, 1, 2, 4, 8, 16)
EVEN, SUPPORT = "even split", "support only"
COLOURS = {EVEN: "tab:orange", SUPPORT: "tab:blue"}


def selector(way, k, epsilon):
    if way == EVEN:
        return SelectKBest(DPMICScorer(epsilon=epsilon, **PUBLIC), k=k)
    return DPMICSelector(k=k, epsilon=epsilon, release="support", **PUBLIC)


def main(argv=None):
    options = parse(argv)
    warnings.filterwarnings("ignore", "noise drowns everything")  # of 64 scores it does: that is to be seen here
    X, y = load_digits(return_X_y=True)
    best = selector(EVEN, options.k, np.inf).fit(X, y).get_support()

    print_noise(X, y, options)
    chosen = choose_repeatedly(X, y, options)
    print_recall(chosen, best, options)
    print_accuracy(X, y, options)
    save_picture(chosen, best, options)
    print(
        "The digits are public. On a sensitive table every one of these fits would spend its epsilon, and only the\n"
        "selections would be covered: recall and accuracy are computed from raw rows."
    )


def parse(argv):
    parser = argparse.ArgumentParser(description="Publishing scores against publishing the choice, on digits.")
    parser.add_argument("--epsilon", type=float, default=4.0, help="privacy budget of one selection")
    parser.add_argument("--k", type=int, default=10, help="pixels to keep")
    parser.add_argument("--output", default="digits_support.png", help="where the picture is saved")
    parser.add_argument("--quick", action="store_true", help="few repeats")
    return parser.parse_args(argv)


def print_noise(X, y, options):
    even = selector(EVEN, options.k, options.epsilon).fit(X, y).score_func
    support = selector(SUPPORT, options.k, options.epsilon).fit(X, y)
    print(f"Scale of the noise on each score, {len(X):,} digits, epsilon = {options.epsilon:g}, k = {options.k}")
    print(f"  {EVEN:<12} (64 scores published)   {even.noise_scale_:.3f}")
    print(f"  {SUPPORT:<12} ({options.k} names published)    {support.noise_scale_:.3f}\n")


def choose_repeatedly(X, y, options):
    """Masks of the chosen pixels, shape (n_repeats, 64), for each way and epsilon, with new noise each time."""
    settings = [(way, epsilon) for way in (EVEN, SUPPORT) for epsilon in sorted({*EPSILONS, options.epsilon})]
    n_repeats = 3 if options.quick else 100
    return {
        setting: np.array([selector(way, options.k, epsilon).fit(X, y).get_support() for _ in range(n_repeats)])
        for setting in tqdm(settings, desc="selections", unit="setting")
        for way, epsilon in [setting]
    }


def recall(masks, best):
    """Share of the best pixels that each selection found: mean and standard deviation over the repeats."""
    found = (masks & best).sum(axis=1) / best.sum()
    return found.mean(), found.std()


def print_recall(chosen, best, options):
    n_repeats = len(next(iter(chosen.values())))
    print(f"Share of the {options.k} best pixels without noise that are chosen: mean ± sd over {n_repeats} repeats")
    print(f"  epsilon   {EVEN:<14} {SUPPORT:<14} (pixels at random: {options.k / 64:.2f})")
    for epsilon in sorted({epsilon for _, epsilon in chosen}):
        cells = ["{:.2f} ± {:.2f}   ".format(*recall(chosen[way, epsilon], best)) for way in (EVEN, SUPPORT)]
        print(f"  {epsilon:<9g} {' '.join(cells)}".rstrip())
    print()


def print_accuracy(X, y, options):
    k, rng = options.k, np.random.default_rng(0)
    selections = {
        "all 64 pixels": "passthrough",
        f"{k}, mutual_info_classif": SelectKBest(partial(mutual_info_classif, discrete_features=True), k=k),
        f"{k}, MICr without noise": selector(EVEN, k, np.inf),
        f"{k}, private, {SUPPORT}": selector(SUPPORT, k, options.epsilon),
        f"{k}, private, {EVEN}": selector(EVEN, k, options.epsilon),
        f"{k}, at random": SelectKBest(lambda X, y: rng.random(X.shape[1]), k=k),
    }
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=1 if options.quick else 5, random_state=0)
    n_folds = folds.get_n_splits()
    print(f"Accuracy of 5 nearest neighbours, epsilon = {options.epsilon:g}: mean ± sd over {n_folds} folds")
    for name, selection in tqdm(selections.items(), desc="cross-validation", unit="model", leave=False):
        accuracy = cross_val_score(make_pipeline(selection, KNeighborsClassifier()), X, y, cv=folds)
        tqdm.write(f"  {name:<28} {accuracy.mean():.3f} ± {accuracy.std():.3f}")
    print()


def save_picture(chosen, best, options):
    figure = Figure(figsize=(12, 3.9), layout="constrained")
    curve, *maps = figure.subplots(1, 4, width_ratios=(1.7, 1, 1, 1))
    draw_recall(curve, chosen, best, options)

    epsilon = options.epsilon
    draw_pixels(maps[0], best, best, "without noise")
    for axes, way in zip(maps[1:], (EVEN, SUPPORT), strict=True):
        image = draw_pixels(axes, chosen[way, epsilon].mean(axis=0), best, f"{way}, ε = {epsilon:g}")
    maps[1].set_xlabel(f"red frames: the {options.k} best pixels without noise")
    figure.colorbar(image, ax=maps[-1], shrink=0.7, label="how often the pixel is chosen")
    figure.savefig(options.output, dpi=150)
    print(f"Picture: {options.output}\n")


def draw_recall(axes, chosen, best, options):
    epsilons, n_repeats = sorted({epsilon for _, epsilon in chosen}), len(next(iter(chosen.values())))
    for way, shift in ((EVEN, 0.97), (SUPPORT, 1.03)):  # apart, so that the error bars do not hide each other
        mean, sd = np.transpose([recall(chosen[way, epsilon], best) for epsilon in epsilons])
        axes.errorbar(np.multiply(epsilons, shift), mean, sd, color=COLOURS[way], marker="o", capsize=3, label=way)
    axes.axhline(options.k / 64, color="grey", linestyle=":", label="at random")
    axes.set_xscale("log", base=2)
    axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    axes.set_ylim(0, 1.05)
    axes.set_xlabel("ε of one selection")
    axes.set_ylabel(f"share of the {options.k} best pixels found")
    axes.set_title(f"recall, mean ± sd over {n_repeats} repeats")
    axes.legend(loc="upper left")


def draw_pixels(axes, frequency, best, title):
    image = axes.imshow(np.reshape(frequency, (8, 8)), vmin=0, vmax=1, cmap="Blues")
    for row, column in np.argwhere(best.reshape(8, 8)):
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="tab:red", linewidth=1.5))
    axes.set_title(title)
    axes.set_xticks([])
    axes.set_yticks([])
    return image


if __name__ == "__main__":
    main()
