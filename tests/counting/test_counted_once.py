"""No count enters a merged sketch twice, by any route; sketches that were counted separately can be merged."""

import copy
import json
import pickle

import numpy as np
import pytest

from skdpmic.counting import RangeGridSketch, merge_all
from skdpmic.counting import sketch as chunks

D = 2
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1), "B": 4, "c": 1, "n_features": D}
TWICE = "sketches must have no counts in common to be merged.*merge each sketch once"


def empty():
    return RangeGridSketch(**PUBLIC)


def chunk(n=5, seed=0):
    random = np.random.default_rng(seed)
    return random.random((n, D)), random.random(n)


def counted(n=5):
    return empty().update(*chunk(n))


def saved(sketch):
    return RangeGridSketch.from_bytes(sketch.to_bytes())


COPIES = {
    "itself": lambda sketch: sketch,
    "a copy": copy.copy,
    "a deep copy": copy.deepcopy,
    "a pickle": lambda sketch: pickle.loads(pickle.dumps(sketch)),
    "its bytes": saved,
    "merged": lambda sketch: sketch.merge(counted()),
    "merged into another": lambda sketch: counted().merge(counted()).merge(sketch),
    "merged with none": lambda sketch: empty().merge(sketch),
    "merged and saved": lambda sketch: saved(counted().merge(sketch)),
    "with more records": lambda sketch: copy.deepcopy(sketch).update(*chunk()),
}


@pytest.mark.parametrize("made", COPIES.values(), ids=COPIES)
def test_a_sketch_is_not_merged_with_one_that_contains_the_same_counts(made):
    sketch = counted()
    other = made(sketch)
    before = copy.deepcopy(sketch), copy.deepcopy(other)
    for merge in (sketch.merge, other.merge):
        with pytest.raises(ValueError, match=TWICE):
            merge(other if merge == sketch.merge else sketch)
    assert (sketch, other) == before
    with pytest.raises(ValueError, match=TWICE):
        merge_all([counted(), sketch, counted(), other])
    with pytest.raises(ValueError, match=TWICE):
        merge_all(each for each in (sketch, empty(), other))
    assert sketch.update(*chunk()).n_samples == 5 + before[0].n_samples  # it still accepts records


def test_a_file_that_is_loaded_twice_is_not_counted_twice(tmp_path):
    counted().save(tmp_path / "a")
    with pytest.raises(ValueError, match=TWICE):
        merge_all(RangeGridSketch.load(tmp_path / "a") for _ in range(2))


def test_copies_of_an_empty_sketch_can_be_filled_separately_and_merged():
    first = empty()
    sent = [pickle.loads(pickle.dumps(first)) for _ in range(3)]
    sent += [copy.copy(first), first.empty(), saved(first), first]
    sent += [first.update(np.empty((0, D)), []).empty(), pickle.loads(pickle.dumps(first))]  # no rows add no counts
    filled = [sketch.update(*chunk(seed=i)) for i, sketch in enumerate(sent)]
    assert merge_all([empty(), *map(saved, filled), empty()]).n_samples == 5 * len(sent)


@pytest.mark.parametrize("seed", range(5))
def test_after_any_history_a_merge_is_refused_if_and_only_if_counts_would_be_added_twice(seed):
    """Every sketch is paired with the set of times at which records were counted into it."""
    random = np.random.default_rng(seed)
    all_known, outcomes = [(empty(), frozenset())], []
    for time in range(60):
        (sketch, counts), (other, counts_of_other) = (
            all_known[random.integers(max(len(all_known) - 9, 0), len(all_known))] for _ in range(2)
        )
        action = random.integers(9)
        if action == 0:
            all_known.append((empty(), frozenset()))
        elif action < 5:
            again, n = (copy.copy, copy.deepcopy, saved)[random.integers(3)](sketch), int(random.integers(3))
            all_known.append((again.update(*chunk(n)), counts | ({(time, n)} if n else set())))
        else:
            outcomes.append(counts.isdisjoint(counts_of_other))
            if outcomes[-1]:
                all_known.append((sketch.merge(other), counts | counts_of_other))
            else:
                with pytest.raises(ValueError, match=TWICE):
                    sketch.merge(other)
    assert 3 < sum(outcomes) < len(outcomes) - 3
    assert all(sketch.n_samples == sum(n for _, n in counts) for sketch, counts in all_known)


def test_bytes_of_many_merged_sketches_stay_small_and_a_repeated_merge_is_still_detected(monkeypatch):
    monkeypatch.setattr(chunks, "MOST", 8)
    some, others = ([counted() for _ in range(20)] for _ in range(2))
    whole, again = merge_all(some), merge_all(reversed(some))
    assert len(whole._parts) == 8
    assert len(json.loads(whole.to_bytes().split(b"\n", 2)[1])["parts"]) == 8
    assert whole._parts == again._parts  # the smallest, in any order of merging
    with pytest.raises(ValueError, match=TWICE):
        whole.merge(saved(again))
    assert whole.merge(merge_all(others)).n_samples == 200
