"""Messages and threads as the JSON of the contract: SQLite renders it, and what it rendered lately is kept."""
