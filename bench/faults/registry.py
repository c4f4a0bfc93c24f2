"""All rows of the matrix, in the order in which they are played."""

from bench.faults import (
    rows_api,
    rows_cancel,
    rows_clock,
    rows_commits,
    rows_crowd,
    rows_embeddings,
    rows_frozen,
    rows_index,
    rows_living,
    rows_lost,
    rows_people,
    rows_postgres,
    rows_readers,
    rows_redis,
    rows_remote,
    rows_schedulers,
    rows_stalled,
    rows_worker,
)
from bench.faults.row import Row

_FAMILIES = (
    rows_api,
    rows_worker,
    rows_remote,
    rows_frozen,
    rows_living,
    rows_clock,
    rows_people,
    rows_cancel,
    rows_redis,
    rows_lost,
    rows_postgres,
    rows_commits,
    rows_readers,
    rows_stalled,
    rows_crowd,
    rows_index,
    rows_schedulers,
    rows_embeddings,
)
ROWS: tuple[Row, ...] = tuple(row for family in _FAMILIES for row in family.ROWS)
