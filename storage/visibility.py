"""Which messages there are. One that is held (`held_at`) is in the store and nowhere else: in no list, search, thread,
counter, figure, event or answer, until it is released (`storage/mail/held_mail.py`).

Every statement that reads `messages` says VISIBLE, with its alias in front where it has one (`m.{VISIBLE}`);
`tests/unit/storage/test_visibility.py` finds those that don't, and has the reason of each. Where many messages are
passed over, the condition is that of the index, so who forgets it reads the whole table and is told
(`tests/support/laws/query_plans.py`), and a flood of held mail costs those who may not see it nothing.
"""

VISIBLE = "held_at IS NULL"
HELD = "held_at IS NOT NULL"  # for those who decide on it, and for its deletion
