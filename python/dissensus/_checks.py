"""What people hand over, checked: every error names the place."""

from __future__ import annotations

import numpy as np

from ._errors import wrong

MOST = np.iinfo(np.uint32).max


def matrix(X, name: str = "X", dim: int | None = None) -> np.ndarray:
    """Embeddings as float32, rows behind one another; not copied where they are that already."""
    try:
        array = np.asarray(X)
        if array.dtype.kind not in "fiub":
            array = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise wrong(f"{name} is no matrix of numbers: {error}") from None
    if array.ndim != 2:
        raise wrong(f"{name} has {array.ndim} dimensions (shape {array.shape}): it takes two, texts x numbers of an embedding")
    if array.shape[1] == 0:
        raise wrong(f"{name} has rows without a number (shape {array.shape})")
    if dim is not None and array.shape[1] != dim:
        raise wrong(f"{name} has {array.shape[1]} numbers in a row, and the model was fitted on {dim}")
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(array, dtype=np.float32)
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise wrong(f"{name}[{row}, {column}] is {array[row, column]}: every number must be finite")
    return array


def sequence(values, name: str) -> list:
    """A list of single values, of whatever a list, an array or a column of a data frame holds."""
    if values is None:
        raise wrong(f"{name} is None")
    if isinstance(values, (str, bytes)):
        raise wrong(f"{name} is one text and no list of them")
    if hasattr(values, "to_pylist"):
        return values.to_pylist()
    if hasattr(values, "tolist"):
        listed = values.tolist()
    else:
        try:
            listed = list(values)
        except TypeError:
            raise wrong(f"{name} is no list: {type(values).__name__}") from None
    if not isinstance(listed, list):
        raise wrong(f"{name} is a single value and no list")
    for at, value in enumerate(listed):
        if isinstance(value, (list, tuple, np.ndarray)):
            raise wrong(f"{name}[{at}] is a list itself: {name} takes single values")
        if is_missing(value):
            raise wrong(f"{name}[{at}] is {value!r}")
    return listed


def is_missing(value) -> bool:
    """Whether there is no value: None, NaN, NaT, pandas.NA."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        # pandas.NA knows neither yes nor no.
        return True


def strings(values, name: str) -> list[str]:
    """Texts: each one a string."""
    listed = sequence(values, name)
    for at, value in enumerate(listed):
        if not isinstance(value, str):
            raise wrong(f"{name}[{at}] is {type(value).__name__} and no text: {value!r}")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise wrong(f"{name}[{at}] is no valid Unicode: {error.reason} at {error.start}") from None
    return listed


def same_length(**lists) -> int:
    """The length of all of them."""
    lengths = {name: len(values) for name, values in lists.items() if values is not None}
    if len(set(lengths.values())) > 1:
        raise wrong("different lengths: " + ", ".join(f"{name} {length}" for name, length in lengths.items()))
    return next(iter(lengths.values()))


def rows(values, name: str, count: int, of: str) -> np.ndarray:
    """Row numbers below `count`."""
    listed = sequence(values, name)
    for at, value in enumerate(listed):
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole:
            raise wrong(f"{name}[{at}] is {value!r}: it takes rows of {of}, whole numbers from 0")
        if not 0 <= value < count:
            raise wrong(f"{name}[{at}] is {value}, and {of} has the rows 0 to {count - 1}")
    return np.array(listed, dtype=np.uint32)


def places(values, known: dict, name: str, what: str) -> np.ndarray:
    """The place of each value among those that are known."""
    listed = sequence(values, name)
    found = np.empty(len(listed), dtype=np.uint32)
    for at, value in enumerate(listed):
        place = known.get(value)
        if place is None:
            few = ", ".join(repr(one) for one in list(known)[:5]) + (", ..." if len(known) > 5 else "")
            raise wrong(f"{name}[{at}]: there is no {what} {value!r}; there are {few}")
        found[at] = place
    return found


def coded(values, name: str) -> tuple[np.ndarray, list]:
    """Numbers for values, in the order in which these come first."""
    listed = sequence(values, name)
    known: dict = {}
    codes = np.empty(len(listed), dtype=np.uint32)
    for at, value in enumerate(listed):
        try:
            codes[at] = known.setdefault(value, len(known))
        except TypeError:
            raise wrong(f"{name}[{at}] cannot be distinguished from others: {type(value).__name__}") from None
    return codes, list(known)


def levels_of(values, levels, scale: str, name: str = "y") -> tuple[np.ndarray, list, str]:
    """Labels as places of their levels, all levels in order, and the scale: `binary`, `choice` or `ordinal`."""
    listed = sequence(values, name)
    if not listed and levels is None:
        raise wrong(f"{name} is empty: there is no label to learn from")
    if levels is None:
        try:
            order = sorted(set(listed))
        except TypeError:
            raise wrong(f"{name} holds values that have no order among each other: name them with levels=[...]") from None
    else:
        order = sequence(levels, "levels")
        if len(set(order)) != len(order):
            raise wrong("levels names a level twice")
    if len(order) < 2:
        raise wrong(f"{name} has one level only ({order[0]!r}): it takes two, or levels=[...]")
    if len(order) > np.iinfo(np.uint16).max:
        raise wrong(f"{name} has {len(order)} different values: that is no scale of labels")
    if scale == "auto":
        numbers = all(isinstance(level, (int, float)) and not isinstance(level, bool) for level in order)
        scale = "binary" if len(order) == 2 else "ordinal" if numbers or levels is not None else "choice"
    if scale not in ("binary", "choice", "ordinal"):
        raise wrong(f"scale is {scale!r}: it takes 'auto', 'binary', 'choice' or 'ordinal'")
    if scale == "binary" and len(order) != 2:
        raise wrong(f"a binary scale has two levels, and {name} has {len(order)}: {order[:6]}")
    known = {level: at for at, level in enumerate(order)}
    for at, value in enumerate(listed):
        if value not in known:
            raise wrong(f"{name}[{at}] is {value!r}, which is none of the levels {order[:6]}")
    return np.array([known[value] for value in listed], dtype=np.uint16), order, scale


def once(texts: np.ndarray, annotators: np.ndarray, names: list) -> None:
    """Every annotator labels a text once."""
    pairs = texts.astype(np.uint64) << np.uint64(32) | annotators.astype(np.uint64)
    order = np.argsort(pairs, kind="stable")
    again = np.flatnonzero(np.diff(pairs[order]) == 0) if len(pairs) else []
    if len(again):
        first, second = sorted((int(order[again[0]]), int(order[again[0] + 1])))
        raise wrong(
            f"labels {first} and {second} are both by {names[annotators[second]]!r} on text {texts[second]}: keep one of them"
        )
