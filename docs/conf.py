"""Sphinx settings. Build with `sphinx-build -W --keep-going -b html docs docs/_build/html`."""

import sys
from pathlib import Path

from jupyter_client import KernelManager

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

import lazyrich  # noqa: E402

project = "lazyrich"
author = "The lazyrich developers"
project_copyright = author
version = release = lazyrich.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "breakable_names",
    "docstring_markup",
    "mathml",
    "public_names",
]
exclude_patterns = [
    "_build",
    "_ext",
    "_tables",
    "**/*.ipynb",
    "auto_examples/*.py",
    "auto_examples/*.zip",
]
nitpicky = False

# pages: Markdown, whose code cells run in fresh kernels, in temporary folders
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
myst_update_mathjax = False
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_code_prompt_show = "How it is drawn"
nb_code_prompt_hide = "Hide"
if hasattr(KernelManager, "transport_encryption"):  # otherwise new kernels warn that they have none
    KernelManager.transport_encryption.default_value = "auto"

# docstrings: Google style, with the sections that formulas have here
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_custom_sections = [
    "Symbols", "Source", "Holds when", "Computed as", "Checked by", "Cost",
    ("Attributes", "params_style"),
    "Returns",  # as running text: the type is in the signature
]  # fmt: skip
napoleon_attr_annotations = False
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 110
python_display_short_literal_types = True
autosummary_generate = False

# formulas become MathML while building, so pages need no network and no script
html_math_renderer = "mathml"

html_theme = "furo"
html_title = f"lazyrich {release}"
html_static_path = ["_static"]
html_css_files = ["lazyrich.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": False}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": [str(DOCS.parent / "examples")],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,
    "remove_config_comments": True,
}
suppress_warnings = ["config.cache"]  # the gallery's settings hold functions, which are not cached
