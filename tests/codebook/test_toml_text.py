"""A codebook of a stranger takes no more time than its length, and what goes too deep is refused with its line."""

import random
import time
import tomllib

import pytest

from skdpmic import Codebook
from skdpmic.codebook import toml_file as toml_text
from tests.folding import each


def refusal(text):
    with pytest.raises(ValueError) as caught:
        Codebook.parse(text, "codebook.toml")
    return str(caught.value)


DEEP, HUGE = "at most 16 brackets in one another and 16 parts of a key", "integers must have at most 64 bits"


@each(
    "text, told",
    [
        (f"version = 1\n{'.'.join(['a'] * 16_000)} = 1", f"{DEEP}, got more \\(at line 2\\)"),
        (f"version = 1\n[{'. '.join(['a'] * 16_000)}]", DEEP),
        ("a = {" + " . ".join(['"a.b"'] * 17) + " = 1}", DEEP),
        ("\n\na = " + "[" * 50_000, r"at line 3"),
        ("a = " + "[" * 300 + "]" * 300, DEEP),
        ("a = " + "{a = " * 300 + "1" + "}" * 300, DEEP),
        ("[columns.a]\nrange = [0, " + "9" * 5000 + "]", "must be valid TOML"),
        ("[columns.a]\nrange = [0, 0x" + "f" * 10_000 + "]", HUGE),
        (f"[columns.a]\nrange = [0, {2**64}]", HUGE),
        ("#" + " " * 2**22, "at most 4194304 bytes, got 4194305"),
    ],
)
def test_what_would_take_long_is_refused_at_once(text, told):
    begun = time.perf_counter()
    with pytest.raises(ValueError, match=f"codebook.toml must be valid TOML: .*{told}" if told[0] != "m" else told):
        Codebook.parse(text, "codebook.toml")
    assert time.perf_counter() - begun < 2


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


def test_the_last_of_many_columns_is_found_in_one_pass(monkeypatch):
    parsed, loads = [], tomllib.loads
    monkeypatch.setattr(tomllib, "loads", lambda text: parsed.append(len(text)) or loads(text))
    text = "version = 1\n[columns]\n" + "".join(f"aaa{i} = {{range = [0, 1]}}\n" for i in range(300)) + "a = 5"
    assert "line 303: column 'a' must be a table" in refusal(text)
    assert sum(parsed) < 4 * len(text)
    assert "line 303: column 'a' must be a table" in refusal(text.replace("\n", "\r\n"))


SIGNS = [
    "'",
    '"',
    '"""',
    "'''",
    "#",
    "\n",
    "\\",
    "a",
    ".",
    "=",
    "[",
    "]",
    "{",
    "}",
    ",",
    "1",
    " ",
    "\\n",
    "1.5",
    "\r\n",
]


@pytest.mark.slow
def test_statements_of_valid_texts_are_valid_by_themselves():
    """So the scan sees strings, comments and brackets as the parser does: of drawn texts, those that are TOML."""
    rng, n_valid = random.Random(0), 0
    for _ in range(60_000):
        text = "".join(rng.choices(SIGNS, k=rng.randint(1, 12)))
        text = rng.choice(["a = ", "a = '''", 'a = """', "b = [", "# ", ""]) + text
        try:
            fields = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            continue
        n_valid += 1
        found = [statement for statement, _ in toml_text.statements(text)]
        assert "\n".join(found).replace("\r", "") == text.replace("\r", "")
        for statement in found:
            tomllib.loads(statement)
        assert len(fields) <= len(toml_text.lines_of_fields(text))
    assert n_valid > 1000
