"""The published site: every report at a URL that never changes, an index, trends and feeds.

Made from the store alone and written next to the runs (``site/``), so that any web server, S3 static hosting or a
browser on the files themselves can show it. Publishing again writes the same bytes.
"""

from audit_lib.site.publish import Published, publish

__all__ = ["Published", "publish"]
