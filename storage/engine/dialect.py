"""Where SQLite's SQL is a dialect: expressions under names of their own, so that the statements use common SQL.

Each function gives SQL text and is called when a module is loaded; a statement is whole before it is first asked.
Another store gives the same names other texts (docs/architecture.md, "What a second store must supply").

What no expression can hide stands in rooms of its own: connections, transactions and PRAGMAs in `storage.engine.writer`
and `storage.engine.migrate`, what is asked of a damaged file in `storage.upkeep.integrity`, codes of errors in
`storage.engine.failures`, and the search index, an FTS5 table (`storage.searching.index_schema`). `schema.sql` is
SQLite's as well (STRICT, WITHOUT ROWID, a virtual table).
"""

from collections.abc import Mapping

# JSON that is only to be passed on -----------------------------------------------------------------
#
# A page of 50 messages is some 1,500 values. Fetched one by one and encoded again they cost more than finding
# them, and Python's interpreter lock is taken for each row; as one text they cost one step of one statement,
# outside the lock. Each of these but `octets` gives JSON text, never NULL.


def value(expression: str) -> str:
    """Text, a number or NULL."""
    return f"json_quote({expression})"


def stored(column: str) -> str:
    """A column that holds JSON (or NULL) goes out as it stands."""
    return f"coalesce({column}, 'null')"


def flag(column: str) -> str:
    """A column of 0 and 1 as JSON's boolean."""
    return f"iif({column}, 'true', 'false')"


def moment(expression: str) -> str:
    """Milliseconds (or NULL) in the form of `clock.iso`."""
    return f"json_quote(strftime('%Y-%m-%dT%H:%M:%fZ', ({expression}) / 1000.0, 'unixepoch'))"


def octets(json: str) -> str:
    """As UTF-8, for what Python does not read."""
    return f"CAST({json} AS BLOB)"


def object_of(members: Mapping[str, str]) -> str:
    """Name → expression, as a JSON object."""
    form = ",".join(f'"{name}":%s' for name in members)
    return f"printf('{{{form}}}', {', '.join(members.values())})"


def joined(element: str) -> str:
    """An aggregate: the elements of all rows with commas between them, in the order of an inner SELECT's rows."""
    return f"coalesce(group_concat({element}), '')"


def array_of(element: str, source: str) -> str:
    """The elements of all rows of `source` (a FROM clause), in the order of its inner SELECT, which SQLite keeps."""
    return f"(SELECT '[' || {joined(element)} || ']' FROM {source})"


def array(*expressions: str) -> str:
    """Values of one row as a JSON array."""
    return f"json_array({', '.join(expressions)})"


def array_of_one(expression: str) -> str:
    """A JSON array with this element; empty where it is NULL."""
    return f"iif({expression} IS NULL, '[]', json_array({expression}))"


# Order ---------------------------------------------------------------------------------------------


def committed(table: str) -> str:
    """A number that grows with each commit of a row, whatever the clock said when its id was made. The highest is given
    again once its row is deleted."""
    return f"{table}.rowid"


def committed_now(table: str) -> str:
    """In SET of an UPDATE of one row: it was committed now, behind all others."""
    return f"rowid = (SELECT max(rowid) + 1 FROM {table})"


# JSON that is looked into --------------------------------------------------------------------------
#
# Lists come in as one parameter, so that a statement is the same text however long they are.


def elements(json: str) -> str:
    """In FROM: a row for each element, with its place as `key` and itself as `value`."""
    return f"json_each({json})"


def each_of(json: str) -> str:
    """Behind IN: the elements of an array."""
    return f"(SELECT value FROM {elements(json)})"


def each_row_of(json: str, columns: int) -> str:
    """Behind IN: the elements of an array of arrays, as rows of so many columns."""
    return f"(SELECT {', '.join(item('value', at) for at in range(columns))} FROM {elements(json)})"


def item(json: str, at: int) -> str:
    """The element at this place (from 0) of an array."""
    return f"json_extract({json}, '$[{at}]')"


def member(json: str, name: str) -> str:
    """The object's member, NULL where it has none; `name` may lead into others (`a.b`)."""
    return f"json_extract({json}, '$.{name}')"


