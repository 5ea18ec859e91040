"""Results that survive an interruption: a CSV file with one row per configuration, appended as each is done."""

import csv
import zlib

from tqdm import tqdm


def completed(path, configurations, compute, description):
    """Rows of all configurations, in order: read from the file, or computed and appended to it.

    Parameters
    ----------
    path : Path
    configurations : list of dict
        All with the same keys. Configurations that share work should be adjacent.
    compute : callable
        Takes a configuration and its own seed, and returns a dict of floats.
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
    """The seed of a configuration, whatever the order of the runs."""
    return zlib.crc32(repr(key).encode())


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
