"""Answers that are known: in memory, and in an SQLite file if one is named.

Neither holds text: keys are SHA-256, values the number of an option and scores.
"""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from spacy_bergamot.linking.errors import BergamotError, Errors
from spacy_bergamot.linking.llm.answer import Answer
from spacy_bergamot.linking.llm.prompt import Question
from spacy_bergamot.linking.recent import Recent

_APPLICATION = 0x62677431  # "bgt1": says that a file is ours
_PATIENCE = 60  # seconds that one process waits for another's write
_TABLE = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT) WITHOUT ROWID"


class KnownAnswers:
    """Remembers answers; any thread may use it at any time, and so may forked processes.

    most (int): Answers in memory, those used last. path (str | None): A file for all of them.
    """

    def __init__(self, most: int, path: str | None) -> None:
        self._recent: Recent[str, Answer] = Recent(most)
        self._process = os.getpid()
        self._file = Path(path) if path is not None else None

    def known(self, questions: Mapping[str, Question]) -> dict[str, Answer]:
        """Return the answers that are known, by their questions' keys.

        RAISES (BergamotError): B185 if the file cannot be used.
        """
        found = self._memory().known(questions)
        missing = [key for key in questions if key not in found]
        if self._file is not None and missing:
            with self._opened(self._file) as database:
                for key in missing:
                    row = database.execute("SELECT answer FROM answers WHERE key = ?", (key,))
                    for (text,) in row:
                        answer = Answer.from_json(str(text), len(questions[key].places))
                        found |= {key: answer} if answer is not None else {}
        self._memory().keep(found)
        return found

    def keep(self, answers: Mapping[str, Answer]) -> None:
        """Remember answers. RAISES (BergamotError): B185 if the file cannot be written."""
        self._memory().keep(answers)
        if self._file is not None and answers:
            rows = [(key, answer.to_json()) for key, answer in answers.items()]
            with self._opened(self._file) as database:
                database.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", rows)

    def _memory(self) -> Recent[str, Answer]:
        if self._process != os.getpid():  # a lock that a thread held at the fork stays locked
            self._recent, self._process = self._recent.copy(), os.getpid()
        return self._recent

    @contextmanager
    def _opened(self, path: Path) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction: connections outlive neither fork nor thread."""
        try:
            # Of its owner alone: whoever has a text can ask whether it was linked.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            with closing(sqlite3.connect(path, timeout=_PATIENCE)) as database, database:
                database.execute("BEGIN IMMEDIATE")
                self._claim(database, path)
                yield database
        except (OSError, sqlite3.Error) as error:
            reason = f"{type(error).__name__}, {error}"
            raise BergamotError(Errors.B185, path=path, reason=reason) from None

    def _claim(self, database: sqlite3.Connection, path: Path) -> None:
        """Make the table in a new file, and refuse a database of another program."""
        (mark,) = database.execute("PRAGMA application_id").fetchone()
        (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if mark != _APPLICATION and tables:
            raise BergamotError(Errors.B185, path=path, reason="it is another program's database")
        if mark != _APPLICATION:
            database.execute(f"PRAGMA application_id = {_APPLICATION}")
            database.execute(_TABLE)
