"""Lists as people save them, and folders as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit_lib.corpus.listed_pages import read_corpus
from audit_lib.errors import InputError

TEXT = (
    "Employer,URL,Vendor,Auditor\nZoë & Söhne,https://example.org/a,Acme,Lake\n\nB,https://example.org/b,,\n"
)


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        TEXT.encode("utf-16"),
        TEXT.encode("cp1252"),
        TEXT.replace(",", ";").encode("utf-8-sig").replace(b"\n", b"\r\n"),
        TEXT.replace(",", "\t").encode(),
        b"\n\n" + TEXT.encode(),
    ],
    ids=["plain", "mark", "utf-16", "windows", "semicolons", "tabs", "blank lines"],
)
def test_a_list_as_it_was_saved(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "list.csv"
    path.write_bytes(content)
    found = read_corpus(str(path))
    assert [(one.employer, one.page, one.vendor, one.auditor) for one in found.pages] == [
        ("Zoë & Söhne", "https://example.org/a", "Acme", "Lake"),
        ("B", "https://example.org/b", "", ""),
    ]
    assert found.refused == {} and found.files == frozenset()


def test_a_list_as_yaml(tmp_path: Path) -> None:
    path = tmp_path / "list.yaml"
    path.write_text(
        "pages:\n- {employer: A, url: 'https://example.org/a', vendor: 3}\n- {employer: B, file: b.html}\n"
    )
    (tmp_path / "b.html").write_text("x")
    found = read_corpus(str(path))
    assert [(one.employer, one.page, one.vendor) for one in found.pages] == [
        ("A", "https://example.org/a", "3"), ("B", "b.html", ""),
    ]  # fmt: skip
    assert found.files == {"b.html"}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("list.csv", b"", "its first row names the columns"),
        ("list.csv", b"a,b\n1,2\n", "its first row names the columns"),
        ("list.csv", b"employer,url\n", "names no page"),
        ("list.csv", b"employer,url,url\nA,https://x/,\n", "is there twice"),
        ("list.csv", b'employer,url\n"A,https://x/\n', "not CSV"),
        ("list.csv", b"\x00\x01\x02", "is no text"),
        ("list.yaml", b"- a\n", "is a mapping of keys"),
        ("list.yaml", b"pages: 3\n", "has no list `pages`"),
        ("list.yaml", b"a: &a [x,x]\nb: &b [*a,*a]\npages: [{employer: *b, url: x}]\n", "more than one word"),
        ("list.yaml", b"pages: [\n", "not YAML"),
    ],
)
def test_what_is_no_list(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_corpus(str(path))


def test_a_folder(tmp_path: Path) -> None:
    for name in (
        "Acme/one.html",
        "Acme/deep/two.pdf",
        "Beta.html",
        "Beta_files/logo.html",
        ".git/x",
        "Thumbs.db",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "elsewhere").symlink_to("/etc")
    found = read_corpus(str(tmp_path))
    assert [(one.employer, one.page) for one in found.pages] == [
        ("Acme", "Acme/deep/two.pdf"), ("Acme", "Acme/one.html"), ("Beta", "Beta.html"), ("elsewhere", "elsewhere"),
    ]  # fmt: skip
    assert list(found.refused.values()) == ["a link to a folder: not followed"]
    assert any("beside saved pages" in line for line in found.told)


def test_an_empty_folder_and_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file is in this folder"):
        read_corpus(str(tmp_path))
    with pytest.raises(InputError, match="is neither a folder"):
        read_corpus(str(tmp_path / "nothing"))
