"""What language a text is in, as far as its letters and its commonest words tell.

Some metrics read one kind of text only: words need spaces between them, and a lexicon has its language. What they
cannot read is told by name and not measured.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from typing import Final

from audit_lib.errors import InputError
from audit_lib.segmentation import MOST_OTHER, letters, unspaced_script
from audit_lib.words import tokenise

_COMMON: Final[dict[str, frozenset[str]]] = {
    language: frozenset(words.split())
    for language, words in {
        "English": "the a an of and to in is are was were be been has have had this that it its he she they we you i "
        "his her their our your my with for on at by from as not but or if who which would will can could should do "
        "does did no so very than there what when about more all any one some me him them us out up also just only",
        "German": "der die das und ist sind war waren nicht ein eine einen einem einer mit für von auf zu dem den des "
        "sich auch es sie er wir ich ihr als bei aus nach wie im am hat haben sehr oder aber wird werden kann so sein "
        "seine ihre diese dieser zum zur gut",
        "French": "le la les et est sont était un une des du de en dans pour avec sur par pas ne que qui il elle nous "
        "vous je ce cette ces son sa ses leur mais ou plus très au aux a été être se bien une comme",
        "Spanish": "el la los las y es son era un una de del en con por para no que se su sus lo al como más muy pero "
        "o ella ellos yo este esta está fue ser tiene ha bien también sin",
        "Portuguese": "o a os as e é são era um uma de do da dos das em no na nos nas com por para não que se seu sua "
        "ao mais muito mas ou ele ela eu este esta está foi ser tem bem também sem",
        "Italian": "il lo la gli le e è sono era un una uno di del della dei delle in con per non che si suo sua al "
        "alla come più molto ma o lui lei io questo questa è stato essere ha bene anche senza nel nella",
        "Dutch": "de het een en is zijn was waren niet van op te in met voor aan dat die er hij zij ze we ik als bij "
        "uit naar ook maar of wordt kan zeer haar hun deze dit goed heeft",
        "Swedish": "och är var inte en ett av på till med för att som den det de han hon vi jag om men eller mycket "
        "har kan från vid så sin sina denna detta",
        "Danish or Norwegian": "og er var ikke en et av af på til med for at som den det de han hun vi jeg om men "
        "eller meget har kan fra ved så sin sine denne dette",
        "Finnish": "ja on oli ei se hän että joka mutta tai kun niin myös hyvin ovat olen olla ollut kuin",
        "Polish": "i jest są był była nie się z na do w że to o jak ale dla od po przez jego jej oraz bardzo który "
        "która ma",
        "Czech or Slovak": "a je jsou byl byla se na do v že to s z jak ale pro od po jeho její velmi který která má "
        "sa nie som sú aj",
        "Hungarian": "a az és nem egy van volt hogy is de ez azt nagyon vagy csak mint aki ő",
        "Romanian": "și este sunt era un o de la în cu pentru nu că se care mai foarte dar sau din pe lui ei are",
        "Turkish": "ve bir bu için ile çok da de ne değil olan var gibi o daha ama ya olarak",
        "Indonesian or Malay": "dan yang di dari untuk dengan tidak ini itu adalah pada ke dalam akan juga sangat dia "
        "mereka kami saya atau",
        "Vietnamese": "và là của có không một được cho trong với người này rất đã các những",
        "Tagalog": "ang ng mga sa na ay at si ni siya niya para hindi kanyang ito po",
        "Swahili": "na ya wa ni kwa katika za la hii huyu yake sana lakini au si kama",
    }.items()
}

_OWN: Final = {
    language: words - _COMMON["English"] for language, words in _COMMON.items() if language != "English"
}


def not_english(text: str, known: Container[str] = ()) -> str:
    """Return the language or script of a text that is not English, or nothing.

    Letters tell first: more than a tenth of another script than Latin. Then the commonest words of each language:
    more of another one's than of English. A text of four words or more without a single common English word is
    "no English" too, unless one of its words is `known` to be English. Shorter ones pass: nothing tells.

    Examples
    --------
    >>> not_english("Sie ist eine sehr gute Kandidatin"), not_english("отличный кандидат")
    ('German', 'Cyrillic script')
    >>> not_english("She is a very good candidate."), not_english("Excellent.")
    ('', '')
    """
    if script := unspaced_script(text):
        return script
    counted = letters(text)
    other = {script: n for script, n in counted.items() if script != "LATIN"}
    if sum(other.values()) > MOST_OTHER * counted.total():
        most = max(sorted(other), key=lambda script: other[script])
        return f"{most.capitalize()} script"
    words = [word for word in tokenise(text) if not word.isdigit()]
    english = sum(word in _COMMON["English"] for word in words)
    hits = {language: sum(word in own for word in words) for language, own in _OWN.items()}
    most = max(sorted(hits), key=lambda language: hits[language])
    if hits[most] > english and (hits[most] > 1 or len(words) < 4):
        return most
    spelled = {word for word in words if re.fullmatch(r"[a-z]+", word) and len(word) > 1}
    return "no English" if len(spelled) > 3 and not english and not any(w in known for w in spelled) else ""


_BY_SCRIPT: Final = {
    "Arabic": "Arabic script", "Bengali": "Bengali script", "Bulgarian": "Cyrillic script",
    "Chinese": "Chinese characters", "Greek": "Greek script", "Hebrew": "Hebrew script",
    "Hindi": "Devanagari script", "Japanese": "Japanese", "Khmer": "Khmer", "Korean": "Hangul script",
    "Lao": "Lao", "Marathi": "Devanagari script", "Burmese": "Burmese", "Persian": "Arabic script",
    "Russian": "Cyrillic script", "Serbian": "Cyrillic script", "Tamil": "Tamil script",
    "Telugu": "Telugu script", "Thai": "Thai", "Ukrainian": "Cyrillic script", "Urdu": "Arabic script",
}  # fmt: skip
"""Language -> what `language_of` calls a text in it: of these, the script tells and nothing more."""

_BY_WORDS: Final = {name: language for language in _COMMON for name in language.split(" or ")}

ANY: Final = "any"


def language_of(text: str) -> str:
    """Return the language or script of a text; nothing where neither its letters nor its commonest words tell.

    Examples
    --------
    >>> language_of("She is a very good candidate."), language_of("Excellent."), language_of("отличный кандидат")
    ('English', '', 'Cyrillic script')
    """
    found = not_english(text)
    if found == "no English":
        return ""
    return found or ("English" if any(word in _COMMON["English"] for word in tokenise(text)) else "")


def language_names() -> list[str]:
    """Return the languages that `Reads` knows by name.

    Examples
    --------
    >>> "Spanish" in language_names(), "Russian" in language_names()
    (True, True)
    """
    return sorted({*_BY_WORDS, *_BY_SCRIPT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reads:
    """Which texts a scorer was made for.

    Parameters
    ----------
    names : tuple of str
        Languages by their English names (`language_names`), or ``any``.
    spaced : bool
        Whether it reads scripts with spaces between words only.

    Raises
    ------
    InputError
        If a name is unknown, or there is none.

    Examples
    --------
    >>> Reads(names=("English",)).unread("Sie ist eine sehr gute Kandidatin")
    'German'
    >>> Reads(names=("English", "German")).unread("Sie ist eine sehr gute Kandidatin")
    ''
    >>> print(Reads(names=("English", "German")))
    English, German
    """

    names: tuple[str, ...] = (ANY,)
    spaced: bool = False

    def __post_init__(self) -> None:
        """Refuse names that nothing here can tell."""
        unknown = [name for name in self.names if name not in (ANY, *language_names())]
        if unknown or not self.names:
            what = f"{unknown[0]!r} is not known" if unknown else "no language is named"
            raise InputError(f"languages: {what}; name some of {', '.join(language_names())}, or any")

    def unread(self, text: str) -> str:
        """Return the language or script of a text that it was not made for; nothing where it was, or nothing tells."""
        if self.spaced and (script := unspaced_script(text)):
            return script
        if ANY in self.names:
            return ""
        found = language_of(text)
        return (
            "" if found in {_BY_WORDS.get(name, _BY_SCRIPT.get(name, "")) for name in self.names} else found
        )

    def __str__(self) -> str:
        """Return the languages as a list of names."""
        if ANY in self.names:
            return "scripts with spaces between words" if self.spaced else "any language"
        return ", ".join(self.names)


ENGLISH: Final = Reads(names=("English",))
SPACED: Final = Reads(spaced=True)
