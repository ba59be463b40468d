"""What receivers demand of TLS (DANE, MTA-STS): found, fetched, kept, joined."""
