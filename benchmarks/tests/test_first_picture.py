"""The picture on the first page shows what was measured, and so do the pages that contain it."""

import re

import pytest

pytest.importorskip("pandas", reason="the rivals take dataframes of pandas")

import numpy as np

from benchmarks import first_picture
from benchmarks.tests import pages


def test_the_first_pages_state_the_kept_results():
    shares = first_picture.kept()
    private, noisy = first_picture.PRIVATE, first_picture.NOISY
    rival = first_picture.strongest_rival(shares)
    stated = [shares[way, epsilon] for way in (private, rival) for epsilon in ("0.03", "0.1")]
    most = max(share for (way, _), share in shares.items() if way == noisy)
    for page in ("README.md", "docs/index.md"):
        (text,) = re.findall(r"!\[True columns found.*?\]", pages.text_of(page))
        percentages = [float(percent) / 100 for percent in re.findall(r"(\d+)%", text)]
        assert percentages == pytest.approx([*stated, most], abs=0.006)


def test_each_way_finds_all_true_columns_without_noise():
    """At an epsilon so large that the noise is negligible."""
    X, y = first_picture.random_table(np.random.default_rng(0))
    for select in (first_picture.select_privately, first_picture.select_from_noisy_data):
        assert first_picture.share_found(select(X, y, 1e6, np.random.default_rng(0))) == 1
