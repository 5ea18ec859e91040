"""A sketch as bytes, and as a file: one line of JSON with the public parameters, then the counts; no pickle, no code.

The format, for other programs, in this order:

1. ``skdpmic RangeGridSketch 7`` and a line feed: name and version;
2. one line of JSON (ASCII, keys sorted, no spaces) with the public parameters, `n_samples`, and `parts`: the random
   identities of what was counted, at most 4,096 of 32 hexadecimal digits, ascending; none without records;
3. the counts, feature by feature: unsigned integers of 4 bytes, little-endian, without compression;
4. the SHA-256 of all preceding bytes, 32 bytes.

Equal sketches of the same counts have equal bytes on every machine. A numpy or Arrow archive would not guarantee that:
its bytes depend on the versions of the libraries that write and compress it.
"""

import hashlib
import json

import numpy as np

from skdpmic._utils.untrusted_json import read_json
from skdpmic.counting.chunks import checked_parts
from skdpmic.table.domains import Labels, from_json, to_json
from skdpmic.table.facts import Description, check_description
from skdpmic.table.targets import check_classes

_NAME = b"skdpmic RangeGridSketch "
_VERSION = b"7"  # of the format, and of the order of the grids
_COUNTS = np.dtype("<u4")
_DIGEST_BYTES = hashlib.sha256().digest_size
_PARAMETERS = ("statistic", "correction", "B", "c", "n_parts", "max_weight")  # besides the description
_WIDEST_DTYPE = {"i": np.int64, "u": np.uint64, "f": np.float64}  # labels of one kind are equal for any item size
_FOREIGN = "the data must come from RangeGridSketch.to_bytes or save, got other or damaged data."


def pack(sketch):
    """The bytes of a sketch."""
    counts = sketch._counts.astype(_COUNTS, copy=False).tobytes()
    content = b"".join([_NAME, _VERSION, b"\n", _line(sketch, sketch.n_samples, sketch._parts), b"\n", counts])
    return content + hashlib.sha256(content).digest()


def unpack(data, described):
    """The sketch of these bytes; a ValueError if they are incomplete or damaged.

    Parameters
    ----------
    data : bytes, bytearray or memoryview
    described : callable
        Makes a sketch without records from a description and keywords.
    """
    line, counts = _contents(data)
    try:
        sketch, n_samples, identities = _without_records(line, described, len(counts) // _COUNTS.itemsize)
        is_whole = len(counts) == sketch._counts.nbytes and _line(sketch, n_samples, identities) == line
        is_valid = is_whole and (n_samples > 0) == (len(identities) > 0)
    except MemoryError:
        raise
    except Exception:
        is_valid = False  # raised below, because the error and its traceback hold what is in the file
    if not is_valid:
        raise ValueError(_FOREIGN)
    sketch._counts[:] = np.frombuffer(counts, dtype=_COUNTS)
    sketch.n_samples, sketch._parts = n_samples, identities
    return sketch


def _contents(data):
    """The line of public parameters, and the bytes of the counts."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"data must be bytes, got {type(data).__name__}.")
    data = bytes(data)
    content, digest = data[:-_DIGEST_BYTES], data[-_DIGEST_BYTES:]
    if not content.startswith(_NAME):
        raise ValueError(_FOREIGN)
    version, line, counts = [*content.removeprefix(_NAME).split(b"\n", 2), b"", b""][:3]
    if version != _VERSION and version.isdigit():
        raise ValueError(
            f"the sketch has format version {int(version)}, but this version of skdpmic reads {int(_VERSION)}: count "
            "the records again with this version."
        )
    if hashlib.sha256(content).digest() != digest:
        raise ValueError(f"{_FOREIGN.removesuffix('.')}: the checksum does not match.")
    return line, counts


def _line(sketch, n_samples, identities):
    """The public parameters as one line, the same for equal sketches of the same counts."""
    names, classes = sketch.description.names, sketch.description.classes
    public = {
        "domains": [to_json(domain) for domain in sketch.description.domains],
        "names": None if names is None else names.tolist(),
        "target": to_json(sketch.description.target),
        "classes": None if classes is None else _labels_to_json(classes),
        "parameters": _parameters(sketch),
        "n_samples": n_samples,
        "parts": sorted(part.hex() for part in identities),
    }
    return json.dumps(public, sort_keys=True, separators=(",", ":")).encode("ascii")


def _parameters(sketch):
    """The parameters of the sketch; without weights, as in versions before weights existed."""
    values = {name: getattr(sketch, name) for name in _PARAMETERS}
    return {name: value for name, value in values.items() if name != "max_weight" or value is not None}


def _without_records(line, described, n_counts):
    """A sketch that has not counted the records yet, their number, and the identities of what was counted."""
    public = read_json(line)
    if type(public["n_samples"]) is not int:
        raise ValueError
    description = check_description(
        Description(
            [from_json(domain) for domain in public["domains"]],
            None if public["names"] is None else np.array(public["names"], dtype=object),
            from_json(public["target"]),
            None if public["classes"] is None else _labels_of_json(*public["classes"]),
        )
    )
    _check_size(description, public["parameters"], n_counts)
    return (
        described(description, **public["parameters"]),
        public["n_samples"],
        checked_parts(map(bytes.fromhex, public["parts"])),
    )


def _check_size(description, parameters, n_counts):
    """Raise if the grids have more counts than the file: a forged B could take any amount of memory.

    A numeric feature and target have at least B counts, and without a correction at least B**2 / 4.
    """
    is_numeric = any(not isinstance(domain, Labels) for domain in description.domains)
    if (
        parameters["statistic"] == "mic_r"
        and parameters["n_parts"] is None
        and description.target is not None
        and is_numeric
    ):
        B = parameters["B"]
        if n_counts < (B * B / 4 if parameters["correction"] is None else B):
            raise ValueError


def _labels_to_json(labels):
    """Labels as their kind and a list; bytes as str."""
    kind = labels.dtype.kind
    if kind == "S":
        return [kind, [label.decode("latin-1") for label in labels.tolist()]]
    if kind == "f":
        labels = labels + 0.0  # turns -0 into 0
    return [kind, labels.astype(_WIDEST_DTYPE.get(kind, labels.dtype)).tolist()]


def _labels_of_json(kind, labels):
    if kind == "S":
        labels = [label.encode("latin-1") for label in labels]
    classes = check_classes(np.array(labels, dtype=_WIDEST_DTYPE.get(kind)))
    if classes.dtype.kind != kind:
        raise ValueError
    return classes
