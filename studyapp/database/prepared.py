"""Statements that every page sends, written out once for each kind of database and handed to its driver as they are.

SQLAlchemy's way from a statement to its rows is made for any statement; for one that is the same each time it takes
longer than the database does. What goes in, what comes out and what is raised is as with `Connection.execute`.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

Values = Mapping[str, Any]


class _Written:
    """A statement in the words of one database: its text, and what is done to values before and to rows after."""

    def __init__(self, statement: Any, dialect: sa.Dialect, names: Sequence[str]) -> None:
        compiled = statement.compile(dialect=dialect, column_keys=list(names))
        self.text = str(compiled)
        self.names: Sequence[str] | None = compiled.positiontup
        fixed = {name: each for name, each in compiled.binds.items() if not each.required and name not in names}
        self.fixed = {name: each.effective_value for name, each in fixed.items()}
        encoded = {
            name: each.type.dialect_impl(dialect).bind_processor(dialect) for name, each in compiled.binds.items()
        }
        self.encoded = {name: encode for name, encode in encoded.items() if encode is not None}
        columns = list(getattr(statement, "exported_columns", ()))
        self._types = [column.type.dialect_impl(dialect) for column in columns]
        self._dialect = dialect
        self._decoded: list[tuple[int, Callable[[Any], Any]]] | None = None
        names_of_columns = " ".join(str(column.key) for column in columns)
        self._row: Callable[..., Any] = getattr(namedtuple("Row", names_of_columns), "_make")  # noqa: B009

    def values(self, values: Values) -> Any:
        """The statement's values as the driver takes them."""
        given = {**self.fixed, **values}
        for name, encode in self.encoded.items():
            given[name] = encode(given[name])
        return given if self.names is None else [given[name] for name in self.names]

    def rows(self, cursor: Any) -> list[Any]:
        """The driver's rows, with what their columns hold in Python, by their names."""
        if self._decoded is None:  # the driver says of what type its columns are once it has some
            pairs = zip(self._types, cursor.description, strict=True)
            read = [kind.result_processor(self._dialect, column[1]) for kind, column in pairs]
            self._decoded = [(number, decode) for number, decode in enumerate(read) if decode is not None]
        return [self._decode(found) for found in cursor.fetchall()]

    def _decode(self, found: Sequence[Any]) -> Any:
        if not self._decoded:
            return self._row(found)
        row = list(found)
        for number, decode in self._decoded:
            row[number] = decode(row[number])
        return self._row(row)


class Prepared:
    """A statement, built once.

    Parameters
    ----------
    statement : SQLAlchemy's, whose parameters are named; of an INSERT or UPDATE the columns are those that are given
    """

    def __init__(self, statement: sa.Executable) -> None:
        self.statement = statement
        self._written: dict[str, _Written] = {}

    def rows(self, connection: sa.Connection, values: Values) -> list[Any]:
        """The rows found, each a tuple with names."""
        written = self._in_words_of(connection, values)
        found = _send(connection, written.text, lambda driver: driver.execute(written.text, written.values(values)))
        return written.rows(found)

    def row(self, connection: sa.Connection, values: Values) -> Any:
        """The first row, or None."""
        found = self.rows(connection, values)
        return found[0] if found else None

    def run(self, connection: sa.Connection, values: Values) -> int:
        """Change what the statement says; how many rows it was."""
        written = self._in_words_of(connection, values)
        done = _send(connection, written.text, lambda driver: driver.execute(written.text, written.values(values)))
        return int(done.rowcount)

    def run_each(self, connection: sa.Connection, values: Sequence[Values]) -> None:
        """The same for each of several, which have the same names."""
        written = self._in_words_of(connection, values[0])
        each = [written.values(one) for one in values]
        _send(connection, written.text, lambda driver: driver.cursor().executemany(written.text, each))

    def _in_words_of(self, connection: sa.Connection, values: Values) -> _Written:
        dialect = connection.dialect
        written = self._written.get(dialect.name)
        if written is None:
            written = self._written[dialect.name] = _Written(self.statement, dialect, list(values))
        return written


def send(connection: sa.Connection, text: str) -> None:
    """Send a statement without values: BEGIN, COMMIT."""
    _send(connection, text, lambda driver: driver.execute(text))


def _send(connection: sa.Connection, text: str, how: Callable[[Any], Any]) -> Any:
    try:
        return how(connection.connection.dbapi_connection)
    except connection.dialect.loaded_dbapi.Error as error:
        # As SQLAlchemy does for its own: the error in its words, and a connection that is lost is dropped with the
        # others of its pool. For this last there is no public way that leaves alone those that are in use.
        connection._handle_dbapi_exception(error, text, None, None, None)
