"""Names that a language model cannot tell apart: the same token ids, hence the same vector.

An index holds one vector of each. Where the vocabulary does not reach (Chinese names under an
English tokenizer, say) thousands of names are the same few unknown tokens, and a graph index that
holds them all falls to pieces, as the links of each end in its copies.
"""

import hashlib
from array import array
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from spacy_bergamot.encoder.text_encoder import EncodesAliases
from spacy_bergamot.ragged import ranges

_CHUNK = 1 << 16


class Groups(NamedTuple):
    """Names by vector.

    first (int64 (u,)): Row of every group's first name, ascending.
    indptr (int64 (u + 1,)), members (int32 (n,)): Rows of a group's names, ascending.
    """

    first: np.ndarray
    indptr: np.ndarray
    members: np.ndarray

    def of_rows(self) -> np.ndarray:
        """Return the group of every name, int64 (n,)."""
        groups = np.empty(len(self.members), dtype=np.int64)
        groups[self.members] = np.repeat(np.arange(len(self.first)), np.diff(self.indptr))
        return groups


def group_names(encoder: EncodesAliases, names: pa.Array) -> Groups:
    """Group names by their token ids, compared by a hash of 128 bits.

    encoder (EncodesAliases): Tokenises them.
    names (pa.Array): Strings.
    """
    digests = bytearray()
    for start in range(0, len(names), _CHUNK):
        for ids in encoder.tokenize(names[start : start + _CHUNK].to_pylist()):
            digests += hashlib.blake2b(array("i", ids).tobytes(), digest_size=16).digest()
    keys = np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2)
    order = np.lexsort((np.arange(len(keys)), keys[:, 0], keys[:, 1]))
    ordered = keys[order]
    new = np.ones(len(keys), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(1)
    starts = np.flatnonzero(new)
    by_first = np.argsort(order[starts], kind="stable")
    sizes = np.diff(np.append(starts, len(keys)))[by_first]
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    members = order[ranges(starts[by_first], sizes)].astype(np.int32)
    return Groups(order[starts][by_first].astype(np.int64), indptr, members)
