"""Inboxes and what lies in them: messages, threads, drafts, raw bytes, and what is known of a conversation."""
