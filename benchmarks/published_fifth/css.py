"""Style sheets of the layouts."""

from __future__ import annotations

BASE = (
    "body{margin:0 auto;max-width:60em;padding:1em 2em;color:#222}\n"
    "table{border-collapse:collapse;margin:.6em 0 1em}tr{break-inside:avoid}"
    "caption{text-align:left;font-weight:bold;padding:.3em 0}\n"
    ".small{font-size:.85em;color:#444}.note{font-size:.85em}nav a{margin-right:1.2em}"
    "dl{display:grid;grid-template-columns:23em 1fr}dt{font-weight:bold}dd{margin:0 0 .3em}\n"
)
THEMES = {
    "plain": "body{font-family:'Liberation Serif',Times,serif}td,th{border:1px solid #555;padding:3px 8px;"
    "text-align:center}",
    "builder": "body{font-family:'Liberation Sans',Arial,sans-serif;background:#fafafa}td,th{padding:8px 14px;"
    "border-bottom:1px solid #ddd;text-align:right}"
    "td:first-child,th:first-child{text-align:left}thead th{background:#24386b;color:#fff}"
    "details,.panel{border:1px solid #ddd;background:#fff;margin:.6em 0;padding:.6em 1em}",
    "react": "body{font-family:'DejaVu Sans',sans-serif;font-size:14px}.g{display:grid;"
    "border-top:1px solid #bbb;margin:10px 0}.g>div{padding:6px 10px;"
    "border-bottom:1px solid #e2e2e2}"
    ".h{font-weight:600;background:#f1f4f8}.tabs button{border:0;padding:8px 16px;background:#eee}",
    "wix": "body{font-family:'Liberation Sans',Helvetica,sans-serif;line-height:1.6;font-size:16px}"
    "h1{color:#6b2d5c}td,th{padding:6px 12px;border:1px solid #e5d5e0}th{background:#f7eef4;"
    "text-align:left}",
    "careers": "body{font-family:'Liberation Sans',Arial,sans-serif;font-size:15px;max-width:72em}"
    "nav,footer{background:#0b3d2e;color:#fff;padding:12px}nav a{color:#fff}"
    "td,th{padding:5px 9px;border:1px solid #ccc}thead th{background:#e8f0ec}"
    "tbody tr:nth-child(even) td{background:#f8f8f8}",
    "trust": "body{font-family:'DejaVu Sans','Liberation Sans',sans-serif;font-size:13px}"
    "td,th{padding:6px 10px;border-bottom:1px solid #d0d4da;text-align:left}"
    "thead th{text-transform:none;color:#556;border-bottom:2px solid #556}",
    "long": "body{font-family:'Liberation Sans Narrow','Liberation Sans',sans-serif;font-size:12px;"
    "max-width:none}td,th{padding:2px 10px;border:1px solid #999}thead th{background:#ddd}",
    "matrix": "body{font-family:'Liberation Serif',serif;font-size:12px;max-width:none}td,th{padding:4px 8px;"
    "border:1px solid #333;text-align:center}thead th{background:#eef}",
    "across": "body{font-family:'Liberation Sans',sans-serif;font-size:10px;max-width:none;padding:0 4px}"
    "td,th{padding:3px 4px;border:1px solid #888;text-align:center;font-size:9px}"
    "th{background:#f0f0f0}",
    "letter": "body{font-family:'Liberation Serif',serif;font-size:13px}td,th{padding:3px 9px;"
    "border-top:1px solid #000;border-bottom:1px solid #000;text-align:left}",
    "minimal": "body{font-family:'Liberation Sans',sans-serif;font-size:12.5px}td,th{padding:2px 12px 2px 0;"
    "text-align:left}thead th{border-bottom:1px solid #000}",
    "card": "body{font-family:'DejaVu Serif',serif;font-size:10px}td,th{padding:2px 6px;"
    "border:1px solid #aaa;text-align:left}",
    "annual": "body{font-family:Georgia,'DejaVu Serif',serif;font-size:14px}td,th{padding:6px 10px;"
    "border-bottom:1px dotted #777}th{text-align:left}",
    "report": "body{font-family:'Liberation Sans',sans-serif;font-size:12px}td,th{padding:4px 8px;"
    "border:1px solid #446}thead th{background:#446;color:#fff}",
    "families": "body{font-family:'Liberation Sans',sans-serif;font-size:12px}td,th{padding:4px 8px;"
    "border:1px solid #aaa}",
    "book": "body{font-family:Calibri,'Liberation Sans',sans-serif;font-size:11pt}td,th{padding:1px 5px}",
}
# for pages that must go on one sheet
TIGHT = (
    "body{font-size:10px;max-width:none;padding:0}h1{font-size:17px;margin:4px 0}h2,h3{font-size:12px;"
    "margin:5px 0 2px}p{margin:4px 0}td,th{padding:1px 7px;font-size:10px}table{margin:2px 0 5px}"
)


def edges(title: str) -> str:
    """What a browser prints at the edges of a page."""
    return (
        "@page{@top-left{content:'11/20/26, 9:14 AM';font-size:8px}@top-center{content:'"
        + title.replace("'", "")
        + "';font-size:8px}@bottom-left{content:'https://careers.example.com/ai-in-hiring';"
        "font-size:8px}@bottom-right{content:counter(page) '/' counter(pages);font-size:8px}}"
    )


def page_css(theme: str, landscape: bool, paper: str, tight: bool) -> str:
    """The style sheet for one file."""
    size = f"{paper} landscape" if landscape else paper
    margin = "11mm" if tight or landscape else "18mm"
    text = f"@page{{size:{size};margin:{margin}}}" + BASE + THEMES.get(theme, THEMES["plain"])
    return text + (TIGHT if tight else "")
