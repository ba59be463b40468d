"""How units of work reach SQLite: connections, transactions, one writer, its dialect, failures and migrations."""
