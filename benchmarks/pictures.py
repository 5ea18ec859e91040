"""Draw the pictures of docs/choose/causal.md and pictures.md by the code on these pages.

    python -m benchmarks.pictures [--browser chromium]

A block that is followed by a picture makes a `display`, which is saved. The last picture is what a notebook shows of
the `selector` of the latter, photographed by a browser.
"""

import argparse
import os
import re
import subprocess
import tempfile
from pathlib import Path

import matplotlib

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = r"```python\n(.*?)```(?:\n\n```text\n.*?```)?(?:\n\n!\[[^]]*\]\(\.\./(images/\w+\.png)\))?"


def main():
    """Run the page, and save what it draws."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--browser", help="a command of Chromium, for the picture of a notebook")
    browser = parser.parse_args().browser
    matplotlib.use("Agg")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # where each page makes its ledger
        for page in ("causal.md", "pictures.md"):
            names = {}
            for code, picture in re.findall(BLOCK, (DOCS / "choose" / page).read_text(), re.DOTALL):
                exec(code, names)
                if picture:
                    names["display"].figure_.savefig(DOCS / picture, dpi=110)
        if browser:
            photograph(names["selector"], browser, DOCS / "images" / "notebook.png")
        os.chdir(DOCS)


def photograph(estimator, browser, path):
    """Save what a browser shows of an estimator."""
    page = Path("notebook.html").absolute()
    style = "font-family: sans-serif; font-size: 14px"
    html = f'<!doctype html><meta charset="utf-8"><body style="{style}">{estimator._repr_html_()}</body>'
    page.write_text(html, encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=620,570", f"--screenshot={path}"]
    subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True)


if __name__ == "__main__":
    main()
