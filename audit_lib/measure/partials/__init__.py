"""What shards say by themselves, and how it merges: the same numbers from any cut, in any order."""
