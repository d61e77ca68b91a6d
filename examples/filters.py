# %% [markdown]
# # Filters, thresholds, and why a mention is linked
#
# `explain` shows what is compared with a mention, what was dropped, and the decision.

# %%
import spacy

nlp = spacy.load("xx_bergamot_sample")
linker = nlp.get_pipe("bergamot_linker")


def show(mention, linker):
    found = linker.explain(mention)
    print(f"{mention}: {found['decision']}", found["reason"] or "")
    for candidate in found["candidates"][:2]:
        print(f"  {candidate['score']:.2f} {candidate['concept_id']} {candidate['alias']}")
    for candidate in found["dropped"][:2]:
        print(f"  dropped {candidate['concept_id']} {candidate['alias']}: {candidate['reason']}")


show("high blood pressure", linker)
show("Schmidt", linker)

# %% [markdown]
# Filters work before the best candidates are chosen, so that k allowed ones come back however
# strict they are. Every setting can be changed when the pipeline is loaded. Here only Spanish
# names count.

# %%
config = {"components.bergamot_linker.languages": ["es"]}
spanish = spacy.load("xx_bergamot_sample", config=config).get_pipe("bergamot_linker")
show("high blood pressure", spanish)

# %% [markdown]
# A pipeline that is calibrated refuses what is too unlikely. `min_probability` is the bound,
# learned by `calibrate`; a stricter one links less, and more of that rightly.

# %%
for bound in (None, 0.99):
    config = {"components.bergamot_linker.min_probability": bound}
    strict = spacy.load("xx_bergamot_sample", config=config)
    doc = strict("Asthma, and strokes in the family.")
    print(bound, [(ent.text, ent.kb_id_) for ent in doc.ents])

# %% [markdown]
# A filter that names what the knowledge base does not have is an error when the pipeline is
# loaded.

# %%
config = {"components.bergamot_linker.descendants_of": ["C999"]}
try:
    spacy.load("xx_bergamot_sample", config=config)
except ValueError as error:
    print(str(error).partition(" in ")[0])
