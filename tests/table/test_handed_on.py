"""What one step hands on to the next reads as the table itself, whatever one record holds.

For every container, `transform` must give a table that reads as the given one with the chosen columns kept. Then one
record is replaced by an odd one, and all others must be predicted, encoded and counted as before, at the end of
pipelines of our steps. ``test_any_container.py`` has the typed columns; here are also tables of objects.
"""

import datetime
import math
import warnings
from collections import UserList
from decimal import Decimal
from fractions import Fraction

import narwhals as nw
import numpy as np
import pandas
import polars
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from skdpmic import (
    BudgetLedger,
    DPMICScorer,
    PrivateAdditiveRegressor,
    PrivateGridSearch,
    PrivateSelectKBest,
    PublicEncoder,
    private_bounds,
    private_evaluation,
)
from skdpmic.selection.selectors import ColumnSelectionMixin
from skdpmic.table.facts import PublicFacts
from skdpmic.table.records import read_columns
from skdpmic.table.tables import open_table
from tests.folding import each
from tests.table.arrow_columns import pa as pyarrow
from tests.table.test_any_container import (
    CONTAINERS,
    POOLS,
    WITHOUT_NAMES,
    columns_that_hold,
    facts,
    random_values,
)
from tests.table.test_records_are_independent import Colour, Count, object_array, object_column

OUTPUTS = ("default", "pandas", "polars")


class Kept(ColumnSelectionMixin, BaseEstimator):
    """A selector that keeps given columns."""

    def __init__(self, mask):
        self.mask = mask

    def _get_support_mask(self):
        return np.array(self.mask)

    def fit(self, X):
        seen = open_table(X, "Kept", takes_text=True)
        self.n_features_in_ = seen.n_features
        if seen.names_as_text():
            self.feature_names_in_ = np.array(seen.names, dtype=object)
        return self


def read(X, public):
    """The columns of a table as numbers and codes, by public facts."""
    table = open_table(X, "test", takes_text=True)
    domains = PublicFacts(**public).domains(table.n_features, table.names_as_text())
    return [np.asarray(column) for column in read_columns(table, domains)]


# --- Typed columns ----------------------------------------------------------------------------------------------------


def some_columns(container, rng, most):
    """Random columns of a container and the kinds of these, by name."""
    forms, _, _ = CONTAINERS[container]
    values = next(random_values(rng, POOLS, has_missing=container != "array"))
    names = rng.permutation(sorted(forms)).tolist()[: 1 if container == "array" else most]
    columns = columns_that_hold(container, names, values)
    return columns, {name: forms[name][0] for name in columns}


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_table_handed_on_reads_as_its_chosen_columns(container):
    rng, make = np.random.default_rng(0), CONTAINERS[container][1]
    has_names = container not in WITHOUT_NAMES
    for _ in range(3):
        columns, kinds = some_columns(container, rng, 10)
        if not columns:
            continue
        mask = rng.random(len(columns)) < 0.6
        mask[rng.integers(len(mask))] = True
        chosen = [name for name, is_kept in zip(columns, mask, strict=True) if is_kept]
        keys = {name if has_names else j: kinds[name] for j, name in enumerate(chosen)}
        expected = read(make({name: columns[name] for name in chosen}), facts(keys))
        for output in OUTPUTS:
            selector = Kept(mask.tolist()).set_output(transform=output).fit(make(columns))
            handed_on = selector.transform(make(columns))
            names = selector.get_feature_names_out() if output != "default" or has_names else range(len(chosen))
            by_name = facts({key: kinds[name] for key, name in zip(names, chosen, strict=True)})
            np.testing.assert_equal(read(handed_on, by_name), expected, err_msg=f"{chosen}, {output}")
            whole = selector.inverse_transform(handed_on)
            places = np.flatnonzero(mask)
            back = open_table(whole, "test", takes_text=True)
            assert back.n_features == len(mask)
            again = Kept(mask.tolist()).fit(whole).transform(whole)
            np.testing.assert_equal(read(again, by_name), expected, err_msg=f"{chosen}, {output}, {places}")


