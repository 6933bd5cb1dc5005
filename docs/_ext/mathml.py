"""Formulas as MathML, converted by docutils while building: no network, no script in the page."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

_SPACE = '<mspace width="0.17em"></mspace>'
_NAME = r"<mi(?: mathvariant=\"normal\")?>[A-Za-z]{2,}</mi>"
_POWER = rf"<msup>\s*{_NAME}\s*<m[in]>[^<]+</m[in]>\s*</msup>"
_OPERAND = r"<m(?:i|n|sqrt|frac|sup|sub)\b"


def to_mathml(tex: str, *, block: bool) -> str:
    """MathML of a formula, with what docutils lacks of TeX's rules."""
    tex = re.sub(r"\\([td]?frac)(\d)(\d)", r"\\\1{\2}{\3}", tex)  # \frac12 is ½, not 12 over …
    text = tex2mathml(tex, as_block=block)
    text = re.sub(r"(<mrow>\s*)?<mo( class=\"mathopen\")?>([|‖])</mo>", _bar, text)
    # thin spaces around names of functions
    text = re.sub(rf"(<mo>&ApplyFunction;</mo>)(?=\s*{_OPERAND})", rf"\1{_SPACE}", text)
    text = re.sub(rf"({_POWER})(?=\s*{_OPERAND})", rf"\1{_SPACE}", text)
    before = rf"(</m(?:i|n|sqrt|frac|sup|sub)>)(?=\s*(?:{_NAME}\s*<mo>&ApplyFunction;|{_POWER}))"
    return re.sub(before, rf"\1{_SPACE}", text)


def _bar(match: re.Match[str]) -> str:
    """A bar of |x| or ‖x‖: not stretched, and without the space that a bar between things gets."""
    row, is_opening, bar = match.groups()
    if bar == "‖" and not is_opening:  # may be either
        return f'{row or ""}<mo stretchy="false">{bar}</mo>'
    form = "prefix" if row or is_opening else "postfix"
    return f'{row or ""}<mo stretchy="false" form="{form}">{bar}</mo>'


def _convert(node: nodes.Element, *, block: bool) -> str:
    try:
        return to_mathml(node.astext(), block=block)
    except MathError as error:
        logger.warning("formula cannot be converted: %s: %s", node.astext(), error, location=node)
        return f"<code>{nodes.Text(node.astext())}</code>"


def _visit_math(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(f'<span class="math">{_convert(node, block=False)}</span>')
    raise nodes.SkipNode


def _visit_math_block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(_convert(node, block=True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app):  # noqa: D103
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
