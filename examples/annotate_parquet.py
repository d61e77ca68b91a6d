# %% [markdown]
# # Annotate a Parquet file
#
# Notes come as a table, and go out as a table: one row per note, in order, whatever becomes of it.

# %%
from pathlib import Path
from tempfile import mkdtemp

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

folder = Path(mkdtemp())
notes = pa.table(
    {
        "id": [1, 2, 3],
        "ward": ["A", "B", "B"],
        "text": ["Paciente con fiebre.", None, "No high blood pressure; diabetes mellitus."],
    }
)
pq.write_table(notes, folder / "notes.parquet")

# %% [markdown]
# `AnnotateBatches` annotates tables in this process. For a file of any size, several processes and
# machines, and to go on after an interruption, there is
# `python -m spacy bergamot annotate xx_bergamot_sample notes.parquet annotated --keep ward`, which
# writes [the same columns](../annotate.md#in-and-out).

# %%
from spacy_bergamot import AnnotateBatches

annotate = AnnotateBatches("xx_bergamot_sample", keep=["id", "ward"])
annotated = annotate(pq.read_table(folder / "notes.parquet"))
pq.write_table(annotated, folder / "annotated.parquet")
for row in annotated.to_pylist():
    print(row["id"], row["ward"], row["error"] or [m["concept_id"] for m in row["mentions"]])

# %% [markdown]
# One row per mention, with pyarrow alone:

# %%
column = annotated["mentions"].combine_chunks()
mentions = pa.Table.from_struct_array(column.flatten())
mentions = mentions.append_column("id", annotated["id"].take(pc.list_parent_indices(column)))
for row in mentions.select(["id", "start", "text", "concept_id"]).to_pylist():
    print(row)
