from .sketch import RangeGridSketch
from .streams import count_stream, merge_all

__all__ = ["RangeGridSketch", "count_stream", "merge_all"]
