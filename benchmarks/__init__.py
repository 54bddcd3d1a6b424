"""Benchmarks for asv (`bench_*.py`) and a comparison with other packages (`compare.py`)."""
