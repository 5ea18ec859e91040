"""Draw the pictures of docs/choose/causal.md and pictures.md with the code on these pages.

    python -m benchmarks.pictures --output FOLDER [--browser chromium]

A code block followed by a picture makes a `display`, which is saved; the kept pictures are in docs/images. The last
picture is a browser's screenshot of how a notebook shows the `selector` of pictures.md, opened.
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
    parser.add_argument("--browser", help="command that starts Chromium, for the picture of a notebook")
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
            save_screenshot(names["selector"], options.browser, output / "notebook.png")
        os.chdir(DOCS)


def save_screenshot(estimator, browser, path):
    """Save a browser's screenshot of an estimator."""
    page = Path("notebook.html").absolute()
    style = "font-family: sans-serif; font-size: 14px"
    opened = estimator._repr_html_().replace("<details><summary>Chosen", "<details open><summary>Chosen")
    html = f'<!doctype html><meta charset="utf-8"><body style="{style}">{opened}</body>'
    page.write_text(html, encoding="utf-8")
    size = ["--window-size=500,622", "--force-device-scale-factor=2"]
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", *size, f"--screenshot={path}"]
    subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True)


if __name__ == "__main__":
    main()
