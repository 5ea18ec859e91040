"""What the public arguments of an estimator say, by themselves."""

from skdpmic.table.description import Description
from skdpmic.table.features import feature_axes
from skdpmic.table.public import asks_for_data
from skdpmic.table.targets import check_classes, target_axis


def n_public_classes(estimator):
    """How many classes a discrete target is said to have; None if nothing is said."""
    is_public = estimator.classes is not None and not asks_for_data(estimator.classes)
    return len(check_classes(estimator.classes)) if is_public else None


def description_of_parts(estimator, records, measure):
    """What is public of the parts of noisy tables, for pictures; None for a measure that has no such tables.

    Where the estimator reads something from the data, there is None in its place: it is not released.

    Parameters
    ----------
    estimator : estimator
        Whose arguments suit the records.
    records : Records or SketchedRecords
        Whose features are numbers, none of them nominal.
    measure : Measure
    """
    if measure.n_parts is None:
        return None
    sketch = getattr(records, "_sketch", None)
    if sketch is not None:  # which says what the estimator may leave open
        return sketch.description
    names = getattr(estimator, "feature_names_in_", None)
    axes = feature_axes(estimator.bounds, None, records.n_features, names)
    if estimator.classes is None:
        return Description(axes, names, target_axis(estimator.target_bounds), None)
    return Description(
        axes, names, None, None if asks_for_data(estimator.classes) else check_classes(estimator.classes)
    )
