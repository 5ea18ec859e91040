"""A sketch as bytes, and as a file: what is public as one line of JSON, then the counts; no pickle, nothing to execute.

The format, so that other programs can read it, in this order:

1. ``skdpmic RangeGridSketch 4`` and a line feed: name and version;
2. one line of JSON (ASCII, keys sorted, no spaces) with what is public, and `n_samples`;
3. the counts, feature by feature: unsigned integers of 4 bytes, little-endian, without compression;
4. the SHA-256 of all bytes before, 32 bytes.

Equal sketches have equal bytes on every machine. A numpy or Arrow archive would not guarantee that: its bytes depend on
the versions of the libraries that write and compress it.
"""

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path

import numpy as np

from skdpmic.table.axes import from_json, to_json
from skdpmic.table.description import Description, check_description
from skdpmic.table.targets import check_classes

_NAME = b"skdpmic RangeGridSketch "
_VERSION = b"4"  # of the format, and of which grids are counted in which order
_COUNTS = np.dtype("<u4")
_DIGEST_BYTES = hashlib.sha256().digest_size
_PARAMETERS = ("statistic", "correction", "B", "c", "n_parts", "max_weight")  # besides the description
_OF_ONE_KIND = {"i": np.int64, "u": np.uint64, "f": np.float64}  # labels of one kind are equal whatever their size
_FOREIGN = "the data must be what RangeGridSketch.to_bytes or save wrote, got other or damaged data."


def pack(sketch):
    """The bytes of a sketch."""
    counts = sketch._counts.astype(_COUNTS, copy=False).tobytes()
    content = b"".join([_NAME, _VERSION, b"\n", _line(sketch, sketch.n_samples), b"\n", counts])
    return content + hashlib.sha256(content).digest()


def unpack(data, described):
    """The sketch of these bytes; a ValueError if they are not all there.

    Parameters
    ----------
    data : bytes, bytearray or memoryview
    described : callable
        Makes a sketch without records, of a description and keywords.
    """
    line, counts = _contents(data)
    sketch, n_samples = _or_foreign(_without_records, line, described)
    if len(counts) != sketch._counts.nbytes or _line(sketch, n_samples) != line:
        raise ValueError(_FOREIGN)
    sketch._counts[:] = np.frombuffer(counts, dtype=_COUNTS)
    sketch.n_samples = n_samples
    return sketch


def _contents(data):
    """The line of what is public, and the bytes of the counts."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"data must be bytes, got {type(data).__name__}.")
    data = bytes(data)
    content, digest = data[:-_DIGEST_BYTES], data[-_DIGEST_BYTES:]
    if not content.startswith(_NAME):
        raise ValueError(_FOREIGN)
    version, line, counts = [*content.removeprefix(_NAME).split(b"\n", 2), b"", b""][:3]
    if version != _VERSION and version.isdigit():
        raise ValueError(
            f"the sketch has version {int(version)} of the format, and this skdpmic reads {int(_VERSION)}."
        )
    if hashlib.sha256(content).digest() != digest:
        raise ValueError(f"{_FOREIGN.removesuffix('.')}: the checksum does not match.")
    return line, counts


def _line(sketch, n_samples):
    """What is public, the same for equal sketches."""
    names, classes = sketch.description.names, sketch.description.classes
    public = {
        "axes": [to_json(axis) for axis in sketch.description.axes],
        "names": None if names is None else names.tolist(),
        "target": to_json(sketch.description.target),
        "classes": None if classes is None else _labels_to_json(classes),
        "parameters": _parameters(sketch),
        "n_samples": n_samples,
    }
    return json.dumps(public, sort_keys=True, separators=(",", ":")).encode("ascii")


def _parameters(sketch):
    """Those of the sketch; where records have no weights, as they were before any could have."""
    values = {name: getattr(sketch, name) for name in _PARAMETERS}
    return {name: value for name, value in values.items() if name != "max_weight" or value is not None}


def _without_records(line, described):
    """A sketch that has not counted the records yet, and how many there are."""
    public = json.loads(line)
    if type(public["n_samples"]) is not int:
        raise ValueError
    description = check_description(
        Description(
            [from_json(axis) for axis in public["axes"]],
            None if public["names"] is None else np.array(public["names"], dtype=object),
            from_json(public["target"]),
            None if public["classes"] is None else _labels_of_json(*public["classes"]),
        )
    )
    return described(description, **public["parameters"]), public["n_samples"]


def _or_foreign(function, *arguments):
    """``function(*arguments)``, or an error that says what is wrong with them in words that quote nothing."""
    try:
        return function(*arguments)
    except MemoryError:
        raise
    except Exception:
        pass
    raise ValueError(_FOREIGN)


def _labels_to_json(labels):
    """Labels as their kind and a list; bytes as text."""
    kind = labels.dtype.kind
    if kind == "S":
        return [kind, [label.decode("latin-1") for label in labels.tolist()]]
    if kind == "f":
        labels = labels + 0.0  # there is no -0
    return [kind, labels.astype(_OF_ONE_KIND.get(kind, labels.dtype)).tolist()]


def _labels_of_json(kind, labels):
    if kind == "S":
        labels = [label.encode("latin-1") for label in labels]
    classes = check_classes(np.array(labels, dtype=_OF_ONE_KIND.get(kind)))
    if classes.dtype.kind != kind:
        raise ValueError
    return classes


# --- Files ------------------------------------------------------------------------------------------------------------


def write_whole(path, data):
    """Write a file that only its owner may read, and that is there whole or not at all."""
    path = Path(os.fsdecode(path))
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(unfinished).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(unfinished).unlink()
        raise
