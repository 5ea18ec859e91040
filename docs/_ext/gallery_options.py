"""How the gallery runs an example."""

from pathlib import Path


def quickly(gallery_conf, script_vars):
    """With ``--quick``, if the example takes it."""
    return ["--quick"] if '"--quick"' in Path(script_vars["src_file"]).read_text(encoding="utf-8") else []
