"""Email for AI agents on one VM."""

__version__ = "0.1.0"