@each("kind", ["csr_array", "csc_matrix", "coo_array", "bsr_array", "dia_array", "dok_array", "lil_matrix"])
def test_a_sparse_matrix_handed_on_reads_as_its_chosen_columns(kind):
    dense = np.random.default_rng(0).integers(0, 3, (20, 4)) * (2**53 + 1)
    public = {"bounds": {0: (0, 1e16)}, "categories": {1: [0, 2**53 + 1]}}
    chosen = Kept([True, False, False, True]).fit(dense).transform(getattr(sparse, kind)(dense))
    assert sparse.issparse(chosen)
    np.testing.assert_equal(read(chosen, public), read(dense[:, [0, 3]], public))


# --- One odd record ---------------------------------------------------------------------------------------------------

N = 40
DAY = datetime.date(2000, 1, 1)
NAMES = ["share", "town", "seen", "visits"]
BOUNDS = {"share": (0, 1), "seen": (datetime.date(1990, 1, 1), datetime.date(2010, 1, 1)), "visits": (0, 9)}
TOWNS = ["a", "b"]


ODD = [
    *[None, math.nan, pandas.NA, pandas.NaT, np.datetime64("NaT"), np.timedelta64("NaT"), np.ma.masked],
    *[np.datetime64(1, unit) for unit in ("Y", "D", "ns", "fs", "as")],
    *[np.timedelta64(1, "fs"), datetime.timedelta(1), DAY, datetime.datetime(1, 1, 1), datetime.time(1)],
    *[datetime.datetime(9999, 12, 31, tzinfo=datetime.timezone(datetime.timedelta(hours=-9)))],
    *[pandas.Timestamp("2000-01-01", tz="Asia/Tokyo"), pandas.Timedelta(1), pandas.Period("2000-01")],
    *[2**53 + 1, 2**70, 10**400, -0.0, 1e308, math.inf, True, np.bool_(False), 1j],
    *[np.float16(0.1), np.float32(0.1), np.longdouble(0.1), np.uint8(1), np.uint64(2**63)],
    *[
        Decimal("0.5"),
        Decimal("1e400"),
        Decimal("NaN"),
        Fraction(1, 3),
        pyarrow.scalar(0.5),
        pyarrow.scalar(None),
        Count.TWO,
    ],
    *["0.5", "nan", "None", "", "a", "\ud800", np.str_("b"), Colour.BLUE, b"a", np.bytes_(b"0.5"), bytearray(b"a")],
    *[[1.0], (1.0,), {}, {1}, np.array(0.5), np.array([1.0, 2.0]), np.array("a"), [[1], 2], object(), float, range(2)],
]


def usual_rows(rng):
    """Rows with a number, a label, a date and a constant; one number and one label are missing."""
    share, town = rng.random(N), rng.choice(["a", "b", "elsewhere"], N)
    rows = [[float(share[i]), str(town[i]), DAY + datetime.timedelta(int(rng.integers(2000))), 5] for i in range(N)]
    rows[3][0] = rows[5][1] = math.nan
    return rows


def columns_of(rows):
    return dict(zip(NAMES, map(object_column, zip(*rows, strict=True)), strict=True))


OBJECTS = {
    "list": lambda rows: [list(row) for row in rows],
    "tuple": lambda rows: tuple(map(tuple, rows)),
    "UserList": lambda rows: UserList(map(list, rows)),
    "list of arrays": lambda rows: [object_column(row) for row in rows],
    "object array": object_array,
    "pandas": lambda rows: pandas.DataFrame(columns_of(rows), dtype=object),
    "polars": lambda rows: polars.DataFrame(
        {name: polars.Series(list(column), dtype=polars.Object) for name, column in columns_of(rows).items()}
    ),
}


def public_of(names, has_names):
    """Public facts of these columns, by name, or by number where a container has no names."""
    keys = {name: name if has_names else j for j, name in enumerate(names)}
    bounds = {keys[name]: BOUNDS[name] for name in names if name in BOUNDS}
    return {"bounds": bounds, "categories": {keys["town"]: TOWNS} if "town" in names else None}


def pipeline_of(has_names, output="default", ledger=None):
    """A selector that keeps all but the last column, and a model that reads them."""
    exact = {"epsilon": 1e6, "target_bounds": (0, 1), "ledger": ledger}
    selector = PrivateSelectKBest(3, **public_of(NAMES, has_names), **exact)
    model = PrivateAdditiveRegressor(**public_of(NAMES[:-1], has_names), **exact)
    if output != "default" and not has_names:
        model.set_params(**public_of(NAMES[:-1], True))
        names = {name: f"x{j}" for j, name in enumerate(NAMES)}
        model.set_params(
            bounds={names[name]: entry for name, entry in model.bounds.items()}, categories={names["town"]: TOWNS}
        )
    return make_pipeline(selector.set_output(transform=output), model)


