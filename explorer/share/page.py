"""The style and the script of the HTML report, and their hashes: the page may load nothing and run nothing else."""

from __future__ import annotations

import base64
import hashlib

STYLE = """
:root{color-scheme:light dark;--bg:#fff;--fg:#1f2328;--dim:#656d76;--box:#f6f8fa;--line:#d0d7de;--on:#fff1b8;
--t-keyword:#0550ae;--t-type:#116329;--t-function:#6639ba;--t-number:#953800;--t-string:#0a6a2f;--t-value:#116329;
--t-directive:#6639ba;--good:#116329;--bad:#b3261e;--add:#dafbe1;--del:#ffebe9;--move:#ddf4ff}
@media(prefers-color-scheme:dark){:root:not([data-theme=light]){--bg:#0d1117;--fg:#e6edf3;--dim:#8d96a0;--box:#161b22;
--line:#30363d;--on:#4b3f00;--t-keyword:#79c0ff;--t-type:#7ee787;--t-function:#d2a8ff;--t-number:#ffa657;
--t-string:#a5d6ff;--t-value:#7ee787;--t-directive:#d2a8ff;--good:#7ee787;--bad:#ff7b72;--add:#12361f;--del:#4a1b1d;
--move:#0c2d4d}}
:root[data-theme=dark]{color-scheme:dark;--bg:#0d1117;--fg:#e6edf3;--dim:#8d96a0;--box:#161b22;--line:#30363d;
--on:#4b3f00;--t-keyword:#79c0ff;--t-type:#7ee787;--t-function:#d2a8ff;--t-number:#ffa657;--t-string:#a5d6ff;
--t-value:#7ee787;--t-directive:#d2a8ff;--good:#7ee787;--bad:#ff7b72;--add:#12361f;--del:#4a1b1d;--move:#0c2d4d}
:root[data-theme=light]{color-scheme:light}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem 1.5rem;max-width:110rem;background:var(--bg);color:var(--fg);
font:15px/1.45 system-ui,sans-serif}
h1{font-size:1.4rem;margin:.2rem 0}h2{font-size:1.05rem;margin:1.4rem 0 .4rem}
.columns{display:grid;grid-template-columns:minmax(0,2fr) minmax(0,3fr);gap:1.5rem}
.columns>aside{position:sticky;top:0;align-self:start}
@media(max-width:60rem){.columns{display:block}.columns>aside{position:static}}
pre,code,td{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:13px}
pre{position:relative;margin:.3rem 0;padding:.5rem 0;max-height:75vh;overflow:auto;background:var(--box);
border:1px solid var(--line);border-radius:4px}
pre>code{display:block;min-width:max-content;min-height:1.45em;padding:0 .7rem;border-left:3px solid transparent}
pre>code[data-l]{cursor:pointer}
pre>code.on{background:var(--on);border-left-color:var(--t-number)}
pre>code.added{background:var(--add)}pre>code.removed{background:var(--del)}pre>code.moved{background:var(--move)}
pre>code.failed{text-decoration:underline wavy var(--bad);background:var(--del)}
.n{display:inline-block;width:3.2em;padding-right:1em;text-align:right;color:var(--dim);user-select:none}
table{border-collapse:collapse}td,th{padding:.1rem .8rem .1rem 0;text-align:left;vertical-align:top}
th{font-weight:600}tr+tr td{border-top:1px solid var(--line)}
details{margin:.15rem 0}details details{margin-left:1.2rem}summary{cursor:pointer}summary small{color:var(--dim)}
.bad{color:var(--bad);font-weight:600}.good{color:var(--good);font-weight:600}.dim{color:var(--dim)}
button{float:right;font:inherit}a{color:inherit}
.t-keyword{color:var(--t-keyword);font-weight:600}.t-type{color:var(--t-type)}
.t-function,.t-builtin{color:var(--t-function)}.t-number,.t-label,.t-doubtful{color:var(--t-number)}
.t-string{color:var(--t-string)}.t-comment{color:var(--dim)}.t-value{color:var(--t-value)}
.t-directive{color:var(--t-directive)}.t-good{color:var(--good)}.t-bad{color:var(--bad)}
@media print{pre{max-height:none}button{display:none}}
"""

SCRIPT = """
"use strict";
let lit=[],held=null;
function light(n){
  lit.forEach(e=>e.classList.remove("on"));
  lit=n?[...document.querySelectorAll('[data-l="'+n+'"]')]:[];
  lit.forEach(e=>e.classList.add("on"));
}
document.addEventListener("mouseover",e=>{
  if(held===null){const l=e.target.closest("[data-l]");light(l&&l.dataset.l);}
});
document.addEventListener("click",e=>{
  const l=e.target.closest("[data-l]");
  if(!l||String(getSelection()))return;
  held=held===l.dataset.l?null:l.dataset.l;
  light(l.dataset.l);
  const seen=new Set([l.parentNode]);
  if(held!==null)for(const e of lit)if(!seen.has(e.parentNode)){
    seen.add(e.parentNode);
    e.parentNode.scrollTop=e.offsetTop-e.parentNode.clientHeight/3;
  }
});
document.addEventListener("keydown",e=>{if(e.key==="Escape"){held=null;light(null);}});
document.getElementById("theme").addEventListener("click",()=>{
  const root=document.documentElement,now=root.dataset.theme;
  const dark=now?now==="dark":matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme=dark?"light":"dark";
});
for(const a of document.querySelectorAll("td>a[href]"))a.addEventListener("click",()=>{
  const d=document.querySelector(a.getAttribute("href"));if(d)d.open=true;
});
"""


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


#: What a browser may do with the page: nothing but its own style and script.
POLICY = (
    f"default-src 'none'; style-src {_hash(STYLE)}; script-src {_hash(SCRIPT)}; base-uri 'none'; form-action 'none'"
)
