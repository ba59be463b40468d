"""Mail as work of programs: who takes what, what rules and policies say of it, and what people decide."""
