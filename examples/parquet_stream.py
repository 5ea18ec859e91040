"""Private scores of a table that does not fit in memory, read from a Parquet file one row group at a time.

Unless the file exists, the script writes a simulated table of 10,000,000 rows and 50 features (4 GB). It then reads the
row groups one by one, counts each with ``count_stream`` and drops it; ``fit_sketch`` draws the noise once. The scores
have the same distribution as those of ``fit`` on the whole table.

    python examples/parquet_stream.py --rows 10000000 --features 50 --file table.parquet
"""

import argparse
import resource
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

from skdpmic import DPMICScorer
from skdpmic.counting import count_stream

GROUP = 100_000  # rows per row group; one group is in memory at a time
PUBLIC = {"bounds": (0, 1), "target_bounds": (-0.5, 1.5)}  # known from how the table is simulated


def main(argv=None):
    options = parse(argv)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(options.file or Path(folder) / "table.parquet")
        if not path.exists():
            write_table(path, options.rows, options.features)
        scorer = score_file(path, options.epsilon)
    print_scores(scorer)
    print(f"{memory_used():.2f} GB of memory at most")


def parse(argv):
    parser = argparse.ArgumentParser(description="Private scores of a Parquet file, in bounded memory.")
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the simulated table")
    parser.add_argument("--features", type=int, default=50, help="features of the simulated table")
    parser.add_argument("--epsilon", type=float, default=1.0, help="privacy budget for all scores together")
    parser.add_argument("--file", help="the table, which is written if it does not exist; by default a temporary file")
    return parser.parse_args(argv)


def write_table(path, n_rows, n_features):
    """Simulate a table whose target depends on its first feature, nonlinearly."""
    names = [f"x{j}" for j in range(n_features)]
    schema = pa.schema([(name, pa.float64()) for name in [*names, "y"]])
    rng = np.random.default_rng(0)
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for first in tqdm(range(0, n_rows, GROUP), desc="writing", unit="group"):
            X = rng.random((n_features, min(GROUP, n_rows - first)))
            y = (2 * X[0] - 1) ** 2 + 0.1 * rng.standard_normal(X.shape[1])
            writer.write_batch(pa.record_batch([*map(pa.array, X), pa.array(y)], schema=schema))


def score_file(path, epsilon):
    """Count all row groups, then draw the noise once."""
    with pq.ParquetFile(path) as file:
        n = file.metadata.num_rows  # public, as everywhere in this package
        scorer = DPMICScorer(epsilon=epsilon, **PUBLIC)
        names = [name for name in file.schema_arrow.names if name != "y"]
        groups = tqdm(range(file.num_row_groups), desc="counting", unit="group")
        rows = map(file.read_row_group, groups)  # iter_batches would keep earlier groups in memory
        sketch = count_stream(scorer.empty_sketch(n, feature_names=names), rows, target="y")
    return scorer.fit_sketch(sketch)


def print_scores(scorer):
    print(f"epsilon = {scorer.privacy_spent_[0]:g}; the five best of {scorer.n_features_in_} features:")
    print(scorer.to_frame()[["feature", "score", "lower", "upper"]].head(5).round(4))


def memory_used():
    """Peak memory of this process, in GB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e9 if sys.platform == "darwin" else most / 1e6


if __name__ == "__main__":
    main()
