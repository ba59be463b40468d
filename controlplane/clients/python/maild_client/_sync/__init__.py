# Derived from maild_client/_async/__init__.py by scripts/clients: change that one.
"""The client in plain functions."""
