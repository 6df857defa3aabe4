import { toBase64, utf8 } from '../../../bytes/bytes.ts';
import { sha256 } from '../../../bytes/sha256.ts';

/** Column widths are classes because the content security policy blocks style attributes. */
const widths = Array.from({ length: 60 }, (_, share) => `.w${share + 1}{width:${share + 1}%}`).join('');

export const STYLE = `
:root{color-scheme:light dark;--ink:#1b2430;--quiet:#566273;--paper:#fff;--rule:#d3dae3;--head:#f1f4f8;--accent:#1f3a5f;
--good:#17633a;--warn:#855300;--bad:#a01818;--neutral:#3d4a5c;--good-tint:#e9f5ee;--warn-tint:#fdf4e1;--bad-tint:#fcebea;--neutral-tint:#eef1f5}
@media (prefers-color-scheme:dark){:root{--ink:#e6eaf0;--quiet:#a5b0bf;--paper:#12161c;--rule:#313a46;--head:#1b222b;--accent:#9fc1ec;
--good:#7ed6a2;--warn:#f0bf66;--bad:#ff9d97;--neutral:#b8c4d4;--good-tint:#12291d;--warn-tint:#2d2410;--bad-tint:#341717;--neutral-tint:#1c232d}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,"DejaVu Sans",sans-serif}
main,footer{max-width:68rem;margin:0 auto;padding:2.5rem 1.5rem}
footer{padding-top:0;color:var(--quiet);font-size:.85rem}
h1{font-size:2rem;line-height:1.2;margin:.2rem 0}h2{font-size:1.35rem;color:var(--accent);margin:2.5rem 0 .8rem;padding-bottom:.3rem;border-bottom:1px solid var(--rule)}h3{font-size:1.05rem;margin:1.6rem 0 .5rem}
h1,h2,h3,li,dd,td,p{overflow-wrap:anywhere}
.mark{color:var(--bad);font-weight:700;font-size:.8rem;margin:0 0 .6rem}.kicker{font-size:1.25rem;color:var(--accent);margin:0}
blockquote{margin:.3rem 0 1.2rem;padding:.2rem 0 .2rem 1rem;border-left:3px solid var(--rule);font-size:1.1rem;overflow-wrap:anywhere}
.quiet{color:var(--quiet)}.strong{font-weight:600}.good,.warn,.bad,.neutral{font-weight:600}
.good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}.neutral{color:var(--neutral)}
.mono{font:.78rem/1.5 ui-monospace,"DejaVu Sans Mono",monospace;color:var(--quiet)}
.verdict{margin:1.5rem 0;padding:1.2rem 1.5rem;border-left:6px solid;font-weight:400}
.verdict h2{margin:0;border:0;padding:0;font-size:2.2rem;line-height:1.2;color:inherit}
.verdict p,.verdict ul{color:var(--ink)}.verdict ul:last-child{margin-bottom:0}.lead{font-size:1.1rem;margin:.3rem 0 .6rem}
.verdict.good,.grade.good{background:var(--good-tint)}.verdict.warn,.grade.warn{background:var(--warn-tint)}.verdict.bad,.grade.bad{background:var(--bad-tint)}.verdict.neutral,.grade.neutral{background:var(--neutral-tint)}
.completeness{display:flex;gap:1.2rem;align-items:flex-start}.completeness h2{font-size:1.1rem;color:var(--ink);border:0;margin:.2rem 0;padding:0}.completeness ul{margin:.3rem 0}
.grade{flex:none;width:4.2rem;height:4.2rem;margin:0;display:grid;place-items:center;font-size:2.4rem;font-weight:700}
dl{margin:1rem 0}dl div{display:flex;flex-wrap:wrap;gap:.2rem 1rem;padding:.3rem 0;border-top:1px solid var(--rule)}dt{flex:0 0 8rem;color:var(--quiet)}dd{margin:0;flex:1 1 16rem}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;padding:0;list-style:none}a{color:var(--accent)}
.scroll{overflow-x:auto;margin:.5rem 0 1rem}
table{border-collapse:collapse;width:100%;font-size:.86rem}
.wide{min-width:52rem;table-layout:fixed}.numbers td+td,.numbers th+th{text-align:right}${widths}
th,td{text-align:left;vertical-align:top;padding:.5rem .7rem .5rem .3rem;border-bottom:1px solid var(--rule)}
thead th{background:var(--head);color:var(--quiet);font-size:.8rem}
.visually-hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
pre{background:var(--head);padding:.8rem 1rem;overflow-x:auto;font-size:.82rem}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
@media (max-width:34rem){main,footer{padding:1.2rem .9rem}.verdict{padding:.9rem 1rem}.verdict h2{font-size:1.7rem}ul{padding-left:1.2rem}.completeness{gap:.8rem}.grade{width:3rem;height:3rem;font-size:1.8rem}.numbers{font-size:.72rem}.numbers th,.numbers td{padding:.4rem .15rem}.numbers thead th{font-size:.62rem}.wide{min-width:44rem}}
@media print{:root{color-scheme:light;--ink:#1b2430;--quiet:#566273;--paper:#fff;--rule:#d3dae3;--head:#f1f4f8;--accent:#1f3a5f;
--good:#17633a;--warn:#855300;--bad:#a01818;--neutral:#3d4a5c;--good-tint:#e9f5ee;--warn-tint:#fdf4e1;--bad-tint:#fcebea;--neutral-tint:#eef1f5}
body{font-size:9pt;print-color-adjust:exact}main,footer{max-width:none;padding:0}nav{display:none}.scroll{overflow:visible}.wide{min-width:0}
thead{display:table-header-group}tr,dl div{break-inside:avoid}h2,h3{break-after:avoid}pre{white-space:pre-wrap;overflow-wrap:anywhere}}
`;

/** The content security policy allows only this style. */
export const STYLE_HASH = `sha256-${toBase64(sha256(utf8(STYLE)))}`;
