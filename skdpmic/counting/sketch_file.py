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

from skdpmic.table.axes import from_json, to_json
from skdpmic.table.description import Description

_FORMAT = "skdpmic RangeGridSketch"
_VERSION = 3  # of the file, and of which grids are counted in which order
_ARCHIVE_ERRORS = (zipfile.BadZipFile, zlib.error)
_ARRAYS = ("classes", "counts")


def write_sketch(path, description, parameters, counts):
    """Write what is public and counts, so that the file is there whole or not at all."""
    arrays = {"counts": counts}
    if description.classes is not None:
        arrays["classes"] = description.classes
    described = {
        "axes": [to_json(axis) for axis in description.axes],
        "names": None if description.names is None else description.names.tolist(),
        "target": to_json(description.target),
    }
    header = {"format": _FORMAT, "version": _VERSION, "description": described, "parameters": parameters}
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
    """The description, other parameters with n_samples, and counts; a ValueError if they are not all there."""
    with open(path, "rb") as file:
        header, arrays = _read(file)
    if header["version"] != _VERSION:
        raise ValueError(
            f"the sketch has version {header['version']!r} of the format, and this skdpmic reads {_VERSION}."
        )
    checksum = header.pop("checksum")
    if checksum != _checksum(header, arrays):
        raise ValueError("the file of the sketch is damaged: its checksum does not match.")
    described = header["description"]
    description = Description(
        [from_json(axis) for axis in described["axes"]],
        None if described["names"] is None else np.array(described["names"], dtype=object),
        from_json(described["target"]),
        arrays.get("classes"),
    )
    return description, header["parameters"], arrays["counts"]


def _read(file):
    try:
        with np.load(file, allow_pickle=False) as archive:
            header = json.loads(archive["header"].tobytes())
            if header["format"] != _FORMAT or not header.keys() >= {"version", "checksum", "description", "parameters"}:
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
