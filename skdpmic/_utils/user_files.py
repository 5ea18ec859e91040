"""Files that users name: only regular ones are read, and they are written whole or not at all."""

import contextlib
import json
import math
import os
import secrets
import stat

import numpy as np

_DEVICES = dict.fromkeys((stat.S_IFCHR, stat.S_IFBLK), "a device")
_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"} | _DEVICES

# --- Reading ----------------------------------------------------------------------------------------------------------


def check_regular(path, name=None):
    """Raise an OSError unless this is an existing regular file: opening a pipe would wait for a writer.

    Parameters
    ----------
    path : str, bytes or path-like
    name : str, default=None
        Name of the file in errors; the default is its path.
    """
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        name = repr(os.fsdecode(path)) if name is None else f"{name} {os.fsdecode(path)!r}"
        kind = IsADirectoryError if stat.S_ISDIR(mode) else OSError
        raise kind(f"{name} must be a regular file, got {_kind(mode)}: write its contents to a file.")


def content_of(path, most_bytes):
    """The bytes of a regular file that need not be trusted; a ValueError if there are more than `most_bytes`."""
    check_regular(path)
    with open(path, "rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise ValueError(f"{os.fsdecode(path)} must have at most {most_bytes} bytes, got {os.stat(path).st_size}.")
    return content


def _kind(mode):
    return _KINDS.get(stat.S_IFMT(mode), "another kind of file")


# --- Writing ----------------------------------------------------------------------------------------------------------


def write_whole(path, content, is_private=False):
    """Write a file atomically: readers find either all of the old content or all of the new.

    Parameters
    ----------
    path : str, bytes or path-like
    content : bytes
    is_private : bool, default=False
        Whether only the owner may read the file. Otherwise an existing file keeps its permissions.
    """
    with Draft(path, is_private) as draft:
        draft.finish(content)


class Draft:
    """A file under another name in the same folder, which replaces the file once it is complete.

    Parameters
    ----------
    path : str, bytes or path-like
        Path of the file to write; a symbolic link is followed.
    is_private : bool, default=False
        As in :func:`write_whole`.
    """

    def __init__(self, path, is_private=False):
        self.path = os.fsdecode(path)
        self.target, mode = _place(self.path)
        self._mode = 0o600 if is_private else mode
        self._draft = os.path.join(os.path.dirname(self.target), f".skdpmic-{secrets.token_hex(8)}")
        try:
            self._write("xb", b"")
        except BaseException:
            self.discard()
            raise

    def finish(self, content):
        """Write the file."""
        self._write("r+b", content)
        with self._own_errors():
            if self._mode is not None:
                os.chmod(self._draft, self._mode)
            os.replace(self._draft, self.target)

    def discard(self):
        """Remove the draft, if it has not become the file."""
        with contextlib.suppress(OSError):
            os.unlink(self._draft)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.discard()

    def _write(self, mode, content):
        with self._own_errors(), open(self._draft, mode, opener=self._open) as file:
            file.write(content)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())

    def _open(self, path, flags):
        return os.open(path, flags, 0o600 if self._mode is not None else 0o666)  # minus the umask

    @contextlib.contextmanager
    def _own_errors(self):
        """Errors name the file, not its draft."""
        try:
            yield
        except OSError as error:
            number, text = error.errno, error.strerror
        else:
            return
        raise OSError(number, text, self.path)


def _place(path):
    """The real path of a file to be written, and its permissions if it exists; an OSError if it cannot be written."""
    target = os.path.realpath(path)
    if path.endswith(os.sep) or os.path.isdir(target):
        raise IsADirectoryError(f"{path!r} must be a file to be written, got a folder.")
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"there is no folder {os.path.dirname(path) or folder!r} for {path!r}.")
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return target, None
    if not stat.S_ISREG(mode):
        raise OSError(f"{path!r} must be a regular file to be written, got {_kind(mode)}.")
    if not os.access(target, os.W_OK):
        raise PermissionError(f"{path!r} must be a file that may be written, got one that is read-only.")
    return target, stat.S_IMODE(mode)


def plain(value):
    """A value for JSON, with plain numbers, and null for NaN and infinity."""
    if isinstance(value, dict):
        return {name: plain(of_name) for name, of_name in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


_MOST_LEVELS = 32


def read_json(text):
    """The value of a JSON text; a ValueError if it is not valid, repeats a key or goes too deep.

    The error may quote the text.
    """
    try:
        value = json.loads(text, parse_constant=_refuse, object_pairs_hook=_without_repeats)
        if _n_levels(value) <= _MOST_LEVELS:
            return value
    except RecursionError:
        pass
    raise ValueError(f"there must be at most {_MOST_LEVELS} levels of lists and tables in one another")


def _n_levels(value):
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_n_levels, inside), default=0)


def _refuse(constant):
    raise ValueError(f"{constant} is not a number of JSON")


def _without_repeats(pairs):
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("keys must be distinct")
    return values
