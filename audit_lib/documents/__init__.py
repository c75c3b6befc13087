"""The documents that stages write and others read, one module each: their keys, in one place.

Each is made of `audit_lib.typed_json.Typed` dataclasses. Whoever writes a document makes one, whoever reads it gets
one, and `audit_lib.documents.schema` publishes the JSON Schema that follows from it.
"""
