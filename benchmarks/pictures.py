"""Draw the pictures of docs/choose/causal.md and pictures.md by the code on these pages.

    python -m benchmarks.pictures --output FOLDER [--browser chromium]

A block that is followed by a picture makes a `display`, which is saved; the pictures that are kept are in docs/images.
The last picture is what a notebook shows of the `selector` of the latter, photographed by a browser.
"""

import argparse
import os
import re
import subprocess
import tempfile
from pathlib import Path

import matplotlib

from benchmarks.output import add_output, refuse_to_overwrite

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ("causal.md", "pictures.md")
BLOCK = r"```python\n(.*?)```(?:\n\n```text\n.*?```)?(?:\n\n!\[[^]]*\]\(\.\./images/(\w+\.png)\))?"


def main(argv=None):
    """Run the pages, and save what they draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--browser", help="a command of Chromium, for the picture of a notebook")
    add_output(parser, DOCS / "images", "folder")
    options = parser.parse_args(argv)
    blocks = {page: re.findall(BLOCK, (DOCS / "choose" / page).read_text(), re.DOTALL) for page in PAGES}
    pictures = [picture for of_page in blocks.values() for _, picture in of_page if picture]
    output = options.output.absolute()
    made = [*pictures, "notebook.png"] if options.browser else pictures
    refuse_to_overwrite(parser, options, [output / name for name in made])
    output.mkdir(parents=True, exist_ok=True)
    matplotlib.use("Agg")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # where each page makes its ledger
        for of_page in blocks.values():
            names = {}
            for code, picture in of_page:
                exec(code, names)
                if picture:
                    names["display"].figure_.savefig(output / picture, dpi=150)
        if options.browser:
            photograph(names["selector"], options.browser, output / "notebook.png")
        os.chdir(DOCS)


def photograph(estimator, browser, path):
    """Save what a browser shows of an estimator."""
    page = Path("notebook.html").absolute()
    style = "font-family: sans-serif; font-size: 14px"
    html = f'<!doctype html><meta charset="utf-8"><body style="{style}">{estimator._repr_html_()}</body>'
    page.write_text(html, encoding="utf-8")
    size = ["--window-size=500,605", "--force-device-scale-factor=2"]
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", *size, f"--screenshot={path}"]
    subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True)


if __name__ == "__main__":
    main()
