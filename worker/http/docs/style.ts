// The only style sheet of all pages. It has no `<`, so that the page can contain it unchanged.
/** As text, for its hash in the Content-Security-Policy. */
export const STYLE_TEXT = `
:root{--bg:#fff;--fg:#1c2321;--soft:#55605d;--line:#d9dfdd;--tint:#f4f6f5;--code:#eef2f0;--accent:#0b6e5f;
--good:#0b6e3a;--bad:#b3261e;--get:#0b6e5f;--post:#1d5fa8;--delete:#b3261e;color-scheme:light}
@media screen and (prefers-color-scheme:dark){:root{--bg:#121716;--fg:#e3e9e7;--soft:#a3afab;--line:#323c39;--tint:#1a211f;--code:#202927;
--accent:#5cc9b4;--good:#6fd39b;--bad:#ff8a80;--get:#5cc9b4;--post:#86b9f5;--delete:#ff8a80;color-scheme:dark}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:1rem;-webkit-text-size-adjust:100%}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0 auto;max-width:76rem;padding:0 1.25rem 4rem;background:var(--bg);color:var(--fg);
font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
display:grid;grid-template-columns:12rem minmax(0,1fr);column-gap:3rem}
header{grid-column:1/-1;padding:2.5rem 0 1rem;border-bottom:1px solid var(--line)}
header p{max-width:44rem;color:var(--soft);margin:.25rem 0 0}
h1{font-size:2rem;line-height:1.2;margin:0}
h1 small{font-size:1rem;font-weight:400;color:var(--soft)}
nav{position:sticky;top:0;align-self:start;max-height:100vh;overflow-y:auto;padding:1.5rem 0}
nav ul{list-style:none;margin:0;padding:0}
nav a{display:block;padding:.2rem 0;color:var(--soft);text-decoration:none}
nav .group{margin-top:.9rem;font-size:.8rem;font-weight:600;color:var(--soft)}
nav .group ul{font-size:1rem;font-weight:400}
nav a[aria-current]{color:var(--accent);font-weight:600}
main img{max-width:100%;height:auto;border:1px solid var(--line);border-radius:.4rem}
nav a:hover,nav a:focus-visible{color:var(--accent);text-decoration:underline}
main{min-width:0;outline:0}
h2{font-size:1.6rem;line-height:1.25;margin:3rem 0 .75rem;padding-bottom:.35rem;border-bottom:1px solid var(--line)}
h3{font-size:1.15rem;line-height:1.35;margin:2.25rem 0 .5rem}
h3.tag{font-size:1.3rem;margin-top:3rem}
p{max-width:46rem;margin:.5rem 0 1rem}
a{color:var(--accent);text-underline-offset:.25em}
.errors span{display:inline-block;margin-right:.6rem}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.anchor{margin-left:.4rem;color:var(--soft);text-decoration:none;opacity:0}
h2:hover .anchor,h3:hover .anchor{opacity:1}
code,pre{font:.875em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
code{background:var(--code);border-radius:.25rem;padding:.1em .3em;overflow-wrap:anywhere}
pre{background:var(--tint);border:1px solid var(--line);border-radius:.4rem;padding:.8rem 1rem;overflow-x:auto;max-height:40rem;
margin:.5rem 0 1.25rem;font-size:.84rem}
pre code{background:none;padding:0;font-size:1em;overflow-wrap:normal}
.scroll{overflow-x:auto;margin:.5rem 0 1.25rem}
table{border-collapse:collapse;width:100%;font-size:.925rem;line-height:1.5}
th,td{text-align:left;vertical-align:top;padding:.4rem .75rem .4rem 0;border-bottom:1px solid var(--line)}
thead th{color:var(--soft);font-weight:600;font-size:.85rem;white-space:nowrap}
tbody th{font-weight:400}
td{min-width:7.5rem}
th code,td code{white-space:nowrap}
code.pattern{white-space:normal}
.required{color:var(--bad);font-size:.8rem;white-space:nowrap}
.label{margin:1.25rem 0 .25rem;font-weight:600}
.access{color:var(--soft)}
.method{display:inline-block;font-size:.8rem;font-weight:700;letter-spacing:.03em;border:1px solid;border-radius:.25rem;padding:0 .4rem;
margin-right:.35rem;color:var(--get)}
.method.post{color:var(--post)}
.method.delete{color:var(--delete)}
.path{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;font-size:1rem;overflow-wrap:anywhere}
details{margin:.35rem 0}
summary{cursor:pointer;padding:.2rem 0}
.flow{list-style:none;display:flex;flex-wrap:wrap;align-items:center;gap:.5rem;margin:.75rem 0 1rem;padding:0}
.flow li{display:flex;align-items:center;gap:.5rem}
.flow li:not(.ends)::after{content:"→" / "";color:var(--soft)}
.flow .ends{flex-direction:column;align-items:stretch;gap:.3rem}
.status{border:1px solid var(--line);border-radius:1rem;padding:.1rem .75rem;font-size:.85rem;background:var(--tint);white-space:nowrap}
.status.good{border-color:var(--good);color:var(--good)}
.status.bad{border-color:var(--bad);color:var(--bad)}
.status.neutral{border-style:dashed;color:var(--soft)}
.skip{position:absolute;left:-999rem}
.skip:focus{left:1rem;top:1rem;background:var(--bg);padding:.5rem}
.menu{display:none}
@media (max-width:56rem){body{display:flex;flex-direction:column;padding:0 1rem 3rem}
header{padding-top:1rem}
main{width:100%}
.menu{display:block;padding:.75rem 0 0}
nav{order:1;position:static;max-height:none;margin-top:2.5rem;padding:1rem 0 0;border-top:1px solid var(--line)}
nav a{padding:.3rem 0}
h2{margin-top:2.25rem}
table{font-size:.875rem}}
@media print{body{display:block;max-width:none;font-size:.8rem}nav,.anchor,.skip{display:none}
pre{white-space:pre-wrap;overflow:visible;max-height:none}.scroll{overflow:visible}
::details-content{content-visibility:visible;block-size:auto}tr{break-inside:avoid}h2,h3{break-after:avoid}}
`;
