"""The papers' designs as studies: each is a spec of `include/studies` and one file in `studies/papers`.

``make studies`` runs every spec through the commands that anybody uses (`audit run`, `audit compare`, `audit validity`)
and writes a page a study into `docs/studies`. The runs are kept, so that a second call asks no model again.
"""
