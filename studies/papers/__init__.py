"""One file a study: its prose, and what of its runs it prints. A file here is found by its name."""
