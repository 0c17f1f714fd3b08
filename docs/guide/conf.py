# SPDX-License-Identifier: BSD-3-Clause
# How Sphinx makes the HTML pages of the guide, of the README, and of the pages that
# they link to: make guide.

project = 'torushmem'
extensions = ['myst_parser']
root_doc = 'docs/guide/index'
include_patterns = ['README.md', 'CONTRIBUTING.md', 'docs/**.md', 'softofu/**.md']
exclude_patterns = ['docs/guide/conf.py']
html_theme = 'alabaster'
html_title = 'torushmem'
html_static_path = ['style']
html_css_files = ['guide.css']
html_sidebars = {'**': ['about.html', 'searchbox.html', 'navigation.html', 'relations.html']}
html_theme_options = {'description': 'OpenSHMEM for clusters whose network is a torus', 'fixed_sidebar': False, 'page_width': '1100px'}
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
myst_heading_anchors = 4
highlight_language = 'none'
# Links to folders, which are no pages; tests/pages.sh looks whether links lead somewhere.
suppress_warnings = ['ref.myst', 'myst.ref', 'myst.xref_missing']


def add_contents(_app, name, source):
    """The chapters in order, for the side bar; in Markdown the table of the page does it."""
    if name == root_doc:
        source[0] += '\n```{toctree}\n:hidden:\n:glob:\n\n[0-9]*\nexamples\n```\n'
    elif not name.startswith('docs/guide/'):
        source[0] = '---\norphan: true\n---\n' + source[0]


def setup(app):
    app.connect('source-read', add_contents)
