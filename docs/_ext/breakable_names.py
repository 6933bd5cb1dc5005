"""Long names in tables may break between their words, and nowhere else."""

import re
from typing import Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

_PLACES = re.compile(
    r"(?<=\w[./])(?=\w{4})"  # not before endings such as .py
    r"|(?<=[A-Za-z0-9]_)(?=[A-Za-z0-9])"
    r"|(?<=[a-z]{4})(?=[A-Z][a-z]{3})"
)


class BreakableNames(SphinxPostTransform):
    """Puts `<wbr>` into code in cells of tables; what is copied from the page has no trace of it."""

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Once for every page."""
        for cell in self.document.findall(nodes.entry):
            for code in list(cell.findall(nodes.literal)):
                parts = _PLACES.split(code.astext())
                if len(parts) > 1:
                    code.children.clear()
                    code += [node for part in parts for node in (_break(), nodes.Text(part))][1:]


def _break() -> nodes.raw:
    return nodes.raw("", "<wbr>", format="html")


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_post_transform(BreakableNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
