"""The number of training sets of a search or cross-validation that one record can be in."""

import math
import numbers
from collections.abc import Iterator

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    LeavePOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    check_cv,
)

from skdpmic._utils.errors import PrivacyLeakWarning, warn
from skdpmic._utils.texts import quoted

# With these, changing the label or group of one record may move other records to other folds.
_BY_RECORDS = (
    StratifiedKFold,
    StratifiedGroupKFold,
    RepeatedStratifiedKFold,
    StratifiedShuffleSplit,
    GroupKFold,
    GroupShuffleSplit,
)


def warn_about_splits_by_records(cv, estimator, has_people):
    """Warn if one record, or one person, can change the training sets of others."""
    is_default = _is_number_of_folds(cv) and is_classifier(estimator)
    kind = StratifiedKFold if is_default else type(cv)
    if has_people and not _assigns_groups_at_random(cv):
        warn(
            "cv assigns rows to folds, or groups by their number of rows, while max_rows_per_group protects people "
            "with several rows. The number of rows of one person can change which rows of others a training set "
            "holds, so the fits may cost more than stated here, and more than a ledger is charged. Pass "
            "cv=GroupKFold(n_splits, shuffle=True).",
            PrivacyLeakWarning,
        )
    elif has_people:
        return
    elif issubclass(kind, _BY_RECORDS):
        warn(
            f"{kind.__name__} assigns records to folds by the labels or groups of all records, so one record can "
            "change which others a training set holds: the fits may cost more than stated here, and more than a "
            "ledger is charged. Pass cv=KFold(n_splits, shuffle=True), which assigns records by position only.",
            PrivacyLeakWarning,
        )


def _assigns_groups_at_random(cv):
    """Whether a splitter uses only the set of groups, not their rows or labels."""
    if type(cv) is GroupKFold:
        return cv.shuffle
    return type(cv) in (GroupShuffleSplit, LeaveOneGroupOut, LeavePGroupsOut)


_GROUP_FOLDS = (GroupKFold, StratifiedGroupKFold)  # a person is in one test set
_FOLDS = (KFold, StratifiedKFold, GroupKFold, StratifiedGroupKFold, LeaveOneOut)  # a record is in one test set


def count_splits(cv, estimator, n_samples, has_people):
    """The number of splits, and the number of their training sets that one record, or one person, can be in."""
    if isinstance(cv, Iterator):
        raise ValueError("cv must be a list of splits, not an iterator, because an iterator can be read only once.")
    splitter = check_cv(cv, classifier=is_classifier(estimator))
    X = None if n_samples is None else np.empty((n_samples, 1))
    try:
        n_splits = splitter.get_n_splits(X)
    except (TypeError, ValueError) as error:
        hint = "" if n_samples else " Pass n_samples if it depends on that."
        raise ValueError(f"the number of splits of {quoted(splitter)} is not known.{hint} ({error})") from None
    trains = _training_sets(splitter, cv, n_samples)
    if has_people:  # rows of a person may be in several folds, unless folds are assigned by person
        return n_splits, n_splits - (type(splitter) in _GROUP_FOLDS)
    if cv is splitter or _is_number_of_folds(cv):
        return n_splits, _n_trainings(splitter, n_splits, n_samples)
    return n_splits, max(np.bincount(np.concatenate(trains)), default=0)


def _training_sets(splitter, cv, n_samples):
    """The rows of each training set, each at most once: of a list, and of a splitter of others for so many rows."""
    if _is_number_of_folds(cv) or (type(splitter).__module__.startswith("sklearn.") and cv is splitter):
        return []
    if cv is not splitter:
        return [_rows(train) for train, _ in cv]
    advice = "Pass n_samples, so that the rows of its training sets can be checked, or cv as a list of splits."
    if n_samples is None:
        raise ValueError(f"the cost of splits by {quoted(splitter)} is not known: cv may repeat rows. {advice}")
    try:
        splits = list(splitter.split(np.empty((n_samples, 1))))
    except Exception as error:
        raise ValueError(f"the cost of splits by {quoted(splitter)} is not known ({error}). {advice}") from None
    return [_rows(train) for train, _ in splits]


def _is_number_of_folds(cv):
    return cv is None or isinstance(cv, numbers.Integral)


def _n_trainings(splitter, n_splits, n_samples):
    kind = type(splitter)
    if kind in _FOLDS:
        return n_splits - 1
    if kind in (RepeatedKFold, RepeatedStratifiedKFold):
        return n_splits - splitter.n_repeats
    if kind is PredefinedSplit and (splitter.test_fold != -1).all():
        return n_splits - 1
    if kind is LeavePOut:
        return math.comb(n_samples - 1, splitter.p)
    return n_splits  # random or growing training sets, and unknown splitters


def _rows(train):
    """The row positions of a training set given by positions or by a mask; an error if a row is in it twice."""
    train = np.asarray(train)
    rows = np.flatnonzero(train) if train.dtype == bool else train.ravel()
    if rows.size and (rows.dtype.kind not in "iu" or rows.min() < 0):
        raise ValueError(
            "cv must give rows by their positions, from 0, or by masks: a row with two positions may repeat."
        )
    if len(np.unique(rows)) < len(rows):
        raise ValueError(
            "cv must hold each row at most once in each training set, got one that repeats rows: the cost of a fit is "
            "that of one row, and a record in several rows costs a multiple. Pass each position once."
        )
    return rows.astype(np.intp)
