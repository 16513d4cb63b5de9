"""Numbers that move: a literal, a schedule, a target or a band."""
