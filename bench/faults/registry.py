"""All rows of the matrix, in the order in which they are played."""

from bench.faults import rows_worker
from bench.faults.row import Row

ROWS: tuple[Row, ...] = (*rows_worker.ROWS,)
