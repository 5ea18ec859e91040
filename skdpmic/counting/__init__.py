"""Exact counts on public grids, which add up: in memory, in files, on the workers of a cluster."""

from skdpmic.counting.distributed import count_rows, merge_all

__all__ = ["count_rows", "merge_all"]
