"""A processor that has not the instructions that a library was built for."""


class UnfitProcessor(Exception):
    """The library can't be used here; one line for the operator."""
