"""Arrays on disk that grow as they are written."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt


@contextmanager
def array_in_parts(
    path: Path, dtype: npt.DTypeLike, *width: int
) -> Iterator[Callable[[np.ndarray], None]]:
    """Yield what writes rows; in the end the file is the one that `np.save` makes of all of them.

    dtype (DTypeLike), width (int): Of the array, whose shape is (rows, *width).
    """
    header = np.lib.format.header_data_from_array_1_0(np.empty((0, *width), dtype=dtype))
    rows = 0
    with path.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)

        def write(part: np.ndarray) -> None:
            nonlocal rows
            rows += len(part)
            stream.write(np.ascontiguousarray(part, dtype=dtype).data)

        yield write
        stream.seek(0)  # the number of rows has its room in the header
        np.lib.format.write_array_header_1_0(stream, header | {"shape": (rows, *width)})
