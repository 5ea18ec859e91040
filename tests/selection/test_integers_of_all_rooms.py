"""Everything that reads a column takes integers, as features and as target, and reads only the nearest integer."""

import numpy as np
import pandas
import pytest

from skdpmic import (
    Codebook,
    DPMICScorer,
    DPMICSelector,
    PrivateAdditiveClassifier,
    PrivateAdditiveRegressor,
    PrivateSelectKBest,
    PublicEncoder,
    private_evaluation,
    private_summary,
)
from skdpmic.causal import PrivatePC
from skdpmic.command_line.main import main
from skdpmic.counting import RangeGridSketch
from skdpmic.statistics.registry import statistic_named
from skdpmic.table.domains import Integers
from skdpmic.table.records import Shape
from skdpmic.table.values import ClassTarget, NumericTarget
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer
from tests.folding import each
from tests.seeded_noise import noise_of

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # about noise in small tables

N = 600
RANGES = {"flag": range(2), "health": range(1, 6), "age": range(121)}
BOUNDS = RANGES | {"size": (0, 1)}
STAY = range(15)


def people(is_tidy):
    """Integers, or values whose nearest integers these are, in and out of the ranges; some missing; and a target."""
    rng = np.random.default_rng(0)
    X = pandas.DataFrame({name: rng.choice(values, N).astype(float) for name, values in RANGES.items()})
    stay = np.clip(X["health"] + rng.poisson(3, N), 0, 14)
    X["size"], off = rng.random(N), rng.uniform(-0.5, 0.5, (N, 4))
    X.loc[::9, "health"] = np.nan
    if not is_tidy:
        for j, (name, values) in enumerate(RANGES.items()):
            far = np.where(X[name] == values[-1], 7.3, np.where(X[name] == values[0], -1e9, 0))
            X[name] += np.where(rng.random(N) < 0.3, far, off[:, j])
        stay += np.where(stay == 14, 40, off[:, 3])
    return X, stay.to_numpy(), (people(True)[1] if not is_tidy else stay.to_numpy()) > 6


def of_two_parties(X, stay):
    alice = RandomizedResponse(5, bounds=BOUNDS, allow_missing=True, random_state=0).fit(X)
    bob = TwoPartyScorer(epsilon=1, target_bounds=STAY, random_state=0)
    return bob.fit(alice.to_arrow(alice.transform(X)), stay)


def sketch_of(X, stay, **kind):
    return RangeGridSketch(B=16, **kind, **NUMBERS).update(X, stay)


NUMBERS = {"bounds": BOUNDS, "target_bounds": STAY}
JOINT = NUMBERS | {"criterion": "joint"}
CLASSES = {"bounds": BOUNDS, "classes": [False, True]}
PC = {"bounds": BOUNDS, "epsilon": 5, "delta": 1e-3}
RELEASES = {
    "names": lambda X, stay, ill: PrivateSelectKBest(2, epsilon=2, **NUMBERS).fit(X, stay).ranking_,
    "joint": lambda X, stay, ill: PrivateSelectKBest(2, epsilon=2, criterion="joint", **CLASSES).fit(X, ill).ranking_,
    "keep": lambda X, stay, ill: (
        PrivateSelectKBest(1, criterion="joint", keep=["age"], **NUMBERS).fit(X, stay).ranking_
    ),
    "mtv_r": lambda X, stay, ill: DPMICScorer(epsilon=2, statistic="mtv_r", **NUMBERS).fit(X, stay).scores_,
    "mic_r": lambda X, stay, ill: DPMICScorer(epsilon=2, statistic="mic_r", **NUMBERS).fit(X, stay).scores_,
    "mic_r of classes": lambda X, stay, ill: DPMICScorer(statistic="mic_r", **CLASSES).fit(X, ill).scores_,
    "counts": lambda X, stay, ill: DPMICScorer(mechanism="geometric", **NUMBERS).fit(X, stay).scores_,
    "selector": lambda X, stay, ill: DPMICSelector(k=2, epsilon=2, **CLASSES).fit(X, ill).p_values(),
    "classifier": lambda X, stay, ill: PrivateAdditiveClassifier(2.0, **CLASSES).fit(X, ill).predict_proba(X),
    "regressor": lambda X, stay, ill: PrivateAdditiveRegressor(2.0, **NUMBERS).fit(X, stay).predict(X),
    "scorecard": lambda X, stay, ill: PrivateAdditiveRegressor(2.0, 0.0, **NUMBERS).fit(X, stay).coef_,
    "encoder": lambda X, stay, ill: PublicEncoder(bounds=BOUNDS).fit_transform(X).to_numpy(),
    "sketch": lambda X, stay, ill: DPMICScorer(B=16).fit_sketch(sketch_of(X, stay)).scores_,
    "two parties": lambda X, stay, ill: of_two_parties(X, stay).scores_,
    "graph": lambda X, stay, ill: np.concatenate(PrivatePC(**PC).fit(X).noisy_counts_),
}


