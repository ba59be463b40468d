"""Where mail for a domain goes: its mail hosts, or a smarthost, and which hosts are one destination."""
