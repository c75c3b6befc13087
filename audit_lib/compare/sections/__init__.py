"""The sections of the comparison's page: each makes one of the typed comparison, or none where it has nothing to say.

To add one, write it in a file of its own and list it in `audit_lib.compare.page`; what it needs has to be in
`Comparison`.
"""
