"""Rows of one table looked up in another by their ids, by Arrow: pandas would hash a Python text for each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    import pandas as pd


def among(ids: pd.Series, known: pd.Series) -> pd.Series:
    """Tell which ids are among the known ones.

    Examples
    --------
    >>> import pandas as pd
    >>> among(pd.Series(["a", "b", None]), pd.Series(["b", "c"])).tolist()
    [False, True, False]
    """
    import pandas as pd

    found = pc.is_in(_texts(ids), value_set=_texts(known))
    return pd.Series(found.to_numpy(zero_copy_only=False), index=ids.index)


def looked_up(ids: pd.Series, known: pd.Series, values: pd.Series) -> pd.Series:
    """Return the value of the first row that has each id; null where none has.

    Examples
    --------
    >>> import pandas as pd
    >>> looked_up(pd.Series(["b", "x"]), pd.Series(["a", "b", "b"]), pd.Series(["1", "2", "3"])).tolist()
    ['2', nan]
    """
    import pandas as pd

    places = pc.index_in(_texts(ids), value_set=_texts(known))
    found = _texts(values).take(places).to_pandas()
    return pd.Series(found.to_numpy() if found.dtype == object else found.array, index=ids.index)


def occurrences(ids: pd.Series, among_these: pd.Series) -> pd.Series:
    """Count how often each id is among these.

    Examples
    --------
    >>> import pandas as pd
    >>> occurrences(pd.Series(["a", "b"]), pd.Series(["b", "b", "c"])).tolist()
    [0, 2]
    """
    import pandas as pd

    counted = pc.value_counts(_texts(among_these))
    places = pc.index_in(_texts(ids), value_set=counted.field("values"))
    counts = pc.fill_null(counted.field("counts").take(places), 0)
    return pd.Series(counts.to_numpy(zero_copy_only=False), index=ids.index, dtype="int64")


def _texts(column: pd.Series) -> pa.Array:
    found = pa.array(column, pa.large_string(), from_pandas=True)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