@each("release", RELEASES)
def test_a_release_reads_only_the_nearest_integer_of_each_value(release):
    published = []
    for is_tidy in (True, False):
        with noise_of("the same"):
            published.append(RELEASES[release](*people(is_tidy)))
    assert len(published[0]) > 0
    np.testing.assert_array_equal(*published)


@each("delta", [0.0, 1e-6])
def test_sums_means_and_distances_of_integers_are_those_of_their_range(delta):
    """A range of 1 to 5 in sums must not grow to .5 to 5.5, with a quarter more noise."""
    X, stay, _ = people(True)
    fits = []
    for bounds in (STAY, (0, 14)):
        with noise_of("the same"):
            model = PrivateAdditiveRegressor(2.0, delta, bounds=BOUNDS, target_bounds=bounds).fit(X, stay)
            kept = private_evaluation(model, X, stay, epsilon=1, model_is_public=True)
        fits.append((model.coef_, model.intercept_, model.target_window_, list(kept.figures.values())))
    for of_integers, of_range in zip(*fits, strict=True):
        np.testing.assert_array_equal(of_integers, of_range)
    answers = X[["health"]]
    encoded = [PublicEncoder(bounds=bounds).fit_transform(answers) for bounds in (range(1, 6), (1, 5))]
    np.testing.assert_array_equal(*encoded)


def test_the_codebook_of_integers_is_written_and_read_again_and_gives_estimators_ranges():
    codebook = Codebook(BOUNDS | {"stay": {"type": "integer", "range": [0, 14], "unit": "days"}})
    again = Codebook.parse(codebook.to_toml())
    assert again == codebook
    assert again.columns["stay"].fields() == {"type": "integer", "range": [0, 14], "unit": "days"}
    assert again.target("stay", [*BOUNDS]) == {"bounds": BOUNDS, "categories": {}, "target_bounds": STAY}
    assert Codebook({"stay": {"type": "integer", "range": [0, 14], "scale": "linear"}}).columns["stay"].bounds == STAY
    assert 'type = "number" # or integer, for whole numbers; or' in Codebook.template(people(True)[0])


@each(
    "fields, message",
    [
        ({"range": [1.5, 5]}, "the range of column 'x' must hold two integers"),
        ({"range": [5, 5]}, r"must hold two integers, the lower one first, got .5, 5.\.$"),
        ({"range": [1, 2, 3]}, r"the range of column 'x' must be \[lower, upper\]"),
        ({"knots": [1, 2, 3]}, "the type of column 'x' must be 'number' with these values"),
        ({"range": [1, 5], "scale": "log"}, "the type of column 'x' must be 'number' with these values"),
        ({"labels": [1, 2, 3]}, "the type of column 'x' must be 'labels' with these values"),
        ({}, "column 'x' must have a range, got none"),
    ],
)
def test_fields_that_do_not_describe_integers_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        Codebook({"x": {"type": "integer"} | fields})


def test_the_command_line_reads_integers_of_the_codebook(tmp_path, capsys):
    X, stay, _ = people(False)
    X.assign(stay=stay).to_csv(tmp_path / "people.csv", index=False)
    codebook = Codebook(BOUNDS | {"stay": STAY})
    codebook.write(tmp_path / "codebook.toml")
    where = [str(tmp_path / "people.csv"), "--codebook", str(tmp_path / "codebook.toml"), "--epsilon", "2", "--yes"]
    with noise_of("the same"):
        assert main(["select", *where, "--target", "stay", "--k", "1"]) == 0
    with noise_of("the same"):
        chosen = PrivateSelectKBest(1, epsilon=2, **codebook.target("stay", X)).fit(X, stay).get_feature_names_out()
    assert chosen[0] in capsys.readouterr().out
    assert main(["summary", *where]) == 0
    assert "health" in capsys.readouterr().out


