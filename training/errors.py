"""Coded messages of preprocessing, training and evaluation."""

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.kb_import.errors import Errors as KbErrors

__all__ = ["BergamotError", "Errors"]


class Errors(KbErrors):
    """T1xx preprocessing, T2xx training, T3xx evaluation, T4xx downloads, T5xx packaging."""

    T105 = (
        "The concepts of {path} have no two different names, so there is nothing to train on. "
        "Allow more languages or sources, or raise the caps."
    )
    T106 = "Unknown relation label '{value}'. Choose rel or rela."
    T107 = "{name} is {value}; it must be at least 0 and below 1."
    T108 = "{name} is {value}; it must not be below zero."
    T109 = (
        "The names are in {found} languages; pairs can be made of {most} at most. "
        "Choose some with --languages."
    )
    T111 = "{path} has no validation queries. Raise --valid-concepts."
    T112 = "{path}:{line} has another number of fields than it needs: '{text}'. Mend the line."
    T113 = "--mentions needs --dictionary: the names that mentions are paired with."
    T120 = "{path} cannot be read: {reason}. Correct the path, or download the file again."
    T121 = (
        "{path}:{line} is not UTF-8 (byte 0x{byte:02x}). Convert the file, such as with "
        "iconv -f WINDOWS-1252 -t UTF-8."
    )
    T122 = "Unknown form of corpus '{form}'. Choose one of: {choices}."
    T123 = (
        "{path} has no file of {form}, only: {files}. Correct the path, or choose the form with "
        "--form: `python -m training corpus --help` lists them."
    )
    T124 = "{path} has files of several forms: {forms}. Choose one with --form."
    T125 = "Unknown language '{language}'. Choose one of: {choices}, or its ISO 639-1 code."
    T126 = (
        "There is no document of '{name}' for {path}. spaCy's data needs a corpus with texts; "
        "with few documents change --dev-share."
    )
    T127 = "{path}:{line} is no {what}: {reason}. Mend or remove it."
    T129 = "{path} cannot be read as {what}: {reason}. Write or download it again."
    T130 = "'{corpus}' has none of the documents in {path}. Give the list of this corpus."
    T140 = "The protocol '{protocol}' needs training queries. Give them with --train."
    T141 = "Unknown way to count several golds: '{value}'. Choose one of: {choices}."
    T142 = "The pipeline {path} has no bergamot_linker, only: {pipes}. Add one, or name another."
    T143 = "Unknown way to treat golds out of the dictionary: '{value}'. Choose one of: {choices}."
    T144 = (
        "There are {predicted} predicted documents and {gold} gold ones. Give the same documents."
    )
    T145 = "{path} is no spaCy DocBin: {reason}. Write it with DocBin.to_disk."
    T146 = (
        "Document {number} (from 0) is not the same on both sides: '{found}' and '{expected}'. "
        "Give the same documents in the same order."
    )
    T147 = "{path} is no history of a training run: {reason}. The trainer writes history.json."
    T150 = "Fewer than two of the groups {groups} have names in {path}. Choose others with --group."
    T151 = "{path} has no column {missing}. It needs a header with Mean, Term1 and Term2."
    T152 = "{path} has only {count} rows with two terms and a mean; three are needed."
    T153 = "Unknown format '{value}'. Choose one of: {choices}."
    T154 = "{path} holds no {form} records: {reason}. Correct the path or the format."
    T155 = (
        "The training records have the labels {labels}; test labels that they lack: {unknown}. "
        "Two labels are needed, and every one of the test records."
    )
    T156 = "{path} cannot be read as a config: {reason}. Correct the path or the line."
    T157 = (
        "{path} has other settings than `preprocess` has options (missing: {missing}; unknown: "
        "{unknown}). Begin with a copy of configs/preprocess.cfg."
    )
    T170 = "Unknown variant '{value}'. Choose one of: {choices}."
    T171 = "{path} is of a run with another config. Give another output folder, or remove this one."
    T173 = "'{name}' is a variant's name already. Give the training set {path} another."
    T172 = "A training run ended with status {status}; {path} says:\n{end}"
    T201 = "--gpu-id {gpu_id} was asked for, but torch sees {count} GPU(s). Use -1 for the CPU."
    T202 = (
        "GATv2 with {layers} convolutions on one hop needs self_loops = true: without them the "
        "neighbours receive no message and every centre gets the same embedding."
    )
    T203 = (
        "A width of {dim} cannot be divided into {heads} equal heads or blocks. "
        "Choose a divisor of {dim}."
    )
    T204 = (
        "batches.size is {size}, but the training set has only {pairs} pairs. Make the batch "
        "smaller, or raise the caps of preprocessing."
    )
    T206 = (
        "Cannot load the base language model '{name}': {reason}. Give the path of a Hugging Face "
        "folder, or the name of a model on a hub that this machine reaches."
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
    T210 = "Cannot read the config {path}: {reason}"
    T211 = (
        "The config {path} has wrong sections or keys. Missing: {missing}. Unknown: {unknown}. "
        "Compare it with configs/train/bergamot_gat.cfg."
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
    T230 = "Unknown vocabulary '{value}'. Choose one of: {choices}."
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
    T235 = "{path} has no .txt file. Give a text file, or a folder that has some."
    T236 = (
        "{name} has a weight of {found:.3g}, and {dtype} holds {largest:.3g} at most. "
        "Choose bf16 or fp32."
    )
    T237 = "No piece of the vocabulary is in the script '{value}'. Choose one of: {choices}."
    T250 = (
        "Word embeddings of the kind {kind} cannot be trained row by row. Set "
        "training.word_embeddings to trained or frozen."
    )
    T255 = "There is nothing to make pairs of. Give --pairs, --bitext or --mentions."
    T240 = "{path} has no line with two different names, so no pair. Correct or leave out the file."
    T270 = (
        "{name}: the server's answer has a {what} that makes no sense. Try again later, and look "
        "whether a proxy changes answers."
    )
    T280 = (
        "{path}, or an option beside it, sets {name}, which is no setting of a benchmark. Choose "
        "among: {choices}."
    )
    T281 = (
        "{path} is there, and no benchmark made it. Give another folder with --paths.output, or "
        "remove it."
    )
    T282 = (
        "The corpus of {sets} is not at {path}. It is to be had from {home}; give its folder with "
        "--paths.corpus. It is read in the form: {form} (docs/corpora.md)."
    )
    T283 = "{path} has no mention of {globs}. Correct sets, parts and labels of the corpus."
    T284 = "`python -m {command}` ended with status {status}:\n{end}"
    T285 = "{value} is no translator: {reason}. Give hf:FOLDER or module:function."
    T286 = (
        "The model in {path} knows no language '{value}'; it knows: {known}. Give another, or "
        "another model."
    )
    T287 = (
        "The translator was given {asked} texts and gave {found}. It must take a list of texts "
        "and return one of as many."
    )
    T288 = "{what} is '{value}'. Choose one of: {choices}."
    T289 = (
        "No definition in {path} has a name of a related concept. Give a pipeline whose knowledge "
        "base has definitions and relations."
    )
    T291 = "The pipeline has no bergamot_mentions, only: {pipes}. Add one: it finds the names."
    T292 = "{path} does not say {name}. Begin with one of configs/benchmark, or set --{name}."
    T295 = (
        "No gold mention of {path} has one of the labels {labels}; it has: {found}. Give others "
        "with --gold-labels."
    )
    T296 = "{path} has no documents with texts to find mentions in. Give another corpus."
    T290 = "--held-out hides mentions from pipelines, and there is none. Give --pipeline too."
    T302 = "{path}:{line} is not a CUI||name line: '{text}'. Mend or remove the line."
    T303 = "{path} has neither .concept nor .txt files. Give a folder of gold annotations."
    T305 = "Unknown protocol '{protocol}'. Choose one of: {choices}."
    T306 = (
        "No mention of {path} is left under the protocol '{protocol}' with a gold concept in the "
        "dictionary. Check that both use the same concept ids."
    )
    T307 = "{path} holds no wheel. Run: spacy project run package"
    T271 = (
        "With a margin of {margin} the learned mix is in doubt of too few of {count} mentions. "
        "Give a larger corpus, raise --margin, or use the mix alone: python -m training rerank"
    )
    T272 = (
        "A cross-encoder cannot read {value} tokens at once: from 16 to {longest} are possible "
        "with this language model. Change --size."
    )
    T310 = (
        "No {label} mention is marked in {paths}, so there is nothing to train on. Give texts of "
        "the knowledge base's languages, with --language where it is known, or another --label."
    )
    T311 = (
        "The pipeline has no bergamot_linker, only {names}. Give one that has names and linker, "
        "such as models/pipeline of `spacy project run all`."
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
    T320 = "{path} is no SSSOM table: the columns {missing} are missing."
    T321 = (
        "{path} has no pair of concepts of both sides. Lines left out: {skipped}; {first}. Give "
        "the ids that the sides have, or their codes."
    )
    T370 = (
        "{path} is no file of candidates. Remove it, or give another with --candidates; it is made "
        "anew."
    )
    T371 = (
        "No mention of {name} has a place in a text and a concept, so there is no context to learn "
        "from. Give a corpus with documents and offsets."
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
    T403 = (
        "{path} has {free} MiB free, and the file needs {needed} MiB. Free some space; "
        "what came is kept."
    )
    T404 = "{name} arrived broken: its checksums do not fit. Run the same command again."
    T405 = (
        "Set the environment variable {key} to your UMLS key (from your profile at "
        "uts.nlm.nih.gov); it is not read from anywhere else."
    )
    T406 = "'{value}' is no release. They are called 2025AA, 2025AB and so on."
    T407 = "Unknown language '{value}'. Choose of: {choices}."
    T501 = (
        "{path} is no folder of a spaCy pipeline: {missing} is missing. Give the folder that "
        "`python -m spacy assemble` wrote."
    )
    T502 = (
        "{path} is not the {what} of the pipeline {pipeline}. Give the one that it was made from."
    )
    T503 = (
        "{path} has no figures of an evaluation: {reason}. Give the JSON that "
        "`python -m training evaluate` writes."
    )
    T504 = (
        "meta.json of {path} would not be valid: {reason}. Correct --name, --version or the file."
    )
