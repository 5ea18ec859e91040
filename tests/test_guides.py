"""The code on the pages of the site runs and prints what is shown; a page with a release says what is not covered."""

import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path

import pytest
from sklearn import config_context
from threadpoolctl import threadpool_limits

from skdpmic.command_line.main import main
from tests.folding import each

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"```(python|shell|toml)\n(.*?)```(?:\n\n```(text|output[^\n]*)\n(.*?)```)?", re.DOTALL)
COMMAND = "python -m skdpmic "
NUMBER = re.compile(r"(\d+(?:\.\d+)?)%|(\d+\.\d+)")
TIME = re.compile(r"\b\d+\.\d s\b|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")  # not compared

SOURCES = [page.relative_to(DOCS) for page in sorted(DOCS.rglob("*.md")) if "_build" not in page.parts]
PAGES = [str(page) for page in SOURCES if "```python" in (DOCS / page).read_text("utf-8")]
# Each needs libraries that conflict with the others. It runs if SKDPMIC_PAGE names it, as in .ci/run.
ENVIRONMENTS = {"publish/private_table.md": "the extra synthesis"}
IN_PARTS = {"choose/engines.md", "choose/large_tables.md"}  # only some sections need each engine
NEEDED = {
    "choose/causal.md": ("matplotlib", "networkx"),
    "choose/pictures.md": ("matplotlib",),
    "choose/planning.md": ("matplotlib",),
    "choose/two_parties.md": ("pyarrow",),
    "start/command_line.md": ("pyarrow",),
}
FILES_LEFT = {
    "choose/describe.md": (".toml",),
    "publish/private_model.md": (".html",),
    "start/command_line.md": (".csv", ".toml", ".bak", ".txt"),
}
PRIVATE_CALL = re.compile(
    r"\.fit\(|\.fit_transform\(|\.publish\(|\.fit_sketch\(|_laplace\(|private_bounds\(|skdpmic (?:select|summary)"
)

NOT_COVERED = "understand/guarantee.md#what-the-guarantee-does-not-cover)"


def text_of(page):
    return (DOCS / page).read_text("utf-8")


def show_warning(message, category, *args, **kwargs):
    print(f"{category.__name__}: {message}")


def check_printed(printed, kind, shown):
    """Compare what was printed with the page; numbers that noise changes in a block ```output ±0.1 by that much."""
    printed, shown = (TIME.sub("# s", text) for text in (printed, shown))
    if "\n...\n" in shown:
        assert OutputChecker().check_output(shown, printed, ELLIPSIS), printed
    elif kind.startswith("output"):
        assert NUMBER.sub("#", printed).split() == NUMBER.sub("#", shown).split()
        assert numbers(printed) == pytest.approx(numbers(shown), abs=float(kind.partition("±")[2] or 0))
    elif "Warning: " in shown:  # wrapped on the page
        assert printed.split() == shown.split()
    else:
        assert printed == shown


def numbers(text):
    """All numbers with a decimal point, and all percentages, as fractions."""
    return [float(percent) / 100 if percent else float(number) for percent, number in NUMBER.findall(text)]


def blocks(page, *sections):
    """The code blocks of these sections, or of all: language, code, how the output is compared, and the output."""
    parts = text_of(page).split("\n## ")
    return BLOCK.findall("\n".join(part for part in parts if not sections or part.partition("\n")[0] in sections))


def run(page, capsys, *sections, warn="always"):
    """Run all blocks, or those of some sections. Each must print, and warn of, exactly what the page shows below it."""
    names = {"__name__": "__main__"}  # so that functions can be sent to workers
    # Threads of scikit-learn's models wait for one another, which is slow while other tests run.
    with config_context(), warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter(warn)
        warnings.showwarning = show_warning
        for language, code, kind, shown in blocks(page, *sections):
            if language == "python":
                exec(code, names)
                printed = capsys.readouterr().out
            elif language == "toml":
                printed = write_named(code)
            else:
                printed = run_in_shell(code, capsys)
            check_printed(printed, kind, shown)
    return names


def write_named(text):
    """Write the file that the first line names, as a user does in an editor."""
    if name := re.match(r"# (\w+\.toml)\n", text):
        Path(name[1]).write_text(text, encoding="utf-8")
    return ""


class Agreeing(io.StringIO):
    """A terminal at which the user says yes."""

    def isatty(self):
        return True

    def readline(self):
        return "y\n"


def run_in_shell(code, capsys):
    """What a terminal shows: commands of this package are run in this process, others in a shell."""
    code = code.replace("\\\n", "")  # continued lines
    if not code.startswith(COMMAND):
        subprocess.run(["bash", "-euc", code], check=True)
        return ""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "stdin", Agreeing())
        assert main(shlex.split(code)[3:]) == 0
    printed = capsys.readouterr()
    return printed.err.replace("[y/N] ", "[y/N] y\n") + printed.out


LONG = [f"choose/{name}.md" for name in ("bounds", "causal", "pictures", "searches", "significance")]


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.slow] * (page in LONG)) for page in PAGES if page not in IN_PARTS]
)
def test_the_code_of_a_page_runs_and_prints_what_is_shown(page, tmp_path, capsys, monkeypatch):
    """Noise does not affect what is printed: compared scores are more than 16 times its scale apart."""
    if page in ENVIRONMENTS and os.environ.get("SKDPMIC_PAGE") != page:
        pytest.skip(f"runs in an environment of its own: {ENVIRONMENTS[page]}")
    pytest.importorskip("pandas", reason="the guides read dataframes of pandas")
    for library in NEEDED.get(page, ()):
        pytest.importorskip(library, reason="this guide shows it")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    run(page, capsys)
    assert all(name.endswith((".db", *FILES_LEFT.get(page, ()))) for name in os.listdir())  # ledgers


@each("page", PAGES)
def test_a_page_with_a_release_says_what_it_does_not_protect(page):
    if any(PRIVATE_CALL.search(code) for _, code, *_ in blocks(page)):
        assert NOT_COVERED in text_of(page)


# Words of each part of the site, as wc -w counts them: what is added to one has to be cut there.
MOST_WORDS = {("start", "choose", "publish", "understand", "evidence"): 30_000, ("theory",): 45_000}


@each("folders", MOST_WORDS)
def test_no_part_of_the_site_has_more_words_than_a_reader_has_time_for(folders):
    pages = [page for page in SOURCES if page.parts[0] in folders]
    assert pages
    assert sum(len(text_of(page).split()) for page in pages) <= MOST_WORDS[folders]


@pytest.mark.parametrize(
    "page, sections, libraries",
    [
        ("choose/large_tables.md", (), ()),
        ("choose/engines.md", ("Describe", "DuckDB", "Polars", "pyarrow"), ("duckdb", "polars", "pyarrow")),
        ("choose/engines.md", ("Describe", "Dask"), ("dask.dataframe", "polars", "pyarrow")),
    ],
)
def test_sections_for_engines(page, sections, libraries, tmp_path, capsys, monkeypatch):
    """Noise does not affect what is printed; Spark and Ray are in ``counting/test_clusters.py``."""
    for library in libraries:
        pytest.importorskip(library, reason="the guide reads with each")
    monkeypatch.chdir(tmp_path)
    run(page, capsys, *sections, warn="ignore" if "Dask" in sections else "always")  # dask warns of versions of pandas
