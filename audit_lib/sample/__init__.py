"""Which prompts are audited: sources, window, demographics, and a seeded stratified draw."""

from audit_lib.sample.sources import SOURCES
from audit_lib.sample.stage import sample

__all__ = ["SOURCES", "sample"]
