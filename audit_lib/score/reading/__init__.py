"""Reading answers: labels, ratings, rankings and what was thought, out of a model's text."""
