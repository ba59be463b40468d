"""Customers' domains, the keys that sign for them, and what other hosts report about them."""
