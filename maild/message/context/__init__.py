"""Mail as text for a language model: within a budget, behind fences."""
