"""Many rows: memory and time of streamed tables.

python benchmarks/scale.py stream --rows 10000000   # peak memory and throughput of a Parquet file, 50 features
"""

import argparse
import subprocess
import sys
import tempfile
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))  # so that a kernel has one module name in numba's cache

from benchmarks.output import ROOT
from skdpmic import DPMICScorer
from skdpmic._utils.jit import jit

EXAMPLE = ROOT / "examples" / "parquet_stream.py"
N_FEATURES = 50


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["stream", "write", "stream-one"])
    parser.add_argument(
        "--rows", type=int, default=10_000_000, help="rows of the table; for stream, of its largest table"
    )
    parser.add_argument("--file", help="the Parquet file that write makes and stream-one reads")
    options = parser.parse_args(argv)
    {"stream": stream, "write": write, "stream-one": stream_one}[options.what](options)


def stream(options):
    """Each table has its own process, so that peak memory is that of one table."""
    with tempfile.TemporaryDirectory() as folder:
        for rows in (options.rows // 100, options.rows // 10, options.rows):
            path = Path(folder) / f"{rows}.parquet"
            for step in ("write", "stream-one"):
                subprocess.run([sys.executable, __file__, step, "--file", path, "--rows", str(rows)], check=True)
            path.unlink()


def write(options):
    load_example().write_table(Path(options.file), options.rows, N_FEATURES)


def stream_one(options):
    example = load_example()
    with example.pq.ParquetFile(options.file) as file:
        n = file.metadata.num_rows
        first = file.read_row_group(0).to_pandas()[:1000]
    DPMICScorer(**example.PUBLIC).partial_fit(first.drop(columns="y"), first["y"]).publish()  # compiles
    histograms(first.drop(columns="y").to_numpy(), first["y"].to_numpy())

    start = time.perf_counter()
    scorer = DPMICScorer(**example.PUBLIC)
    counting = passing = 0.0
    with example.pq.ParquetFile(options.file) as file:
        for i in range(file.num_row_groups):
            frame = file.read_row_group(i).to_pandas()
            X, y = frame.drop(columns="y"), frame["y"]
            counting += timed(lambda: scorer.partial_fit(X, y, n_expected=n))  # noqa: B023 - called at once
            passing += timed(lambda: histograms(X.to_numpy(), y.to_numpy()))  # noqa: B023
    publishing = timed(scorer.publish)
    total = time.perf_counter() - start - passing
    per_second = n * scorer.n_features_in_ / 1e6
    print(
        f"{n:>11,} rows: peak {example.memory_used():.2f} GB; million values per second: {per_second / total:.1f} in "
        f"all, {per_second / counting:.1f} counted; counting = {counting / passing:.1f} histogram2d passes; "
        f"{publishing:.2f} s to publish",
        flush=True,
    )


def load_example():
    spec = spec_from_file_location("parquet_stream", EXAMPLE)
    example = module_from_spec(spec)
    spec.loader.exec_module(example)
    return example


def histograms(X, y):
    for x in X.T:
        histogram2d(x, y, 12)


@jit
def histogram2d(x, y, n_parts):
    counts = np.zeros((n_parts, n_parts), dtype=np.int64)
    for i in range(len(x)):
        row = min(max(int(x[i] * n_parts), 0), n_parts - 1)
        counts[row, min(max(int((y[i] + 0.5) * 0.5 * n_parts), 0), n_parts - 1)] += 1
    return counts


def timed(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
