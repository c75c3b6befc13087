"""A figure that a notebook shows, and that can be kept in a file."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from html import escape, unescape
from os import PathLike

from audit_lib.figures import standalone
from audit_lib.report.html import readable

_SAID = re.compile(r"<title>(.*?)</title><desc>(.*?)</desc>", re.S)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnFigure:
    """A figure of `audit_lib.figures`, for a wide page and for a phone.

    Parameters
    ----------
    svg, narrow : str
        The ``<svg>``: 760 and 360 pixels wide.

    Examples
    --------
    >>> from audit_lib.figures import Dot, forest
    >>> rows = [Dot(label="f against m", value=0.2, low=0.1, high=0.3, printed="+0.200")]
    >>> wide, narrow = (forest({"": rows}, title="Gaps", width=width) for width in (760, 360))
    >>> DrawnFigure(svg=wide, narrow=narrow)
    Figure: Gaps. : f against m +0.200
    """

    svg: str
    narrow: str

    @property
    def described(self) -> str:
        """Title and description, for those who do not see it."""
        found = _SAID.search(self.svg)
        return "" if found is None else unescape(". ".join(found.groups()))

    def save(self, path: str | PathLike[str]) -> None:
        """Write an SVG file that looks well by itself, light and dark."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(readable(standalone(self.svg)))

    def __repr__(self) -> str:
        return f"Figure: {self.described}"

    def _repr_html_(self) -> str:
        alt = escape(readable(self.described))
        return (
            f'<picture><source media="(max-width: 600px)" srcset="{_data(self.narrow)}">'
            f'<img src="{_data(self.svg)}" alt="{alt}" style="max-width:100%;height:auto"></picture>'
        )


def _data(svg: str) -> str:
    # A picture of its own: no rule of the notebook's page reaches into it, and none of its own out of it.
    return "data:image/svg+xml;base64," + b64encode(readable(standalone(svg)).encode()).decode()
