"""Published summaries by a fourth author: 14 layouts, each written straight for its producers."""
