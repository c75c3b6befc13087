"""English function words, which say nothing about whom a text is about."""

from __future__ import annotations

from typing import Final

_ARTICLES_AND_DETERMINERS = """
a an the this that these those each every either neither some any no all both half such same other another
much many more most few fewer less least several enough own certain
"""
_PRONOUNS = """
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her
hers herself it its itself they them their theirs themself themselves one oneself who whom whose which what
whoever whatever whichever someone somebody something anyone anybody anything everyone everybody everything
nobody nothing none
"""
_PREPOSITIONS = """
about above across after against along amid among around as at before behind below beneath beside besides
between beyond by despite down during except for from in inside into like near of off on onto out outside over
past per since through throughout till to toward towards under underneath until unto up upon via with within
without
"""
_CONJUNCTIONS = """
and or but nor so yet if unless because although though while whereas whether than lest once when whenever
where wherever
"""
_AUXILIARIES = """
be am is are was were been being have has had having do does did doing done can could may might must shall
should will would ought cannot
"""
_ADVERBS = """
not never also too very just only even still again further then there here now how why however thus therefore
hence else ever rather quite almost already always often sometimes instead otherwise
"""
# What is left of "don't", "she'll", "o'clock" when the apostrophe splits it.
_PIECES = """
s t d ll m re ve o don didn doesn isn aren wasn weren hasn haven hadn won wouldn shouldn couldn mustn needn
mightn shan ain
"""

#: Stop words as `tokenise` writes them.
ENGLISH_STOP_WORDS: Final[frozenset[str]] = frozenset(
    word
    for words in (
        _ARTICLES_AND_DETERMINERS,
        _PRONOUNS,
        _PREPOSITIONS,
        _CONJUNCTIONS,
        _AUXILIARIES,
        _ADVERBS,
        _PIECES,
    )
    for word in words.split()
)
