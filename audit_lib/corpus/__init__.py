"""Sweeps of other people's published summaries: seen, kept, checked, and compared with how they were before."""
