"""Training curves of the documentation: the evaluation report's charts, on their own ground."""

from pathlib import Path

from training.evaluate.report.charts import line_chart
from training.evaluate.report.curves import read_history
from training.evaluate.report.svg import DARK

HISTORY = Path(__file__).parent / "history.json"
"""Logged by a run on the sample; docs/training.md has its commands."""
STYLE = f"""
  svg {{ color: #1f2328 }} .ground {{ fill: #fbfcfd }}
  @media (prefers-color-scheme: dark) {{
    svg {{ color: #e6edf3; {" ".join(f"--series-{n}: {c};" for n, c in enumerate(DARK))} }}
    .ground {{ fill: #15191e }}
  }}
"""


def loss() -> str:
    """Return the loss of a run over its steps."""
    lines = {"multi-similarity": read_history(HISTORY)["text"]}
    return _on_ground(
        line_chart(
            "Loss of the pairs", lines, x_label="training step", y_label="loss, mean of 10 steps"
        )
    )


def recall() -> str:
    """Return recall on held-out concepts over the steps of the same run."""
    lines = {k: of for k, of in read_history(HISTORY).items() if k.startswith("recall@")}
    return _on_ground(
        line_chart(
            "Names of concepts kept out", lines, x_label="training step", y_label="recall, %"
        )
    )


def _on_ground(drawing: str) -> str:
    """Return a drawing that is read on light and on dark pages, whichever shows it."""
    head, end, rest = drawing.partition(">")
    ground = '<rect class="ground" width="100%" height="100%" rx="8"/>'
    return f"{head}{end}\n<style>{STYLE}</style>\n{ground}{rest}\n"
