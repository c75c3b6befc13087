"""The second reader: what redaction left is read again, by rules that share nothing with those that produced it.

Redaction decides what to remove; this part decides whether anybody has to look. It reads the result alone, takes
every doubt for a finding, and removes nothing. It shares no word list, no pattern and no folding of letters with
``perturb.redaction``.
"""
