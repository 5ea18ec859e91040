"""Many rows and many features: memory and time of streamed and wide tables.

    python benchmarks/scale.py stream --rows 10000000   # peak memory and throughput of a Parquet file, 50 features
    python benchmarks/scale.py lines --output FILE      # time by rows and by features, drawn: docs/images/scale.png

Times are minima over several runs in one thread.
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

from benchmarks.output import ROOT, add_output, refuse_to_overwrite
from benchmarks.style import BLUE, GREY, ORANGE, WIDTH, legible
from skdpmic import DPMICScorer
from skdpmic._utils.jit import jit

EXAMPLE = ROOT / "examples" / "parquet_stream.py"
N_FEATURES = 50
VALUES = 10_000_000  # read at least by the runs of a fit in `lines`; 15 to 500 runs
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["stream", "write", "stream-one", "lines"])
    parser.add_argument(
        "--rows", type=int, default=10_000_000, help="rows of the table; for stream, of its largest table"
    )
    parser.add_argument("--file", help="the Parquet file that write makes and stream-one reads")
    add_output(parser, ROOT / "docs" / "images" / "scale.png", "picture")
    options = parser.parse_args(argv)
    if options.what == "lines":
        refuse_to_overwrite(parser, options)
    steps = {"stream": stream, "write": write, "stream-one": stream_one, "lines": lines}
    steps[options.what](options)


# --- Streamed -------------------------------------------------------------------------------------------------


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


# --- Lines ----------------------------------------------------------------------------------------------------


def table(n, d):
    X = np.random.default_rng(0).random((n, d))
    return X, X[:, 0] ** 2


def timed(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def lines(options):
    """Three decades of rows at 3 features, and of features at 300 rows; B is fixed, so all count the same grids."""
    from matplotlib.figure import Figure

    rows, features = np.geomspace(30_000, 30_000_000, 7).astype(int), np.geomspace(10, 10_000, 7).astype(int)
    by_rows = {f"B = {B}": [time_of_fit(n, 3, B) for n in rows] for B in (30, 150)}
    by_features = {"B = 60": [time_of_fit(300, d, 60) for d in features]}
    with legible():
        figure = Figure(figsize=(WIDTH, 6.6))
        above, below = figure.subplots(2, 1)
        draw(above, rows, by_rows, "rows (3 columns)")
        draw(below, features, by_features, "columns (300 rows)")
        figure.savefig(options.output)


def time_of_fit(n, d, B):
    X, y = table(n, d)
    scorer = DPMICScorer(B=B, c=5, **PUBLIC).fit(X[:100], y[:100])
    n_runs = int(np.clip(VALUES / X.size, 15, 500))
    seconds = min(timed(lambda: scorer.fit(X, y)) for _ in range(n_runs))
    print(f"{n:>9,} rows, {d:>6,} features, B = {B}: {seconds:.4f} s", flush=True)
    return seconds


def draw(axes, sizes, times, label):
    for (name, seconds), color, line in zip(times.items(), (BLUE, ORANGE), ("solid", "dashed"), strict=False):
        axes.loglog(sizes, seconds, marker="o", color=color, linestyle=line, label=name)
    largest = max(seconds[-1] for seconds in times.values())
    axes.loglog(sizes, largest * sizes / sizes[-1], color=GREY, linestyle="dotted", label="proportional")
    axes.set(xlabel=label, ylabel="seconds of a fit,\nthe best of several")
    axes.legend(frameon=False)


if __name__ == "__main__":
    main()