def has_member(json: str, name: str) -> str:
    """Has the object the member, and is it not null?"""
    return f"{member(json, name)} IS NOT NULL"


def holds(json: str, element: str) -> str:
    """Is it an element of the array?"""
    return f"EXISTS (SELECT 1 FROM {elements(json)} WHERE value = {element})"


def holds_plain(json: str, element: str) -> str:
    """The same of an array of plain words, as `records.dump` writes it: without parsing it."""
    return f"""instr({json}, '"' || {element} || '"') > 0"""


def holds_word(json: str, word: str) -> str:
    """Is this word of ASCII letters an element of the array of texts, as `records.dump` writes it? For the condition of
    a partial index too, in which no subquery may stand. Inside a text a backslash stands before each quotation mark."""
    return f"""(instr({json}, '["{word}"') = 1 OR instr({json}, ',"{word}"') > 0)"""


def count_of(json: str) -> str:
    """How many elements the array has."""
    return f"json_array_length({json})"


def replaced(json: str, members: Mapping[str, str]) -> str:
    """The object with other values (name → expression) for those of these members that it has."""
    changes = ", ".join(f"'$.{name}', {expression}" for name, expression in members.items())
    return f"json_replace({json}, {changes})"


EMPTY_ARRAY = "json('[]')"  # as a member's value, where '[]' would be text


# Values --------------------------------------------------------------------------------------------


def greatest(one: str, other: str) -> str:
    """The greater of two values of a row."""
    return f"max({one}, {other})"


def lesser(one: str, other: str) -> str:
    """The lesser of two values of a row."""
    return f"min({one}, {other})"


def domain_of(address: str) -> str:
    """The domain of `local@domain` in lower case, without a last dot; NULL where there is none in ASCII."""
    local = f"rtrim({address}, replace({address}, '@', ''))"  # up to the last "@"
    domain = f"lower(rtrim(replace({address}, {local}, ''), '.'))"
    # Nearly all addresses are ASCII as a whole, and the domain takes long to find.
    return f"""CASE WHEN NOT instr({address}, '@') THEN NULL
        WHEN {is_ascii(address)} OR {is_ascii(domain)} THEN nullif({domain}, '') END"""


def bytes_of(text: str) -> str:
    """How many octets the text has; `length` counts characters, up to a NUL."""
    return f"length({octets(text)})"


def contains(text: str, pattern: str) -> str:
    """Is what `containing` made the pattern of in the text, whatever the case of ASCII letters? Never true by mistake;
    a text with a NUL is looked at up to there."""
    return f"{text} LIKE {pattern} ESCAPE '\\'"


def containing(part: str) -> str:
    """The pattern of `contains` for this text, in which no NUL is."""
    return ending_in(part) + "%"


def ending_in(part: str) -> str:
    """The pattern of `contains` for a text that ends so; no NUL is in it."""
    return "%" + "".join(f"\\{one}" if one in "%_\\" else one for one in part)


def is_ascii(text: str) -> str:
    """True for text of ASCII characters alone, without a NUL."""
    return f"length({text}) = {bytes_of(text)}"


# Hints: what SQLite's planner is told, so that a plan never depends on statistics ------------------

THEN_JOIN = "CROSS JOIN"  # the rows on the left are found first, whatever the planner thinks


def unindexed(column: str) -> str:
    """The column in a comparison that is not to choose the index."""
    return f"+{column}"


def by_index(name: str) -> str:
    """Behind a table's name: rows are found by this index, or the statement fails."""
    return f"INDEXED BY {name}"


def hops(name: str, column: str, source: str, behind: str = "''") -> str:
    """A common table expression (behind WITH RECURSIVE) of the different texts of a column behind this one, as `id` of
    `name`, in their order, between that one and a NULL. `source`: FROM a table and WHERE. It hops from one to the next
    in an index that begins with the column, however many rows each has: SQLite by itself reads all of them."""
    return f"""{name} (id) AS (
      SELECT {behind}
      UNION ALL
      SELECT (SELECT min({column}) {source} AND {column} > {name}.id) FROM {name}
      WHERE {name}.id IS NOT NULL)"""
