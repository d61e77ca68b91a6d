# %% [markdown]
# # Add names, and learn what to refuse
#
# An institution has names of its own. They are added without building the index again.

# %%
import spacy

nlp = spacy.load("xx_bergamot_sample")
linker = nlp.get_pipe("bergamot_linker")
text = "The widowmaker was treated; now long COVID."
print([(ent.text, ent.kb_id_) for ent in nlp(text).ents])

linker.update_index(
    [
        {"action": "add", "concept_id": "C0027051", "alias": "widowmaker", "language": "ENG"},
        {
            "action": "add",
            "concept_id": "L1",
            "alias": "long COVID",
            "name": "Post-COVID condition",
        },
    ]
)
print([(ent.text, ent.kb_id_) for ent in nlp(text).ents])

# %% [markdown]
# `python -m spacy bergamot update PIPELINE changes.jsonl UPDATED` does the same with a file of such
# lines. What was added is saved with the pipeline:

# %%
from pathlib import Path
from tempfile import mkdtemp

folder = Path(mkdtemp())
nlp.to_disk(folder / "updated")

# %% [markdown]
# Scores are similarities. `calibrate` learns from mentions whose concepts are known how probable a
# link is, and which probability gives the wanted precision. The sample has 191 sentences with gold.

# %%
import json

from spacy_bergamot.cli import bergamot

gold = Path("assets/sample/gold/gold.jsonl")
with gold.open(encoding="utf8") as lines:
    sentence = json.loads(next(lines))
print(sentence["text"], sentence["entities"][0])
arguments = ["calibrate", f"{folder}/updated", f"{gold}", f"{folder}/calibrated"]
bergamot([*arguments, "--precision", "0.9"], standalone_mode=False)

# %%
calibrated = spacy.load(folder / "calibrated")
found = calibrated.get_pipe("bergamot_linker").explain("widow maker")
print(found["decision"], found["candidates"][0]["probability"])
