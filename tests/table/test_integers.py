"""A table of small integers is scored like floats but never copied to them, which would take eight times the memory."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from skdpmic import DPMICScorer
from skdpmic.table.facts import PublicFacts
from skdpmic.table.records import read_records
from skdpmic.table.tables import open_table

pytestmark = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")  # seeds

GENOTYPES = np.random.default_rng(0).binomial(2, 0.4, size=(300, 40))
TYPES = [np.int8, np.uint8, np.int32, np.uint64, np.float32]


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.bool_])
def test_columns_share_the_memory_of_the_table(dtype):
    X, y = GENOTYPES.astype(dtype), np.arange(300) % 2
    facts = PublicFacts(bounds=(0, 2), classes=[0, 1])
    records = read_records(facts, X, y, "DPMICScorer")
    assert np.shares_memory(records.columns._source, X)
    (column,) = records.columns[3:4]
    assert column.dtype == np.float64
    assert (column == X[:, 3]).all()


@pytest.mark.few
@pytest.mark.parametrize("statistic", ["mic_r", "mtv_r", "kendall"])
@pytest.mark.parametrize("target", ["classes", "numbers"])
@pytest.mark.combinations
def test_every_integer_type_gives_the_release_of_floats(statistic, target):
    y = GENOTYPES[:, 3] * 1.0 if target == "numbers" else GENOTYPES[:, 3] > 0
    public = {"target_bounds": (0, 2)} if target == "numbers" else {"classes": [False, True]}
    scorer = DPMICScorer(statistic=statistic, epsilon=20, bounds=(0, 2), random_state=0, **public)
    expected = scorer.fit(GENOTYPES * 1.0, y).scores_
    for dtype in TYPES:
        assert (scorer.fit(GENOTYPES.astype(dtype), y).scores_ == expected).all()


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
def test_a_dataframe_stored_as_one_array_is_read_as_that_array(dtype):
    frame = pd.DataFrame(GENOTYPES.astype(dtype)).add_prefix("snp")
    table = open_table(frame, "DPMICScorer")
    assert np.shares_memory(table.values, frame.to_numpy())
    assert table.names == list(frame.columns)
    scorer = DPMICScorer(bounds=(0, 2), classes=[0, 1, 2], random_state=0)
    expected = scorer.fit(GENOTYPES * 1.0, GENOTYPES[:, 3]).scores_
    assert (scorer.fit(frame, GENOTYPES[:, 3]).scores_ == expected).all()
    assert (scorer.fit(frame.assign(snp0=frame["snp0"].astype("Int16")), GENOTYPES[:, 3]).scores_ == expected).all()
    assert list(scorer.feature_names_in_) == list(frame.columns)


_FIT = """
import resource, warnings
import numpy as np
from skdpmic import DPMICSelector, PrivateSelectKBest

warnings.simplefilter("ignore")
X, y = np.zeros((1000, 50_000), dtype=np.int8), np.arange(1000) % 2
X[::2] = 1
public = {"bounds": (0, 2), "classes": [0, 1]}
before = 0
for estimator in (PrivateSelectKBest(10, **public), DPMICSelector(**public)):
    estimator.fit(X[:, :100].copy(), y)
    before = max(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    estimator.fit(X, y)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / 50_000)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems count resident memory in other units")
def test_a_fit_takes_a_few_hundred_bytes_per_column_beyond_the_table():
    # Results and noise; a copy as floats would take 8,000.
    run = subprocess.run([sys.executable, "-c", _FIT], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 500
