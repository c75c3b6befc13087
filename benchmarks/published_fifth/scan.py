"""Turn PDF pages into scans."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import numpy
from PIL import Image


def pages(pdf: Path, folder: Path) -> list[Image.Image]:
    """The pages of a PDF at 200 dpi."""
    subprocess.run(["pdftoppm", "-r", "200", "-png", str(pdf), str(folder / "page")], check=True)
    return [Image.open(one).convert("RGB") for one in sorted(folder.glob("page*.png"))]


def worn(image: Image.Image, seed: str) -> Image.Image:
    """A page slightly turned, grey and noisy, as a scanner gives it."""
    rng = Random(seed)
    angle = rng.uniform(-0.5, 0.5)
    grey = image.convert("L").rotate(angle, resample=Image.Resampling.BICUBIC, fillcolor=255)
    noise = numpy.random.default_rng(rng.randrange(2**32))
    data = numpy.asarray(grey, dtype=numpy.float64)
    data = data * rng.uniform(0.9, 0.97) + rng.uniform(3, 10) + noise.normal(0, rng.uniform(3, 8), data.shape)
    return Image.fromarray(numpy.clip(data, 0, 255).astype(numpy.uint8))


def scan_png(pdf: Path, folder: Path, target: Path) -> int:
    """The first page as a PNG; return the number of pages."""
    found = pages(pdf, folder)
    found[0].save(target)
    return len(found)


def scan_pdf(pdf: Path, folder: Path, target: Path, seed: str) -> None:
    """All pages as an image-only PDF."""
    found = [worn(image, f"{seed}|{number}") for number, image in enumerate(pages(pdf, folder))]
    quality = Random(seed).randint(55, 80)
    found[0].save(target, "PDF", resolution=200, save_all=True, append_images=found[1:], quality=quality)
