# %% [markdown]
# # From a table of your own to a pipeline
#
# A table needs the columns `id` and `name`. `language`, `synonyms`, `type` and
# [others](../reference/tables.md) are used where they are there.

# %%
from pathlib import Path
from tempfile import mkdtemp

folder = Path(mkdtemp())
(folder / "my_names.csv").write_text(
    """id,name,language,synonyms,type,parents
L1,heart failure,en,cardiac insufficiency|CHF,T047,L3
L1,Herzschwäche,de,Herzinsuffizienz|Herzversagen,T047,L3
L2,high blood pressure,en,hypertension,T047,L3
L2,Bluthochdruck,de,Hypertonie|hoher Blutdruck,T047,L3
L3,cardiovascular disease,en,heart disease,T047,
""",
    encoding="utf8",
)

# %% [markdown]
# `kb` makes a concept table of it and `index` a pipeline. Here the language model is the
# sample's; `multilingual-e5-small`, a Hugging Face folder or a model that you trained stand in
# its place. In a shell the two are `python -m spacy bergamot kb …` and `python -m spacy bergamot
# index …`.

# %%
import spacy

from spacy_bergamot.cli import bergamot

language_model = spacy.load("xx_bergamot_sample").path / "bergamot_linker/encoder"
table, pipeline = folder / "concepts", folder / "my_pipeline"
bergamot(["kb", f"{folder}/my_names.csv", f"{table}"], standalone_mode=False)
bergamot(["index", f"{table}", f"{language_model}", f"{pipeline}"], standalone_mode=False)

# %% [markdown]
# Names are found as they stand, misspelt, and in any language that the table has.

# %%
nlp = spacy.load(pipeline)
for note in ("Known hypertnsion, no CHF.", "Dekompensierte Herzinsuffizienz."):
    print([(ent.text, ent.kb_id_) for ent in nlp(note).ents])
