"""The command line gives the results of the estimators on the same frame, whatever the format of the table."""

import json

import pytest

from skdpmic import PrivateSelectKBest, private_summary
from skdpmic.command_line.main import main
from tests.command_line.tables import CODEBOOK, OTHER_TARGETS, codebook, people, write_csv, write_parquet
from tests.folding import each
from tests.seeded_noise import noise_of

SOURCES = ("csv", "semicolons", "parquet")


def data_options(source, frame, folder):
    """The options that name the table."""
    if source == "csv":
        return [write_csv(frame, folder / "people.csv")]
    if source == "semicolons":
        return [write_csv(frame, folder / "people.csv", ";"), "--delimiter", ";"]
    return [write_parquet(frame, folder / "people.parquet")]


def published(capsys, *options):
    with noise_of("the same"):
        assert main([*options, "--json", "--yes"]) == 0
    out, err = capsys.readouterr()
    return json.loads(out), err


@each("source", SOURCES)
def test_a_selection_equals_that_of_the_estimator(source, tmp_path_factory, capsys):
    folder, frame = tmp_path_factory.mktemp("choice"), people()
    (folder / "codebook.toml").write_text(CODEBOOK)
    where = [*data_options(source, frame, folder), "--codebook", str(folder / "codebook.toml")]
    found, err = published(capsys, "select", *where, "--target", "stay", "--k", "3", "--epsilon", "2")
    with noise_of("the same"):
        records = codebook().records(frame, "stay")
        selector = PrivateSelectKBest(3, epsilon=2, **codebook().target("stay", frame)).fit(**records)
    chosen = selector.feature_names_in_[selector.ranking_.argsort(kind="stable")[:3]].tolist()
    assert found["chosen"] == chosen
    assert found["gaps"] == selector.gaps_.tolist()
    assert (found["noise_scale"], found["mechanism"]) == (selector.noise_scale_, selector.mechanism_)
    assert (found["epsilon"], found["delta"]) == selector.privacy_spent_
    assert (found["n_samples"], found["n_features"], found["ledger"]) == (400, 6, None)
    assert err == ""


@each("source", SOURCES)
def test_a_summary_equals_that_of_the_function(source, tmp_path_factory, capsys):
    folder, frame = tmp_path_factory.mktemp("look"), people()
    (folder / "codebook.toml").write_text(CODEBOOK)
    where = [*data_options(source, frame, folder), "--codebook", str(folder / "codebook.toml")]
    found, _ = published(capsys, "summary", *where, "--epsilon", "2")
    with noise_of("the same"):
        summary = private_summary(frame, codebook(), epsilon=2)
    assert [column["column"] for column in found["columns"]] == [column.name for column in summary.columns]
    for row, column in zip(found["columns"], summary.columns, strict=True):
        assert [tuple(share.values()) for share in row["shares"]] == column.rows()
    assert found["suspicious"] == summary.suspicious


@pytest.mark.parametrize("kind", OTHER_TARGETS)
def test_a_target_of_every_kind_is_read_from_a_csv_as_from_a_frame(kind, tmp_path, capsys):
    frame, target = people(gaps=False), OTHER_TARGETS[kind]
    (tmp_path / "codebook.toml").write_text(CODEBOOK)
    where = [write_csv(frame, tmp_path / "people.csv"), "--codebook", str(tmp_path / "codebook.toml")]
    found, _ = published(capsys, "select", *where, "--target", target, "--k", "2", "--epsilon", "2")
    with noise_of("the same"):
        selector = PrivateSelectKBest(2, epsilon=2, **codebook().target(target, frame))
        selector.fit(**codebook().records(frame, target))
    assert found["gaps"] == selector.gaps_.tolist()


@each("source", SOURCES)
def test_people_with_several_rows_are_protected_as_by_the_estimator(source, tmp_path_factory, capsys):
    folder, frame = tmp_path_factory.mktemp("people"), people()
    frame["name"] = [f"{i // 3:03d}" for i in range(len(frame))]  # identifiers that look like numbers
    text = CODEBOOK.replace("version = 1", 'version = 1\ngroups = "name"\nmax_rows_per_group = 2')
    (folder / "codebook.toml").write_text(text)
    where = [*data_options(source, frame, folder), "--codebook", str(folder / "codebook.toml")]
    found, _ = published(capsys, "select", *where, "--target", "stay", "--k", "3", "--epsilon", "5")
    with noise_of("the same"):
        selector = PrivateSelectKBest(3, epsilon=5, **codebook(text).target("stay", frame))
        selector.fit(**codebook(text).records(frame, "stay"))
    assert found["gaps"] == selector.gaps_.tolist()
    assert found["n_samples"] == selector.n_groups_ == 134
