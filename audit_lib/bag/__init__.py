"""A sealed run as one file to hand on: a BagIt bag (RFC 8493) in a zip or tar, and back into a store."""

from audit_lib.bag.read_bag import BagFinding, OpenBag, check_bag, open_bag, unpack
from audit_lib.bag.write_bag import ExportedBag, export_run

__all__ = ["BagFinding", "ExportedBag", "OpenBag", "check_bag", "export_run", "open_bag", "unpack"]
