"""The local engine: weights, the scoring process, and label probabilities with shared beginnings."""
