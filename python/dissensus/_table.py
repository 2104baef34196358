"""Tables: a dictionary of columns that pandas, Polars and pyarrow take as it is."""

from __future__ import annotations

import numpy as np

from . import _native


class Table(dict):
    """Named columns of one length, in their order: lists of strings (or `None`) and numpy arrays.

    A plain dictionary, so that `pandas.DataFrame(table)` takes it, with the Arrow stream interface, by which `pyarrow.table(table)` and
    `polars.DataFrame(table)` do. Times are UTC.

    >>> table = Table({"text_id": ["a", "b"], "labels": np.array([3, 1])})
    >>> table["labels"].sum(), len(table), table.num_rows
    (np.int64(4), 2, 2)
    """

    __slots__ = ()

    @property
    def num_rows(self) -> int:
        """Rows of the table; `len(table)` is the number of columns, as of every dictionary."""
        return len(next(iter(self.values()))) if self else 0

    def rows(self):
        """Every row as a dictionary."""
        names = list(self)
        for values in zip(*self.values()):
            yield dict(zip(names, values))

    def __arrow_c_stream__(self, requested_schema=None):
        """The table as an Arrow stream of one batch. A requested schema is not followed, as the interface allows."""
        return _native.arrow_stream([(name, *_plain(values)) for name, values in self.items()])

    def __repr__(self) -> str:
        return f"Table({self.num_rows} rows: {', '.join(self)})"


def _plain(values):
    """What a column holds, and its values as the native part takes them."""
    if isinstance(values, np.ndarray) and values.ndim == 1:
        if values.dtype.kind == "M":
            return "timestamp", values.astype("datetime64[ms]").view("int64")
        if values.dtype.kind == "b":
            return "bool", values
        if values.dtype == np.float32:
            return "float32", values
        if values.dtype.kind == "f":
            return "float64", values.astype("float64")
        if values.dtype.kind in "iu":
            return "int64", values.astype("int64")
        values = values.tolist()
    return "string", [None if value is None else str(value) for value in values]
