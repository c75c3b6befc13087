"""How a number was made, or why there is none: archives hold it in English, some of it put together of pieces."""

from __future__ import annotations

import re
from typing import Final

from audit_lib.translation import archived, mark, t, tp

_NONE: Final = "none"
"""What `documents.estimates.interval_method` says where there is no interval."""

COMPOSED: Final = (
    mark("application"),
    mark("round"),
    mark("clustered by {unit}"),
    mark("rows taken as independent"),
    mark("cluster influence function"),
    mark("cluster influence function, logit"),
    mark("cluster influence function, logit, t({df})"),
    mark("Brunner-Munzel, logit"),
    mark("Brunner-Munzel, logit, t({df})"),
    mark("clustered errors ({kind}), t({df})"),
    mark("leaving out each application in turn, also of the SD, t({df})"),
    mark("clustered errors ({kind}) and names (crossed effects), t({df})"),
    mark("clustered errors ({kind}) and names (two-way), t({df})"),
    mark("products of residuals of rows with one name and different applications; names by normal shrinkage"),
    mark("variance of the estimates less that of their errors; values by normal shrinkage"),
    mark("difference of rates, cluster influence function at the common rate"),
    mark("difference of rates, cluster influence function at the common rate, t({df})"),
    mark("ratio to the highest rate, from simultaneous intervals of all pairs"),
    mark("all tables with the same margins"),
    mark("{n} permutations of the people"),
    mark("{n} permutations of the people within clusters, and of clusters"),
    mark("normal errors by clusters"),
    mark("normal errors by clusters, and {permutations}"),
    mark("least squares on main effects, per SD of the score; clustered by {unit}"),
    mark(
        "least squares on main effects and a constant of each application, per SD of the score; clustered by {unit}"
    ),
    mark("normal draws over clusters"),
    mark("resamples of the clusters"),
    mark("{n} normal draws over clusters"),
    mark("{n} resamples of the clusters"),
    mark("natural log ratio of target words' nearness, window {window} each side"),
    mark("mean natural log ratio of target words' nearness, window {window} each side"),
    mark("mean absolute natural log ratio of target words' nearness, window {window} each side"),
    mark("percentile"),
    mark("basic"),
    mark("pooled"),
    mark("hypergeometric"),
    mark("no one in the cell"),
    mark("no one in the group"),
    mark("no one in the reference"),
    mark("one member in the group; at least {minimum} are needed"),
    mark("one member in the reference; at least {minimum} are needed"),
    mark("{n} members in the group; at least {minimum} are needed"),
    mark("{n} members in the reference; at least {minimum} are needed"),
    mark("one class only: {positive} positive, {negative} negative"),
    mark("{positive} positive, {negative} negative; at least {minimum} of each are needed"),
    mark("1 person, not answered"),
    mark("{n} people, none answered"),
    mark("no category has anyone selected"),
    mark("no category has anyone above the median"),
    mark("nobody was assessed"),
)
"""Texts that kernels put together of pieces: no line of theirs holds them whole."""


def method_words(method: str, of_interval: str, *, freedom: bool = True) -> str:
    """Say how a number and its interval were made, from what the archive says of both.

    Parameters
    ----------
    method, of_interval : str
        As archived.
    freedom : bool
        Whether the degrees of freedom of the interval are told.

    Examples
    --------
    >>> method_words("difference of means", "cluster influence function, t(30)", freedom=False)
    'difference of means; interval: cluster influence function, t'
    """
    return t(
        "{method}; interval: {interval}", method=archived(method), interval=_interval(of_interval, freedom)
    )


def _interval(method: str, freedom: bool) -> str:
    if method == _NONE:
        return tp("of an interval", "none")
    if not freedom and (found := re.fullmatch(r"(.*), t[(].*?[)]", method)):
        return f"{archived(found[1])}, t"
    return archived(method)
