"""What a policy would have done: history replayed through the same code that a run uses."""
