"""Coded messages of preprocessing, training and evaluation."""

from spacy_bergamot.errors import BergamotError, check_choice
from spacy_bergamot.kb_import.errors import Errors as KbErrors

__all__ = ["BergamotError", "Errors", "check_choice"]


class Errors(KbErrors):
    """T1xx preprocessing, T2xx training, T3xx evaluation, T4xx downloads, T5xx packaging.

    B230 to B237: batches, objectives and hierarchies of training. B240 to B244: OntoEA.
    """

    T105 = (
        "The concepts of {path} have no two different names, so there is nothing to train on. "
        "Allow more languages or sources, or raise the caps."
    )
    T109 = (
        "The names are in {found} languages; pairs can be made of {most} at most. "
        "Choose some with --languages."
    )
    T111 = "{path} has no validation queries. Raise --valid-concepts."
    T113 = "{what} needs {needed}. Give {option}."
    T123 = (
        "{path} has no file of {form}, only: {files}. Correct the path, or choose the form with "
        "--form: `python -m training corpus --help` lists them."
    )
    T124 = "{path} has files of several forms: {forms}. Choose one with --form."
    T126 = (
        "There is no document of '{name}' for {path}. spaCy's data needs a corpus with texts; "
        "with few documents change --dev-share."
    )
    T130 = "'{corpus}' has none of the documents in {path}. Give the list of this corpus."
    T146 = "The documents differ: {reason}. Give the same documents in the same order."
    T150 = "Fewer than two of the groups {groups} have names in {path}. Choose others with --group."
    T152 = "{path} has only {count} rows with two terms and a mean; three are needed."
    T155 = (
        "The training records have the labels {labels}; test labels that they lack: {unknown}. "
        "Two labels are needed, and every one of the test records."
    )
    T159 = (
        "Fewer than two of the groups {groups} have {kind} names, by what is in {path}. Choose "
        "others with --group, or give the training set of this knowledge base."
    )
    T161 = "All {count} rows of {path} have the mean {mean}, so there is no order to compare with."
    T173 = "'{name}' is a variant's name already. Give the training set {path} another."
    T201 = "--gpu-id {gpu_id} was asked for, but torch sees {count} GPU(s). Use -1 for the CPU."
    T202 = (
        "GATv2 with {layers} convolutions on one hop needs self_loops = true: without them the "
        "neighbours receive no message and every centre gets the same embedding."
    )
    T203 = (
        "A width of {dim} cannot be divided into {heads} equal heads or blocks. "
        "Choose a divisor of {dim}."
    )
    T207 = (
        "{path} holds a run made under another config or from other data. Choose another "
        "paths.output, or remove that folder to start anew."
    )
    T208 = (
        "A loss is not finite at step {step}: {losses}. Nothing of this step was saved; the last "
        'good checkpoint is in {path}. Try a lower learning rate, clip, or autocast = "none".'
    )
    T209 = "Stopped by a signal after step {step}; run the same command again to go on from {path}."
    T210 = "Cannot read the config {path}: {reason}. Correct the path or the line."
    T211 = (
        "The config {path} has wrong sections or keys (missing: {missing}; unknown: {unknown}). "
        "Compare it with {example}."
    )
    T212 = "The config does not fit the functions that it names:\n{reason}"
    T213 = (
        "The objectives' weights are {weights}: none may be below zero and one must be above. "
        "Set a weight in [objectives]."
    )
    T214 = "Another run is writing to {path}. Wait for it, or choose another paths.output."
    T215 = "Cannot read the option '{option}'. Give overrides as --section.key VALUE."
    T216 = (
        "The total loss exploded to {total:.3g} at step {step} (first logged: {first:.3g}). "
        "Nothing of this step was saved; the last good checkpoint is in {path}. "
        "Try a lower learning rate or clip, or set training.explosion higher."
    )
    T221 = (
        "batches.size is {size} with {count} hard negatives beside each drawn pair, out of {pool} "
        "near concepts. Make size a multiple of 1 + hard_negatives, and hard_negatives at most "
        "hard_negative_pool and the number of other concepts with pairs."
    )
    T231 = (
        "A vocabulary is cut to what names and texts use: give --names or --text with --vocabulary "
        "cut. Neither they nor --script and --size have a meaning with '{value}'."
    )
    T232 = (
        "{path} cannot lose pieces: it has a {found}. Known are: {choices}. Keep the whole "
        "vocabulary; half precision alone halves the size."
    )
    T233 = (
        "{path} does not fit its model: its largest id is {largest}, the model has word embeddings "
        "of {rows} pieces. Take tokenizer.json and model.safetensors from one source."
    )
    T234 = (
        "A vocabulary of {size} pieces is too small: special tokens, single characters and what "
        "--script asks for are {least}. Ask for more, or for no size."
    )
    T236 = (
        "{name} has a weight of {found:.3g}, and {dtype} holds {largest:.3g} at most. "
        "Choose bf16 or fp32."
    )
    T250 = (
        "Word embeddings of the kind {kind} cannot be trained row by row. Set "
        "training.word_embeddings to trained or frozen."
    )
    T282 = (
        "The corpus of {sets} is not at {path}. It is to be had from {home}; give its folder with "
        "--paths.corpus. It is read in the form: {form} (docs/corpora.md)."
    )
    T284 = "`python -m {command}` ended with status {status}:\n{end}"
    T285 = "{value} is no translator: {reason}. Give hf:FOLDER or module:function."
    T287 = (
        "The translator was given {asked} texts and gave {found}. It must take a list of texts "
        "and return one of as many."
    )
    T292 = "{path} does not say {name}. Begin with one of configs/benchmark, or set --{name}."
    T295 = (
        "No gold mention of {path} has one of the labels {labels}; it has: {found}. Give others "
        "with --gold-labels."
    )
    T296 = "{path} has no {what}. {remedy}"
    T306 = (
        "No mention of {path} is left under the protocol '{protocol}' with a gold concept in the "
        "dictionary. Check that both use the same concept ids."
    )
    T271 = (
        "With a margin of {margin} the learned mix is in doubt of too few of {count} mentions. "
        "Give a larger corpus, raise --margin, or use the mix alone: python -m training rerank"
    )
    T310 = (
        "No {label} mention is marked in {paths}, so there is nothing to train on. Give texts of "
        "the knowledge base's languages, with --language where it is known, or another --label."
    )
    T312 = (
        "None of {count} documents has an entity, so there is nothing to train a finder on. Write "
        "them with `python -m training corpus CORPUS OUT --spacy FILE.spacy`."
    )
    T313 = "{path} is the release that the pipeline has already. Give another."
    T314 = (
        "{path} has {shared} of the {before} concepts of the pipeline, by their ids: it is no "
        "release of the same knowledge base. Build a pipeline: python -m spacy bergamot index"
    )
    T315 = (
        "{path} means other things by the same ids: {count} of {all} concepts in both have no name "
        "in common, such as {concept_id}, which was '{before}' and is '{now}'. Give a release of "
        "the same knowledge base, or build a pipeline: python -m spacy bergamot index"
    )
    T316 = (
        "Files of {path} are not as they were made; restore them, or build the pipeline anew:\n"
        "{problems}"
    )
    T317 = (
        "{path} has these linkers: {pipes}. An upgrade needs just one bergamot_linker, and no "
        "bergamot_entity_linker, which has learned from the concepts that there were."
    )
    T318 = (
        "Both sides have {all} concept ids in common, and {count} of them mean other things, such "
        "as {concept_id}: '{left}' and '{right}'. Give the ids of one side a prefix, as LOCAL:1."
    )
    T319 = (
        "{count} of the {seeds} seeds are among the pairs that were found, beside others; it takes "
        "{least}. Give more seeds, or none."
    )
    T321 = (
        "{path} has no pair of concepts of both sides. Lines left out: {skipped}; {first}. Give "
        "the ids that the sides have, or their codes."
    )
    T370 = (
        "{path} is no file of candidates. Remove it, or give another with --candidates; it is made "
        "anew."
    )
    T372 = (
        "{name}: {count} of {mentions} mentions have the gold concept among several candidates; "
        "{least} are needed. Give a larger corpus, with the ids of the knowledge base."
    )
    T373 = (
        "With {share} of its concepts hidden, a half of {path} has no mention that is NIL. Raise "
        "--remove-concepts, change --seed, or give a larger corpus."
    )
    T401 = "Cannot download {name}: {reason}."
    T402 = (
        "{name}: no answer after {tries} tries. What came is kept ({path}); run the same command "
        "again to go on."
    )
    T405 = (
        "Set the environment variable {key} to your UMLS key (from your profile at "
        "uts.nlm.nih.gov); it is not read from anywhere else."
    )
    T406 = "'{value}' is no release. They are called 2025AA, 2025AB and so on."
    T501 = (
        "{path} is no folder of a spaCy pipeline: {missing} is missing. Give the folder that "
        "`python -m spacy assemble` wrote."
    )
    T502 = (
        "{path} is not the {what} of the pipeline {pipeline}. Give the one that it was made from."
    )
    T504 = (
        "meta.json of {path} would not be valid: {reason}. Correct --name, --version or the file."
    )
    B230 = (
        "The objective '{name}' needs {needs}, which these batches do not have. Change @batches in "
        "[batches], or the objective: configs/train has an example of each."
    )
    B231 = (
        "The training set has {count} relations; a matrix each is made for {most} at most. Set "
        "[objectives.relation] relation to diagonal or transe, or preprocess with --relation-label "
        "rel."
    )
    B232 = (
        "batches.size is {size}, but the training set has only {count} {what}. Make the batch "
        "smaller, or preprocess so that there are more."
    )
    B233 = (
        "The training set {path} has no graded pairs. Preprocess with --hierarchy mrhier or "
        "--hierarchy relations."
    )
    B236 = (
        "{path} has no MRHIER.RRF, which --hierarchy mrhier reads. Give a full release, or choose "
        "--hierarchy relations."
    )
    B237 = (
        "The hierarchy of {path} gives no pair of a name and an ancestor's; left out: {skipped}. "
        "Choose another --hierarchy, or none."
    )
    B240 = (
        "The {side} side has {count} concepts; OntoEA compares all of one with each other, and "
        "takes {most} at most. Give fewer, or --method names."
    )
    B241 = (
        "The {side} side has no concept with a parent, and OntoEA learns from hierarchies. Give a "
        "table with parents, or --method names."
    )
    B243 = "{path} cannot be gone on with: {reason} Remove the folder to start anew."
    B244 = (
        "OntoEA has {count} seeds and takes {least}: two thirds to learn from, a third to choose "
        "by. Give more with --seeds, or --method names."
    )
