# %% [markdown]
# # Link a note in five languages
#
# One pipeline reads them all. It guesses the language of a text; `doc.user_data["language"]` says
# it.

# %%
import spacy

nlp = spacy.load("xx_bergamot_sample")
concepts = nlp.get_pipe("bergamot_linker").kb.cui_to_entity

notes = {
    "English": "Known type-2 diabetes. Denies chest pain, but reports strokes in the family.",
    "Spanish": "Paciente con hipertensión arterial y fiebre desde ayer.",
    "German": "Verdacht auf Lungenentzündung bei bekanntem Vorhofflimmern.",
    "Russian": "Пациент с сахарным диабетом 2 типа и пневмонией.",
    "Japanese": "患者は高血圧と糖尿病がある。",
}
for language, note in notes.items():
    print(language)
    for ent in nlp(note).ents:
        name = concepts[ent.kb_id_].canonical_name if ent.kb_id_ != "NIL" else ""
        print(f"  {ent.text} -> {ent.kb_id_} {name}")

# %% [markdown]
# `ent._.kb_ents` has the concepts that come into question, best first. `ent._.candidates` has all
# that is known of each: the alias that was found, its language and source, every score.

# %%
doc = nlp("Пациент с сахарным диабетом 2 типа и пневмонией.")
print(doc.ents[1]._.kb_ents)
best = doc.ents[0]._.candidates[0]
print(best["concept_id"], best["alias"], best["language"], round(best["score"], 2))

# %% [markdown]
# What a knowledge base knows of a concept:

# %%
concept = concepts["C0020538"]
print(concept.canonical_name, concept.types, concept.languages)
print(concept.aliases[:4])
