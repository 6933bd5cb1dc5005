"""Docstrings here use `$…$`, `$$…$$` and `code` as Markdown does; this turns them into reST."""

import re

import public_names

_DISPLAY = re.compile(r"^(?P<indent>[ ]*)\$\$(?P<tex>.*?)\$\$", re.M | re.S)
_INLINE = re.compile(
    r"(?P<literal>``.+?``)"
    r"|(?P<role>:[\w:]+:`[^`]+`)"
    r"|\$(?P<tex>[^$\n]+(?:\n[^$\n]+)?)\$"
    r"|`(?P<code>[^`\n]+)`"
    r"|(?P<bar>\|)",  # as in |x|: two of them would be a substitution
)


def to_rest(text: str, links: dict[str, str]) -> str:
    """The docstring in reST.

    Args:
        text: the docstring, after napoleon.
        links: public names → full names, which become links.
    """
    parts, end = [], 0
    for match in _DISPLAY.finditer(text):
        parts += [_prose(text[end : match.start()], links), _display(match)]
        end = match.end()
    return "".join([*parts, _prose(text[end:], links)])


def _prose(text: str, links: dict[str, str]) -> str:
    paragraphs = re.split(r"(\n[ ]*\n)", text)
    return "".join(
        part if part.lstrip().startswith(">>>") else _INLINE.sub(lambda m: _inline(m, links), part)
        for part in paragraphs
    )


def _display(match: re.Match[str]) -> str:
    indent = match["indent"]
    lines = [line.strip() for line in match["tex"].strip().splitlines()]
    return f"\n{indent}.. math::\n\n" + "\n".join(f"{indent}   {line}" for line in lines) + "\n"


def _inline(match: re.Match[str], links: dict[str, str]) -> str:
    if match["literal"] or match["role"]:
        return match[0]
    if match["bar"]:
        return r"\|"
    if match["tex"]:
        tex = " ".join(match["tex"].split())
        markup = f":math:`{tex}`"
    else:
        code = match["code"]
        markup = f":py:obj:`~{links[code]}`" if code in links else f"``{code}``"
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    left = "" if not before or before.isspace() or before in "([{<'\"-/:" else r"\ "
    right = "" if not after or after.isspace() or after in ")]}>'\"-/:.,;!?" else r"\ "
    return f"{left}{markup}{right}"


def _process(app, what, name, obj, options, lines):
    if what == "data":  # behind a facade autodoc only finds the docstring of the constant's type
        lines[:] = public_names.constant_doc(name).split("\n")
    lines[:] = to_rest("\n".join(lines), public_names.links()).split("\n")


def _process_signature(app, what, name, obj, options, signature, annotation):
    """`Any` says nothing: what an argument may be is in words, under Parameters."""
    bare = re.sub(r": (~?typing\.)?Any\b(?! \|)", "", signature or "")
    bare = re.sub(r"<function [\w.]*<lambda>>", "...", bare)
    says_nothing = re.fullmatch(r"(~?typing\.)?Any", annotation or "")
    return bare or signature, None if says_nothing else annotation


def setup(app):  # noqa: D103
    app.connect("autodoc-process-signature", _process_signature)
    app.connect("autodoc-process-docstring", _process, priority=900)  # after napoleon
    return {"parallel_read_safe": True}
