from .distributed import merge_all
from .sketch import RangeGridSketch
from .streams import count_stream

__all__ = ["RangeGridSketch", "count_stream", "merge_all"]
