"""Files named by users must be regular files, and are written completely or not at all."""

import os
import socket
import stat

import pytest

from skdpmic import Codebook
from skdpmic._utils.user_files import read_json, write_whole
from skdpmic.command_line.main import main
from skdpmic.counting import RangeGridSketch
from tests.folding import each

POSIX = pytest.mark.skipif(os.name == "nt", reason="requires POSIX")

# --- Reading ----------------------------------------------------------------------------------------------------------


@POSIX
@each("kind", ["a pipe", "a socket", "a folder", "a device"])
def test_anything_but_a_regular_file_is_refused_wherever_a_file_is_read(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("x.csv", "x.parquet", "x.toml", "x.json", "x.db"):
        path = tmp_path / name
        if path.is_dir():
            path.rmdir()
        path.unlink(missing_ok=True)
        if kind == "a pipe":
            os.mkfifo(path)
        elif kind == "a socket":
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind(name)
        elif kind == "a folder":
            path.mkdir()
        else:
            path.symlink_to("/dev/zero")
    for read in (Codebook.read, RangeGridSketch.load):
        with pytest.raises(OSError, match=f"must be a regular file, got {kind}: write its contents to a file"):
            read("x.toml")
    (tmp_path / "real.toml").write_text("version = 1\n[columns.a]\nrange = [0, 1]\n[columns.b]\nrange = [0, 1]\n")
    (tmp_path / "real.csv").write_text("a,b\n")
    choice = ["--codebook", "real.toml", "--target", "b", "--k", "1", "--epsilon", "1", "--yes"]
    for command in (
        ["template", "x.csv"],
        ["template", "x.parquet"],
        ["ledger", "x.db"],
        ["select", "x.csv", *choice],
        ["select", "real.csv", *choice, "--ledger", "x.db"],
        ["plan", *choice[:-1], "--codebook", "x.toml", "--n-samples", "10"],
    ):
        assert main(command) == 1
        assert f"must be a regular file, got {kind}" in capsys.readouterr().err


# --- JSON -------------------------------------------------------------------------------------------------------------


@each(
    "text, message",
    [
        ("[" * 100_000, "levels"),
        ("[" * 33 + "]" * 33, "levels"),
        ('{"a":' * 33 + "1" + "}" * 33, "levels"),
        ('{"a": 1, "a": 1}', "distinct"),
        ("NaN", "number of JSON"),
        ("1" * 5000, "digits"),
        ("[1,", "Expecting"),
    ],
)
def test_json_that_is_too_deep_or_ambiguous_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        read_json(text)


# --- Writing ----------------------------------------------------------------------------------------------------------


@POSIX
def test_a_file_is_replaced_atomically_and_keeps_its_permissions(tmp_path):
    path = tmp_path / "file"
    before = os.umask(0o022)
    try:
        write_whole(path, b"a")
        assert stat.S_IMODE(path.stat().st_mode) == 0o644
        path.chmod(0o600)
        write_whole(path, b"b")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        path.chmod(0o646)
        write_whole(path, b"c")
        assert stat.S_IMODE(path.stat().st_mode) == 0o646
        write_whole(path, b"c", is_private=True)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"c", ["file"])


@POSIX
def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "codebook.toml"
    Codebook({"a": (0, 1)}).write(path)
    old = path.read_bytes()

    def interrupted(number):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Codebook({"a": (0, 2)}).write(path)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (old, ["codebook.toml"])
    with pytest.raises(IsADirectoryError, match="must be a file to be written, got a folder"):
        Codebook({"a": (0, 2)}).write(tmp_path)
    with pytest.raises(OSError, match="must be a regular file to be written, got a device"):
        Codebook({"a": (0, 2)}).write("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
