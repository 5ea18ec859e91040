"""Exact counts on public grids, which add up: in memory, in files, on the workers of a cluster."""

from skdpmic.counting.distributed import merge_all
from skdpmic.counting.streams import count_stream

__all__ = ["count_stream", "merge_all"]