def test_a_sketch_of_integers_survives_its_bytes_and_has_the_scores_of_the_table():
    X, stay, _ = people(False)
    again = RangeGridSketch.from_bytes(sketch_of(X, stay, statistic="mtv_r", c=4).to_bytes())
    assert again.description.domains[:3] == [Integers(each[0], each[-1]) for each in RANGES.values()]
    of_sketch, of_table = (DPMICScorer(epsilon=np.inf, statistic="mtv_r", B=16, c=4) for _ in range(2))
    of_table.set_params(**NUMBERS).fit(X, stay)
    np.testing.assert_array_equal(of_sketch.fit_sketch(again).scores_, of_table.scores_)


def test_reports_have_no_more_parts_than_integers():
    alice = RandomizedResponse(20, bounds=BOUNDS, n_parts=8).fit(people(True)[0])
    assert list(alice.n_parts_) == [2 + 1, 5 + 1, 8 + 1, 8 + 1]


def test_graphs_have_one_cell_for_each_integer_up_to_64():
    fitted = PrivatePC(**PC).fit(people(False)[0])
    assert [len(counts) for counts in fitted.noisy_counts_] == [2 + 1, 5 + 1, 64 + 1, 64 + 1]


def test_a_summary_counts_integers_and_says_how_many_lie_outside():
    X = pandas.DataFrame({"flag": [0, 1, 1.2, -1, 2] * 400, "one": [1, 2] + [3] * 1998, "year": [9, 10] * 1000})
    codebook = Codebook({"flag": range(2), "one": range(1, 6), "year": range(1000)})
    summary = private_summary(X, codebook, epsilon=1000)
    shares = summary.to_frame().set_index(["column", "of"])["share"]
    assert shares["flag"].round(1).to_dict() == {"missing": 0, "below": 0.2, "above": 0.2, "0": 0.2, "1": 0.4}
    assert [of for column, of in shares.index if column == "year"][3:5] == ["0 to 90", "91 to 181"]
    below, above, one, year = summary.suspicious
    assert "of flag lies below its range, which ends at 0: check" in below
    assert "of flag lies above its range, which ends at 1: check" in above
    assert one.endswith("of one is 3: the column hardly distinguishes records.")
    assert year.endswith("of year lies in a small part of its range, 0 to 90: narrow the range if possible.")


@each("statistic", ["mtv_r", "mic_r"])
@each("n_classes", [None, 2, 3])
def test_replacing_one_record_changes_no_score_by_more_than_the_sensitivity(statistic, n_classes):
    """Single scores and joint ones, which also with an integer target; random tables of 12 records, many replaced."""
    n, kinds = 12, [Integers(0, 1), Integers(1, 5), Integers(0, 120)]
    measure = statistic_named(statistic, "miller-madow").measure(8.0, 2.0, n, 1.0, n_classes)
    limit = measure.sensitivity(Shape(n, [kind.encoded for kind in kinds])) + 1e-9
    largest = 0.0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        x, given = (kind.encode(rng.choice(kind.bounds, n + 1)) for kind in (kinds[seed % 3], kinds[(seed + 1) % 3]))
        x[rng.random(n + 1) < 0.2] = np.nan
        y = np.nan_to_num(x).astype(int) if seed % 2 else rng.integers(9, size=n + 1)
        y = y % (n_classes or 4)
        changes = []
        for rows in (np.arange(n), np.r_[1 : n + 1]):  # the first record in place of the last
            y_of, scale = y[rows], kinds[seed % 3].encoded
            is_number = n_classes is None
            target = NumericTarget(y_of + 1.0, Integers(1, 4).encoded) if is_number else ClassTarget(y_of, n_classes)
            scores = [measure.scorer(target, None).score(x[rows], scale)]
            if statistic == "mtv_r":
                beside = measure.scorer_beside(target, given[rows], kinds[(seed + 1) % 3].encoded)
                scores.append(beside.score(x[rows], scale))
            changes.append(scores)
        largest = max(largest, np.abs(np.subtract(*changes)).max())
    assert 0.2 * limit < largest <= limit


def test_a_learnt_cut_of_an_integer_target_lies_between_integers():
    X, stay, _ = people(True)
    cut = DPMICScorer(epsilon=5, statistic="mtv_r", **NUMBERS).fit(X, stay).target_cut_
    assert cut % 1 == 0.5
    assert 0.3 < (stay < cut).mean() < 0.7


def test_a_plan_takes_integers():
    plans = [PrivateSelectKBest(1, bounds=bounds, target_bounds=STAY).plan(5000, 3) for bounds in (range(5), (0, 4))]
    assert plans[0][0] == plans[1][0]
