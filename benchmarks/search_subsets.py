"""How often a private search prefers too few columns, by the number of its subsets.

``python -m benchmarks.search_subsets`` prints the share of searches that chose k=1 where k=2 is better.
"""

import warnings

import numpy as np
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from tqdm import tqdm

from skdpmic import PrivateGridSearch, PrivateSelectKBest

N, D, REPEATS = 5000, 20, 60


def chosen(n_subsets, seed):
    """The number of columns that a search chooses; two of them make up the target."""
    rng = np.random.default_rng(seed)
    X = rng.random((N, D))
    y = np.clip(X[:, 3] + X[:, 7] / 2 + 0.1 * rng.standard_normal(N), 0, 1.5)
    selector = PrivateSelectKBest(1, epsilon=1.0, bounds=(0, 1), target_bounds=(0, 1.5))
    model = make_pipeline(selector, KNeighborsRegressor(10))
    search = PrivateGridSearch(model, {"privateselectkbest__k": [1, 2]}, n_subsets=n_subsets, refit=False)
    return search.fit(X, y).best_params_["privateselectkbest__k"]


def main():
    """Print the shares."""
    warnings.simplefilter("ignore")
    print("subsets  k=1 chosen")
    for n_subsets in (70, 35, 17):
        ks = [chosen(n_subsets, seed) for seed in tqdm(range(REPEATS), desc=str(n_subsets), disable=None)]
        print(f"{n_subsets:7}  {ks.count(1) / REPEATS:10.1%}")


if __name__ == "__main__":
    main()
