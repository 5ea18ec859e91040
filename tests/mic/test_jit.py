"""The package imports and computes where numba finds no folder to keep machine code in."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import numba

compile_function = numba.njit

def njit(*args, cache=False, **options):
    if cache:
        raise RuntimeError("cannot cache function: no locator available")
    return compile_function(*args, **options)

numba.njit = njit
from skdpmic import mic_r
print(mic_r([0, 1, 2, 3], [0, 1, 2, 3], bounds=((0, 4), (0, 4)), B=4))
"""


@pytest.mark.slow
def test_without_a_folder_for_machine_code_functions_are_compiled_anew():
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"NUMBA_DISABLE_JIT": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "1.0\n", done.stderr
