"""The file format of a sketch: a numpy archive without pickles, with a name, a version and a checksum."""

import contextlib
import hashlib
import json
import os
import tempfile
import zipfile
import zlib
from pathlib import Path

import numpy as np

_FORMAT = "skdpmic RangeGridSketch"
_VERSION = 3  # of the file, and of which grids are counted in which order
_ARCHIVE_ERRORS = (zipfile.BadZipFile, zlib.error)
_ARRAYS = ("bounds", "classes", "counts")


def write_sketch(path, parameters, counts):
    """Write public parameters and counts, so that the file is there whole or not at all."""
    parameters = dict(parameters)
    arrays = {"bounds": parameters.pop("bounds"), "counts": counts}
    classes = parameters.pop("classes")
    if classes is not None:
        arrays["classes"] = classes
    if parameters["feature_names"] is not None:
        parameters["feature_names"] = parameters["feature_names"].tolist()
    header = {"format": _FORMAT, "version": _VERSION, "parameters": parameters}
    header["checksum"] = _checksum(header, arrays)
    header = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)

    path = Path(os.fsdecode(path))
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=path.name)  # readable by the owner only
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, header=header, **arrays)
        Path(unfinished).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(unfinished).unlink()
        raise


def read_sketch(path):
    """Parameters, as RangeGridSketch takes them, with n_samples, and counts; a ValueError if they are not all there."""
    with open(path, "rb") as file:
        header, arrays = _read(file)
    if header["version"] != _VERSION:
        raise ValueError(
            f"the sketch has version {header['version']!r} of the format, and this skdpmic reads {_VERSION}."
        )
    checksum = header.pop("checksum")
    if checksum != _checksum(header, arrays):
        raise ValueError("the file of the sketch is damaged: its checksum does not match.")
    lower, upper = arrays["bounds"]
    return header["parameters"] | {"bounds": (lower, upper), "classes": arrays.get("classes")}, arrays["counts"]


def _read(file):
    try:
        with np.load(file, allow_pickle=False) as archive:
            header = json.loads(archive["header"].tobytes())
            if header["format"] != _FORMAT or not header.keys() >= {"version", "checksum", "parameters"}:
                raise ValueError
            return header, {name: archive[name] for name in _ARRAYS if name in archive}
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, OSError, RuntimeError, *_ARCHIVE_ERRORS):
        # numpy's and zipfile's words for a file that is cut short or something else
        raise ValueError("the file is damaged, or not one that RangeGridSketch.save wrote.") from None


def _checksum(header, arrays):
    checksum = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in _ARRAYS:
        if name in arrays:
            checksum.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
            checksum.update(np.ascontiguousarray(arrays[name]).tobytes())
    return checksum.hexdigest()
