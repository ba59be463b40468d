"""What the operator does from the command line: to the store itself, also beside a running daemon."""
