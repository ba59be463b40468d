"""The version of this distribution, which is the daemon's that it was made for."""

__version__ = "0.1.0"
