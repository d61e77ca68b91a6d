"""How reports look: on wide and narrow screens, light and dark, and on paper."""

LIGHT = (
    "#0072b2", "#d55e00", "#00845c", "#b8448c", "#7a5c00", "#1a9fc7", "#3c3c3c", "#8a70e0",
)  # fmt: skip
"""Colours of series: 3:1 or more against the ground, and apart for the colour-blind."""
DARK = (
    "#2f8fd6", "#ff8f3f", "#35c795", "#ef86c4", "#f4e98a", "#7fdcf5", "#d0d0d0", "#b39dff",
)  # fmt: skip

_DARK_SERIES = " ".join(f"--series-{number}: {colour};" for number, colour in enumerate(DARK))

STYLE = f"""
:root {{ color-scheme: light dark; --text: #1b1b1b; --ground: #fff; --quiet: #555;
        --line: #ddd; --rule: #888; }}
@media screen and (prefers-color-scheme: dark) {{
  :root {{ --text: #e4e4e4; --ground: #161616; --quiet: #aaa; --line: #3a3a3a; --rule: #888;
          {_DARK_SERIES} }}
}}
body {{ font: 15px/1.5 "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif;
       max-width: 1240px; margin: 2em auto; padding: 0 1em; color: var(--text);
       background: var(--ground); overflow-wrap: break-word; }}
h1, h2, h3 {{ line-height: 1.2; margin-top: 1.8em; }}
h1 + p {{ font-size: 1.2em; }}
p, figcaption, nav {{ max-width: 52em; }}
nav ul {{ columns: 16em; padding-left: 1.2em; }}
a {{ color: inherit; }}
table {{ width: max-content; border-collapse: collapse; margin: .6em 0 1.2em; font-size: 13px; }}
caption, figcaption {{ text-align: left; color: var(--quiet); padding: .3em 0; }}
caption {{ position: sticky; left: 0; max-width: min(52em, 100vw - 2em); }}
th, td {{ padding: .25em .6em; border-bottom: 1px solid var(--line); text-align: right;
         font-variant-numeric: tabular-nums; white-space: nowrap; }}
thead th, .text {{ white-space: normal; overflow-wrap: break-word; max-width: 28em; }}
thead th {{ border-bottom: 2px solid var(--rule); vertical-align: bottom; max-width: 12em; }}
.text {{ text-align: start; }}
tbody th {{ font-weight: normal; }}
th:first-child {{ position: sticky; left: 0; background: var(--ground); }}
.best {{ font-weight: 700; }}
figure {{ margin: 1em 0; }}
svg {{ max-width: 100%; height: auto; }}
.row {{ display: flex; flex-wrap: wrap; gap: 15px; align-items: flex-start; }}
.scroll {{ overflow-x: auto; }}
@media (max-width: 40em) {{
  .text {{ max-width: 16em; }}
  tbody th.text {{ max-width: 9em; }}
}}
@page {{ size: A4 landscape; margin: 12mm; }}
@media print {{
  body {{ font-size: 10pt; margin: 0; max-width: none; }}
  table {{ width: auto; font-size: 8pt; }}
  th, td {{ padding: .2em .45em; }}
  .scroll {{ overflow: visible; }}
  th:first-child {{ position: static; }}
  h2, h3, caption {{ break-after: avoid; }}
  tr, svg {{ break-inside: avoid; }}
  .row svg {{ width: 32%; }}
}}
"""
