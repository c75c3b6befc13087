"""The sources that are shipped: one file each."""
