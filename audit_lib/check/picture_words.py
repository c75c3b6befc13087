"""Words in pictures and scans, by optical character recognition (RapidOCR, whose models are in its package).

Nothing is fetched and nothing is sent: the models are named by their paths, a package without them is refused, and
onnxruntime, which runs them, is told not to report its use to its maker.
"""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, Final

from audit_lib.errors import CorruptFileError, InputError

NO_READER: Final = "reading pictures needs rapidocr and onnxruntime; pip install 'audit-lib[ocr]'"
UNSURE: Final = "{} is a picture, whose letters and digits were recognised and may be others; look at it"
MOST_PIXELS: Final = 40_000_000
MOST_PICTURES: Final = 40
_FORMATS: Final = ("PNG", "JPEG", "TIFF", "GIF", "WEBP", "BMP")
_SIGNATURES: Final = (b"\x89PNG", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*", b"GIF8", b"BM")
_LONG: Final = 6.0  # a text this many times as wide as high shows how the sheet lay
_ALIKE: Final = 0.35  # of the usual height: as much do boxes of one size of letters differ
_PARTS: Final = re.compile(r"(?<!\S)[\d.,]+%?(?!\S)|\S(?:(?! [\d.,]+%?(?!\S)).)*")
"""A number by itself, or what is none."""

PictureWord = Mapping[str, Any]
"""As pdfplumber gives words: text, x0, x1, top, bottom, size."""


def can_read() -> bool:
    """Whether pictures can be read here."""
    return find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


def is_picture(content: bytes) -> bool:
    """Whether bytes are those of a picture."""
    return content.startswith(_SIGNATURES) or (content[:4] == b"RIFF" and content[8:12] == b"WEBP")


def pictures_of(content: bytes, name: str) -> Iterator[Any]:
    """Yield the pictures of a file (a TIFF holds several), as grey Pillow images.

    Raises
    ------
    CorruptFileError
        If it is no picture that can be opened.
    InputError
        If it has more pixels, or more pictures, than a page of a summary can have.
    """
    try:
        from PIL import Image, ImageSequence, UnidentifiedImageError
    except ImportError:
        raise InputError(f"{name}: a picture, and {NO_READER}") from None
    try:
        with Image.open(io.BytesIO(content), formats=_FORMATS) as file:
            for number, frame in enumerate(ImageSequence.Iterator(file), 1):
                if frame.width * frame.height > MOST_PIXELS or number > MOST_PICTURES:
                    raise InputError(
                        f"{name}: more than {MOST_PIXELS // 10**6} million pixels or {MOST_PICTURES} pictures; "
                        "save the page at 200 dots per inch"
                    )
                yield frame.convert("RGB")
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise CorruptFileError(f"{name}: a picture that does not open ({error})") from None


def words_of(picture: Any, scale: float = 1.0) -> list[PictureWord]:
    """Recognise the words of a Pillow image; places are in pixels over `scale`.

    A sheet that lay askew is put upright. All letters of nearly one height have one size.
    """
    import numpy as np

    found = _engine()(np.asarray(picture.convert("RGB"))[:, :, ::-1], use_cls=False)
    if found.boxes is None or found.txts is None:
        return []
    boxes = [
        (np.asarray(box, dtype=float) / scale, str(text))
        for box, text in zip(found.boxes, found.txts, strict=True)
    ]
    slope = _slope([box for box, _ in boxes])
    usual = median(math.dist(box[0], box[3]) for box, _ in boxes)
    words: list[PictureWord] = []
    for box, text in boxes:
        height = math.dist(box[0], box[3])
        size = usual if abs(height - usual) < _ALIKE * usual else height
        x0, x1 = float(min(box[:, 0])), float(max(box[:, 0]))
        middle = float(box[:, 1].mean() - slope * (x0 + x1) / 2)
        words += _split(text, x0, x1, middle, size)
    return words


def _split(text: str, x0: float, x1: float, middle: float, size: float) -> Iterator[PictureWord]:
    """Yield the numbers of a recognised text, and what stands between them; each as wide as its share of letters."""
    step = (x1 - x0) / max(len(text), 1)
    for part in _PARTS.finditer(text):
        left, right = x0 + part.start() * step, x0 + part.end() * step
        place = {"x0": left, "x1": right, "top": middle - size / 2, "bottom": middle + size / 2}
        yield {"text": part[0], "size": size, **place}


def _slope(boxes: Sequence[Any]) -> float:
    long = [box for box in boxes if abs(box[1][0] - box[0][0]) > _LONG * abs(box[3][1] - box[0][1])]
    return median((box[1][1] - box[0][1]) / (box[1][0] - box[0][0]) for box in long) if long else 0.0


@cache
def _engine() -> Any:
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # read when onnxruntime is loaded
    import rapidocr

    models = Path(rapidocr.__file__).parent / "models"
    paths = {part: sorted(models.glob(f"*_{part.lower()}_*.onnx")) for part in ("Det", "Rec")}
    if not all(paths.values()):
        raise InputError(f"the models of RapidOCR are not in its package ({models}); install rapidocr again")
    settings: dict[str, Any] = {f"{part}.model_path": str(found[0]) for part, found in paths.items()}
    # One thread: on a busy machine several wait for each other, and one gives the same words everywhere.
    settings |= {"Global.log_level": "error", "EngineConfig.onnxruntime.intra_op_num_threads": 1}
    return rapidocr.RapidOCR(params=settings)
