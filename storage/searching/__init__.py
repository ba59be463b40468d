"""Words found: what a search asks, and the index of trigrams that proposes where to look."""
