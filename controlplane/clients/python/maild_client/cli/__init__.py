"""The command `maildc`."""
