"""Time of scores at the limits of B and c: python -m benchmarks.limits; a minute, 1.5 GB.

Processor seconds for uniform x and y = (x + noise) / 2, with the default c unless given, machine code ready.
"""

import time
import warnings

import numpy as np

from skdpmic import PrivacyLeakWarning, characteristic_matrix, mic_e, mic_r, private_score

UNIT = ((0, 1), (0, 1))
CALLS = {
    "mic_r": (1000, lambda x, y: mic_r(x, y, bounds=UNIT, B=1000)),
    "mic_r, c = 32": (1000, lambda x, y: mic_r(x, y, bounds=UNIT, B=1000, c=32)),
    'mic_r, master="full", c = 2': (1000, lambda x, y: mic_r(x, y, bounds=UNIT, B=1000, c=2, master="full")),
    "mic_e": (1000, lambda x, y: mic_e(x, y, B=1000)),
    "characteristic_matrix of MICr": (
        1000,
        lambda x, y: characteristic_matrix(x, y, statistic="mic_r", bounds=UNIT, B=1000),
    ),
    'mechanism="geometric", 93 parts': (1000, lambda x, y: geometric(x, y, B=1000, c=3)),
    "mic_r, 10,000 records": (10_000, lambda x, y: mic_r(x, y, bounds=UNIT, B=10_000)),
    "mic_e, 10,000 records": (10_000, lambda x, y: mic_e(x, y, B=10_000)),
}


def geometric(x, y, **size):
    return private_score(x, y, mechanism="geometric", epsilon=1, bounds=UNIT, random_state=0, **size)


def table(n):
    rng = np.random.default_rng(0)
    x = rng.random(n)
    return x, (x + rng.random(n)) / 2


def main():
    """Print the seconds."""
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    for name, (n, call) in CALLS.items():
        if n == 1000:
            call(*table(200))  # compiles
        x, y = table(n)
        start = time.process_time()
        call(x, y)
        print(f"{name}: {time.process_time() - start:.2g} s", flush=True)


if __name__ == "__main__":
    main()
