"""Policy packs."""
