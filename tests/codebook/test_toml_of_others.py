"""A codebook from others takes no more time than its length, and is refused before it is parsed if it goes too deep."""

import tomllib

import pytest

from skdpmic import Codebook
from skdpmic.codebook import toml_file
from tests.folding import each

DEEP = "must be valid TOML: there must be at most 16 brackets in one another and 16 parts of a key, got more"


def refusal(text):
    with pytest.raises(ValueError) as caught:
        Codebook.parse(text, "codebook.toml")
    return str(caught.value)


@each("line", [1, 3])
@each(
    "text",
    [
        ".".join(["a"] * 8_000) + " = 1",
        "[" + " . ".join(['"a.b"'] * 17) + "]",
        "[[" + ".".join(["a"] * 17) + "]]",
        "a = {" + "\t.\t".join(["'\"'"] * 17) + " = 1}",
        "a = " + "[" * 50_000,
        "a = " + "[" * 17 + "]" * 17,
        "a = " + "{a = " * 17 + "1" + "}" * 17,
    ],
)
def test_what_is_nested_too_deeply_is_refused_before_it_is_parsed(text, line, monkeypatch):
    monkeypatch.setattr(tomllib, "loads", None)
    assert refusal("\n" * (line - 1) + text) == f"codebook.toml {DEEP} (at line {line})."


def test_what_is_nested_sixteen_deep_is_parsed():
    key, lists = ".".join(["a"] * 16), "[" * 16 + "]" * 16
    for text in (f"{key} = 1", f"[{key}]", f"a = {lists}"):
        assert refusal(f"version = 1\n{text}") == (
            "codebook.toml, line 2: the fields of a codebook must be among ['version', 'title', 'groups', "
            "'max_rows_per_group', 'columns'], got ['a']."
        )


def test_a_large_file_is_refused_before_it_is_read_whole(tmp_path):
    (tmp_path / "codebook.toml").write_bytes(b"#" * (2**22 + 7))
    with pytest.raises(ValueError, match="at most 4194304 bytes, got 4194311"):
        Codebook.read(tmp_path / "codebook.toml")


def test_dots_and_brackets_in_texts_and_comments_are_none():
    dots = "a.b." * 40 + "[[[[{{{{" * 10
    codebook = Codebook.parse(
        f"version = 1 # {dots}\n[columns.'{dots}'] # '''{dots}\nrange = [0, 1.5]\n"
        f"description = '''\n{dots}\n''{dots}''''\nunit = \"\\\"{dots}\"\n[columns.b]\n"
        f'range = [1e3, 2.5e4]\ndescription = """{dots}\\""" "{dots}"""""'
    )
    assert list(codebook.columns) == [dots, "b"]
    assert codebook.columns["b"].description.endswith('""')


@pytest.mark.slow
def test_a_codebook_too_long_to_be_read_is_not_written(monkeypatch):
    """Nor is it formatted, which takes minutes for a million columns; and no shorter one is refused."""
    too_long = r"at most 4,194,304 bytes, got more: describe columns with similar names together, by a pattern such as"
    with pytest.raises(ValueError, match=too_long):
        Codebook.template([f"column_{j}" for j in range(2**22 // 100)])
    names = [f"{j:04}" for j in range(50)]
    for write in (lambda: Codebook.template(names), Codebook(dict.fromkeys(names, (0, 1))).to_toml):
        n_bytes = len(write())
        monkeypatch.setattr(toml_file, "_MOST_BYTES", n_bytes)
        assert len(write()) == n_bytes
        monkeypatch.setattr(toml_file, "_MOST_BYTES", n_bytes - 1)
        with pytest.raises(ValueError, match=r"bytes, got more"):
            write()
        monkeypatch.undo()