def target_of(rows):
    """A target that all columns but the last determine, so that these are chosen."""
    return [0.3 * (row[1] == "a") + 0.4 * (row[2] - DAY).days / 2000 + 0.3 * max(0, row[0]) for row in rows]


def outcome(call):
    """The result; None if it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except (ValueError, TypeError):
            return None


@pytest.mark.parametrize("container", OBJECTS)
def test_one_odd_record_changes_no_other_at_the_end_of_a_pipeline(container, tmp_path):
    rng, make = np.random.default_rng(list(OBJECTS).index(container)), OBJECTS[container]
    rows = usual_rows(rng)
    y, has_names, others = target_of(rows), container in ("pandas", "polars"), np.arange(N) < N - 1
    models = {output: pipeline_of(has_names, output).fit(make(rows), y) for output in OUTPUTS}
    assert all(model[0].get_support().tolist() == [True, True, True, False] for model in models.values())
    grid = {"privateadditiveregressor__delta": [1e-6, 1e-7]}
    search = PrivateGridSearch(pipeline_of(has_names), grid, epsilon=1e6, n_subsets=2)
    models["search"] = search.fit(make(rows), y).best_estimator_
    expected = {name: model.predict(make(rows)) for name, model in models.items()}
    n_read = n_fitted = 0
    for number, odd in enumerate(ODD):
        changed, name = [list(row) for row in rows], list(models)[number % len(models)]
        changed[-1][rng.integers(len(NAMES))] = odd
        X = make(changed)
        found = outcome(lambda: models[name].predict(X))  # noqa: B023
        if found is not None:
            n_read += 1
            np.testing.assert_array_equal(found[others], expected[name][others], err_msg=f"{odd!r}, {name}")
        if rng.random() < 0.2:
            ledger = BudgetLedger(tmp_path / f"{number}.db", epsilon=1e8, delta=0.9, composition="basic")
            fitted = outcome(lambda: pipeline_of(has_names, OUTPUTS[number % 3], ledger).fit(X, y))  # noqa: B023
            assert len(ledger.entries()) == (0 if fitted is None else 2), repr(odd)
            if fitted is not None:
                n_fitted += 1
                counts = zip(fitted[-1].noisy_counts_, models["default"][-1].noisy_counts_, strict=True)
                assert max(np.abs(here - there).sum() for here, there in counts) < 2.5, repr(odd)
    assert n_read > 20
    assert n_fitted > 0


@pytest.mark.parametrize("container", ["pandas", "polars"])
@pytest.mark.parametrize("output", OUTPUTS)
def test_one_odd_record_changes_no_other_behind_the_encoder(container, output):
    rng, make, public = np.random.default_rng(0), OBJECTS[container], public_of(NAMES, True)
    rows = usual_rows(rng)
    model = make_pipeline(Kept([True] * 4), PublicEncoder(**public)).set_output(transform=output)
    expected = nw.from_native(model.fit(make(rows)).transform(make(rows))).to_numpy()[:-1]
    for odd in ODD:
        changed = [list(row) for row in rows]
        changed[-1][rng.integers(len(NAMES))] = odd
        found = outcome(lambda: nw.from_native(model.transform(make(changed))).to_numpy()[:-1])  # noqa: B023
        if found is not None:
            np.testing.assert_array_equal(found, expected, err_msg=repr(odd))


class HidesValues:
    """An object whose conversion to an array hides values."""

    def __init__(self, values):
        self.values, self.shape = values, values.shape

    def __array__(self, *_, **__):
        return self.values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, rows):
        return HidesValues(self.values[rows])


def test_hidden_values_are_read_nowhere():
    X = np.random.default_rng(0).random((N, 2))
    exact = {"epsilon": 1e6, "bounds": (0, 1), "target_bounds": (0, 1)}
    masked = np.ma.masked_array(X, X > 0.5)
    selector = PrivateSelectKBest(1, **exact).fit(X, X[:, 0])
    model = PrivateAdditiveRegressor(**exact)
    pipeline = make_pipeline(selector, model).fit(X, X[:, 0])
    public = LinearRegression().fit(X, X[:, 0])
    sketch = DPMICScorer(**exact).empty_sketch(N, n_features=2)
    options = {"epsilon": 1.0, "target_bounds": (0, 1), "model_is_public": True}
    reads = [
        *(selector.transform, lambda X: selector.inverse_transform(X[:, :1]), pipeline.predict),
        *(lambda X: pipeline.fit(X, masked.data[:, 0]), lambda X: sketch.update(X, masked.data[:, 0])),
        *(lambda X, m=m: private_evaluation(m, X, masked.data[:, 0], **options) for m in (pipeline, public)),
        *(lambda X: model.fit(masked.data, X[:, 0]), lambda X: private_bounds(X[:, 0], epsilon=1)),
        lambda X: selector.set_params(max_rows_per_group=1).fit(masked.data, masked.data[:, 0], groups=X[:, 0]),
    ]
    for read_table in reads:
        for hiding in (masked, HidesValues(masked))[: 1 if read_table is reads[-4] else 2]:  # a public model may do so
            with pytest.raises(TypeError, match="must not be a masked array"):
                read_table(hiding)


def arrow_of(X):
    return pyarrow.table({f"x{j}": column for j, column in enumerate(X.T)})


EVALUATED = {
    **{kind: getattr(sparse, f"{kind}_matrix") for kind in ("coo", "dia", "bsr", "csc")},
    **{f"{kind}_array": getattr(sparse, f"{kind}_array") for kind in ("coo", "dok", "lil")},
    "memory": memoryview,
    "array of the standard": lambda X: pytest.importorskip("array_api_strict").asarray(X),
    "list of arrays": list,
    "record batch": lambda X: arrow_of(X).to_batches()[0],
    "reader": lambda X: arrow_of(X).to_reader(),
    "relation": lambda X: pytest.importorskip("duckdb").from_arrow(arrow_of(X)),
    "lazy": lambda X: polars.LazyFrame(X),
    "narwhals": lambda X: nw.from_native(polars.DataFrame(X)),
}


@each("container", EVALUATED)
def test_a_table_in_any_container_can_be_evaluated_one_record_at_a_time(container):
    X, make = np.eye(8), EVALUATED[container]
    options = {"epsilon": math.inf, "target_bounds": (0, 1), "model_is_public": True}
    model = LinearRegression().fit(X, X[:, 0])
    ours = PrivateAdditiveRegressor(epsilon=math.inf, bounds=(0, 1), target_bounds=(0, 1)).fit(X, X[:, 0])
    expected = private_evaluation(model, X, X[:, 0], **options).noisy_counts["sums"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a model fitted to an array is asked about a dataframe
        found = private_evaluation(model, make(X), X[:, 0], **options).noisy_counts["sums"]
        np.testing.assert_array_equal(ours.fit(make(X), X[:, 0]).predict(make(X)), ours.fit(X, X[:, 0]).predict(X))
    np.testing.assert_array_equal(found, expected)


def test_values_that_python_lacks_are_handed_on_beside_others():
    """The column is kept, so it is not read before the charge."""
    far = pyarrow.array([{"a": 10**18}, {"a": 1}, None], pyarrow.struct([("a", pyarrow.timestamp("s"))]))
    for output in ("pandas", "polars"):
        handed_on = Kept([True, True]).set_output(transform=output)
        table = pyarrow.table({"x": [0.0, 1.0, 2.0], "far": far})
        kept = handed_on.fit(table).transform(table)["far"]
        assert kept[1] == {"a": datetime.datetime(1970, 1, 1, 0, 0, 1)}
        assert kept[2] is None


def test_a_table_that_is_not_in_memory_is_not_evaluated_in_pieces():
    X, model = pytest.importorskip("dask.array").ones((8, 8)), LinearRegression().fit(np.eye(8), np.eye(8)[0])
    with pytest.raises(TypeError, match=r"X must be in memory, got a dask collection: call .compute\(\) first"):
        private_evaluation(model, X, [0.5] * 8, epsilon=1.0, target_bounds=(0, 1), model_is_public=True)
