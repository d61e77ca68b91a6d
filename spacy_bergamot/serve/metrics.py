"""What Prometheus reads at /metrics. Nothing of it is of a text."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector
from prometheus_client.exposition import generate_latest

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """Counts of one service, in a registry of its own.

    requests (by route and status), seconds (by route), documents, mentions, nil: What was asked.
    errors: Documents that could not be linked, by the error's type. waiting: Requests that wait
    for the pipeline or use it. pipeline: What is served, with the hashes of model and index.
    """

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self.requests = Counter(
            "bergamot_requests", "Requests", ["route", "status"], registry=registry
        )
        self.seconds = Histogram(
            "bergamot_request_seconds", "Seconds of a request", ["route"],
            buckets=_SECONDS, registry=registry,
        )  # fmt: skip
        self.documents = Counter("bergamot_documents", "Documents linked", registry=registry)
        self.mentions = Counter("bergamot_mentions", "Mentions of them", registry=registry)
        self.nil = Counter("bergamot_nil", "Mentions without a concept", registry=registry)
        self.errors = Counter(
            "bergamot_errors", "Documents that failed", ["kind"], registry=registry
        )
        self.waiting = Gauge("bergamot_waiting", "Requests admitted", registry=registry)
        self.pipeline = Info("bergamot_pipeline", "What is served", registry=registry)

    def text(self) -> bytes:
        """Return them in Prometheus's text format."""
        return generate_latest(self.registry)
