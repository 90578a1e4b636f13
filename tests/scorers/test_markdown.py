"""Texts of data in Markdown: by a plain reader, and by the very code of `inspect view`."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import inspect_ai
import pytest
from markdown_it import MarkdownIt

from moral_evals.scorers.markdown import cell, row, viewer_cell

ASSETS = Path(inspect_ai.__file__).parent / "_view" / "dist" / "assets"
TEXTS = [
    r"\[l\](http://127.0.0.1/)",
    r"[l](http://127.0.0.1/) ![i](x.png) <http://h/>",
    r"$x^2$ and $$y$$ and \(z\) and \[w\]",
    r"\$5\$ \\$6\\$",
    "<b>now</b> & &lt; *at once* _so_ `c` ~~gone~~ | end",
    "[/care] a[draft]",
]

# the viewer is made for a browser: what it asks of one before it loads its formulas
_VIEWER = """
globalThis.document = {
  getElementsByTagName: () => [], querySelector: () => null, head: {appendChild() {}},
  createElement: () => ({
    relList: {supports: () => false}, setAttribute() {},
    addEventListener(kind, then) { if (kind === "load") setTimeout(then, 0); },
  }),
};
globalThis.window = {dispatchEvent() {}, addEventListener() {}};
const viewer = await import("./assets/markdownPipeline.js");
const out = [];
for (const text of JSON.parse(process.argv[2])) out.push(await viewer.renderMarkdown(text));
console.log(JSON.stringify(out));
"""


def text_of(page: str) -> str:
    """The text of the last table cell, if the cell holds nothing but text."""
    content = re.findall(r"<td>(.*?)</td>", page, re.DOTALL)[-1]
    assert "<" not in content, content
    return html.unescape(content)


def table(text: str) -> str:
    return "\n".join([row(["a"]), row(["---"]), row([text])])


@pytest.mark.parametrize("text", TEXTS)
def test_a_plain_reader_sees_the_text(text: str) -> None:
    assert text_of(MarkdownIt("gfm-like", {"linkify": False}).render(table(cell(text)))) == text


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_inspect_view_shows_the_text(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (tmp_path / "assets").mkdir()
    for script in ASSETS.glob("*.js"):
        (tmp_path / "assets" / script.name).symlink_to(script)
    (tmp_path / "show.js").write_text(_VIEWER, encoding="utf-8")
    pages = [table(viewer_cell(text)) for text in TEXTS]
    done = subprocess.run(
        ["node", "--preserve-symlinks", "show.js", json.dumps([*pages, "$x$ is a formula"])],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    *shown, formula = json.loads(done.stdout)
    assert "MathJax" in formula, "formulas are read here, so that a bare dollar would show"
    assert [text_of(page) for page in shown] == TEXTS
