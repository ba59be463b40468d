"""The outbox: events, and the webhooks that hear of them."""
