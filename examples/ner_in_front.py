# %% [markdown]
# # An NER in front
#
# The linker links what stands in `doc.ents`, whoever put it there. spaCy's entity ruler stands
# for an NER of yours; [How to](../howto/ner.md) has scispaCy, medspaCy, EDS-NLP, GLiNER and
# transformers.

# %%
import spacy

nlp = spacy.blank("en")
ruler = nlp.add_pipe("entity_ruler")
ruler.add_patterns(
    [
        {"label": "DISEASE", "pattern": "broken hip"},
        {"label": "DISEASE", "pattern": "cold"},
        {"label": "DRUG", "pattern": "aspirin"},
        {"label": "PERSON", "pattern": "Dr. Cold"},
    ]
)

# %% [markdown]
# `source` copies the linker with its language model and index. `types_by_label` says what an
# entity of a label may mean: semantic types or groups. Entities of people, places and dates are
# left alone.

# %%
packaged = spacy.load(
    "xx_bergamot_sample",
    exclude=["bergamot_mentions"],
    config={
        "components.bergamot_linker.types_by_label": {"DISEASE": ["DISO"], "DRUG": ["CHEM"]},
        "components.bergamot_linker.min_probability": None,
    },
)
nlp.add_pipe("bergamot_linker", source=packaged)
print(nlp.pipe_names)

# %%
concepts = nlp.get_pipe("bergamot_linker").kb.cui_to_entity
doc = nlp("Dr. Cold saw a broken hip. The patient takes aspirin for a cold.")
for ent in doc.ents:
    name = concepts[ent.kb_id_].canonical_name if ent.kb_id_ in concepts else "left alone"
    print(f"{ent.label_:8} {ent.text:11} {name}")
