"""Results that survive an interruption: a CSV file with one row a configuration, appended as each is done."""

import argparse
import csv
import zlib
from pathlib import Path

from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[2]


def completed(path, configurations, compute, description):
    """Rows of all configurations, in their order: those in the file, and the others, which are computed and appended.

    Parameters
    ----------
    path : Path
    configurations : list of dict
        All with the same keys. Configurations that share work should be neighbours.
    compute : callable
        From a configuration and a seed of its own to a dict of floats.
    description : str
        For the progress bar.

    Returns
    -------
    list of dict
        Configuration and results together; configurations as they were given, results as floats.
    """
    names = list(configurations[0])
    done = _read(path, names)
    missing = [configuration for configuration in configurations if _key(configuration) not in done]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", newline="", buffering=1) as file:
        writer = csv.writer(file, lineterminator="\n")
        is_empty = file.tell() == 0
        for configuration in tqdm(missing, desc=description, disable=None, mininterval=1):
            key = _key(configuration)
            results = {name: float(f"{value:.7g}") for name, value in compute(configuration, seed_of(key)).items()}
            if is_empty:
                writer.writerow([*names, *results])
                is_empty = False
            writer.writerow([*key, *results.values()])
            done[key] = results
    return [configuration | done[_key(configuration)] for configuration in configurations]


def seed_of(key):
    """A seed that belongs to a configuration, whatever the order in which they are run."""
    return zlib.crc32(repr(key).encode())


def write_csv(path, rows):
    """A table of dicts with the same keys; floats to four digits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0])
        writer.writerows([_short(value) for value in row.values()] for row in rows)


def parser_of(description):
    """The options that all scripts have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="a small part of the experiment, in a minute or so")
    parser.add_argument("--runs", type=int, help="runs a data set, instead of the paper's")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results", help="folder of results")
    return parser


def add_data_option(parser):
    parser.add_argument(
        "--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder with baseball.csv and Spellman.csv"
    )


def result_path(options, name):
    """Where a result goes; that of a quick run does not replace that of a full one."""
    stem, suffix = name.rsplit(".", 1)
    return options.output / f"{stem}{'_quick' if options.quick else ''}.{suffix}"


def _key(configuration):
    return tuple(str(value) for value in configuration.values())


def _read(path, names):
    if not path.exists():
        return {}
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:  # the last row was cut off in the middle
        path.write_text(whole, encoding="utf-8")
    rows = csv.DictReader(whole.splitlines())
    return {
        tuple(row[name] for name in names): {name: float(row[name]) for name in row if name not in names}
        for row in rows
    }


def _short(value):
    return f"{value:.4g}" if isinstance(value, float) else value
