"""The parts of the page, top to bottom: one file each, from content to blocks."""
