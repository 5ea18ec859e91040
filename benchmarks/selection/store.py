"""Results of a run, a CSV file for each configuration, so that an interrupted run goes on where it stopped."""

import pandas
from tqdm import tqdm


def completed(folder, configurations, compute, description):
    """Rows of all configurations: those in the folder, and the others, which are computed and kept there.

    Parameters
    ----------
    folder : Path
    configurations : list of tuple
        Their parts name the file.
    compute : callable
        From a configuration to a list of dict.
    description : str
        For the progress bar.

    Returns
    -------
    pandas.DataFrame
    """
    folder.mkdir(parents=True, exist_ok=True)
    frames = []
    for configuration in tqdm(configurations, desc=description):
        path = folder / f"{'_'.join(map(str, configuration))}.csv"
        if not path.exists():
            unfinished = path.with_suffix(".part")
            pandas.DataFrame(compute(configuration)).to_csv(unfinished, index=False, float_format="%.5g")
            unfinished.replace(path)
        frames.append(pandas.read_csv(path))
    return pandas.concat(frames, ignore_index=True)
