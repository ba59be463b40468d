"""What attackers send is inert once it is sanitised: parsed again, nothing of it can act (A9)."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.sending.writing.sanitize import Sanitizer

SANITIZER = Sanitizer()
TAGS = frozenset(
    """a abbr acronym address area article aside b bdi bdo blockquote br caption center cite code col colgroup data dd
    del details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i img ins kbd li main
    map mark nav ol p pre q rp rt rtc ruby s samp section small span strike strong sub summary sup table tbody td tfoot
    th thead time tr tt u ul var wbr""".split()
)
URL_SCHEMES = re.compile(r"(https?|mailto|tel|cid):", re.IGNORECASE)
URL_ATTRIBUTES = frozenset(["href", "src", "background", "cite", "action", "formaction", "poster", "srcset"])
BAD_STYLE = re.compile(
    r"javascript|expression|behaviou?r|binding|@import|position|data:|\\\\|url\(\s*[\"']?(?!https?:|cid:)",
    re.IGNORECASE,
)
_IGNORED_IN_URLS = re.compile(r"[\x00-\x20\x7f]")

PAYLOADS = [
    # Scripts
    "<script>x()</script>",
    "<script src=//evil.test></script>",
    "<SCRIPT/XSS SRC=//evil.test></SCRIPT>",
    "<<script>x()//<</script>",
    "<scr\x00ipt>x()</scr\x00ipt>",
    "<script\n>x()</script\n>",
    "</script><script>x()</script>",
    "<noscript><p title=\"</noscript><img src=x onerror=x()>\">",
    "<xss onclick=x()>x</xss>",
    # Handlers
    "<img src=x onerror=x()>",
    "<img src=x:x onerror\t=\tx()>",
    "<img src='cid:a' ONLOAD=x()>",
    "<img \"\"\"><script>x()</script>\">",
    "<img src=`x` onerror=x()>",
    "<body onload=x()>x</body>",
    "<details open ontoggle=x()>x</details>",
    "<video><source onerror=x()></video>",
    "<audio src=x onerror=x()>",
    "<marquee onstart=x()>x</marquee>",
    "<p onclick\x0c=x() on\x00click=x()>x</p>",
    "<input autofocus onfocus=x()>",
    "<select onfocus=x() autofocus><option>x</select>",
    "<textarea autofocus onfocus=x()>x</textarea>",
    "<a id=x tabindex=1 onfocusin=x()>x</a>",
    # URLs
    "<a href=javascript:x()>x</a>",
    "<a href='java\nscript:x()'>x</a>",
    "<a href='&#106;avascript:x()'>x</a>",
    "<a href='&#x6A&#x61vascript:x()'>x</a>",
    "<a href='\x01javascript:x()'>x</a>",
    "<a href='javascript&colon;x()'>x</a>",
    "<a href='data:text/html;base64,PHNjcmlwdD4='>x</a>",
    "<a href='vbscript:x'>x</a>",
    "<a href='//evil.test/x'>x</a>",
    "<a href='feed:javascript:x()'>x</a>",
    "<img src=javascript:x()>",
    "<img src='data:image/svg+xml,<svg onload=x()>'>",
    "<img srcset='x 1x, javascript:x() 2x'>",
    "<img dynsrc=javascript:x() lowsrc=javascript:x()>",
    "<blockquote cite=javascript:x()>x</blockquote>",
    "<area href=javascript:x()>",
    "<img src=cid:a usemap=javascript:x()><map name=x><area shape=default href=javascript:x() ping=//evil.test></map>",
    # `background` is a URL, of which nh3 knows nothing
    "<table background=javascript:x()><tr><td>x</td></tr></table>",
    "<table background='&#106;avascript:x()'><tr><td background='data:text/html,x'>x</td></tr></table>",
    "<td background=' javascript:x()'>x</td>",
    "<body background=javascript:x()>x</body>",
    "<div BACKGROUND\n=\nvbscript:x>x</div>",
    "<table background=//evil.test/a.png><tr><td>x</td></tr></table>",
    "<table background=file:///etc/passwd><tr><td>x</td></tr></table>",
    # SVG and MathML
    "<svg onload=x()>",
    "<svg><script>x()</script></svg>",
    "<svg><animate onbegin=x() attributeName=x></svg>",
    "<svg><a xlink:href=javascript:x()><text>x</text></a></svg>",
    "<svg><foreignObject><iframe src=javascript:x()></iframe></foreignObject></svg>",
    "<svg><use href='data:image/svg+xml,<svg id=x><script>x()</script></svg>#x'></svg>",
    "<svg><set attributeName=href to=javascript:x()></svg>",
    "<math href=javascript:x()>x</math>",
    "<math><maction actiontype=statusline xlink:href=javascript:x()>x</maction></math>",
    # Mutations: inert as it stands, active once it is parsed a second time
    "<svg></p><style><a id=\"</style><img src=1 onerror=x()>\">",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=x()&gt;\">",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=x()>",
    "<math><mtext><h1><a><h6></a></h6><mglyph><svg><mtext><style><a title=\"</style><img src onerror='x()'>\"></style>",
    "<noembed><img title=\"</noembed><img src onerror=x()>\"></noembed>",
    "<xmp><p title=\"</xmp><svg/onload=x()>\">",
    "<plaintext><p title=\"</plaintext><img src onerror=x()>\">",
    "<title><a title=\"</title><img src onerror=x()>\">",
    "<listing>&lt;img onerror=x() src=1&gt;</listing>",
    "<p id='`onmouseover=x()'>x</p>",
    "<select><template><style><!--</style><img src onerror=x()>--></template></select>",
    "<a title=\"<!--\"><img src=x alt=\"--><img src=x onerror=x()>\"></a>",
    # Styles
    "<style>*{background:url(javascript:x())}</style>",
    "<p style='background:url(javascript:x())'>x</p>",
    "<p style='background:u\\72l(javascript:x())'>x</p>",
    "<p style='width:expression(x())'>x</p>",
    "<p style='width:ex/**/pression(x())'>x</p>",
    "<p style='behavior:url(x.htc)'>x</p>",
    "<p style='-moz-binding:url(//evil.test)'>x</p>",
    "<p style='position:fixed;top:0;left:0;width:9999px'>x</p>",
    "<p style=\"color:red;@import '//evil.test'\">x</p>",
    "<p style='width:e\\78pression(x())'>x</p>",
    "<p style='width:&#101;xpression (x())'>x</p>",
    "<table background='https://a.test/' style='width:expression(x())'><tr><td>x</td></tr></table>",
    "<table background='https://a.test/' style='width:e\\78pression(x())'><tr><td>x</td></tr></table>",
    "<font style='list-style:url(javascript:x())'>x</font>",
    "<p style='background:url(\"javascript:x()\")'>x</p>",
    "<p style='background:url( \"&#106;avascript:x()\" ) red'>x</p>",
    "<p style='background:u\\72l(\"file:///etc/passwd\")'>x</p>",
    "<p style='background:url(\"//evil.test/a.png\")'>x</p>",
    "<p style='list-style:URL(\\\\\\\\evil.test/share/a.png)'>x</p>",
    "<p style='background:image-set(\"javascript:x()\" 1x)'>x</p>",
    "<p style='background:-webkit-image-set(url(data:image/png,x) 1x)'>x</p>",
    "<p style='background:cross-fade(url(https://a.test/a.png), url(b.png), 50%)'>x</p>",
    # Documents
    "<meta http-equiv=refresh content='0;url=javascript:x()'>",
    "<base href=javascript:x()//>",
    "<link rel=stylesheet href=//evil.test>",
    "<link rel=import href=data:text/html,x>",
    "<form action=javascript:x()><input type=submit></form>",
    "<form><button formaction=javascript:x()>x</button></form>",
    "<isindex action=javascript:x() type=image>",
    "<iframe src=javascript:x()></iframe>",
    "<iframe srcdoc='<script>x()</script>'></iframe>",
    "<frameset><frame src=javascript:x()></frameset>",
    "<object data=javascript:x()></object>",
    "<embed src=javascript:x()>",
    "<applet code=x archive=//evil.test></applet>",
    "<portal src=//evil.test></portal>",
    "<dialog open><form method=dialog></form></dialog>",
    "<slot name=x></slot><template shadowrootmode=open><script>x()</script></template>",
    "<!--[if gte IE 4]><script>x()</script><![endif]-->",
    "<?xml-stylesheet href='javascript:x()'?>",
    "<![CDATA[<img src=x onerror=x()>]]>",
    "<!DOCTYPE x [<!ENTITY y '<script>x()</script>'>]>&y;",
]  # fmt: skip


class Elements(HTMLParser):
    """What a parser finds: the faults of it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            self.faults.append(tag)
        self.faults += [f"{tag} {name}={value}" for name, value in attrs if is_active(name, value or "")]

    def handle_comment(self, data: str) -> None:
        self.faults.append(f"comment {data}")

    def handle_decl(self, decl: str) -> None:
        self.faults.append(decl)

    def handle_pi(self, data: str) -> None:
        self.faults.append(data)


def is_active(name: str, value: str) -> bool:
    if name.startswith("on") or ":" in name or name in ("srcdoc", "action", "formaction", "srcset"):
        return True
    if name in URL_ATTRIBUTES:
        return URL_SCHEMES.match(_IGNORED_IN_URLS.sub("", value)) is None
    return name == "style" and BAD_STYLE.search(value) is not None


def faults(html: str) -> list[str]:
    parser = Elements()
    parser.feed(html)
    parser.close()
    return parser.faults


def test_the_judge_sees_what_acts() -> None:
    """Else the test below could not fail."""
    unseen = [one for one in PAYLOADS if not faults(one)]
    assert len(PAYLOADS) >= 60
    assert len(unseen) <= 8, unseen  # they need a browser older than this parser's rules, or a reader of CSS


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize(
    "around", ["{}", "<table><tr><td>{}</td></tr></table>", "<p title='{}'>", "<b><i>{}"]
)
def test_nothing_of_it_acts(payload: str, around: str) -> None:
    for html in (around.replace("{}", payload), around.replace("{}", payload * 2)):
        clean = SANITIZER.clean(html)
        assert faults(clean) == []
        again = SANITIZER.clean(clean)
        assert faults(again) == []
        assert again == clean
        assert SANITIZER.clean_any(html) == clean


PIECES = st.sampled_from(
    [piece for payload in PAYLOADS for piece in re.findall(r"</?\w+|[\w:-]+=|[^<>\s=]+|[<>]", payload)]
    + ["background="]
)


@given(st.lists(PIECES | st.text(max_size=3), max_size=30).map(" ".join))
def test_nothing_of_their_pieces_acts(html: str) -> None:
    clean = SANITIZER.clean(html)
    assert faults(clean) == []
    assert SANITIZER.clean(clean) == clean


@pytest.mark.parametrize(
    "url", ["https://elsewhere.test/a.png", "http://elsewhere.test/a.png", "cid:a@b", "HTTPS://x.test/"]
)
def test_a_background_of_the_web_or_the_mail_is_kept(url: str) -> None:
    html = f'<table background="{url}"><tbody><tr><td>x</td></tr></tbody></table>'
    assert SANITIZER.clean(html) == html


@pytest.mark.parametrize("html", ["<div>" * 501, "<b>1 &lt; 2</b>" + "<i></i>" * 60_000])
def test_of_html_too_complex_the_words_are_left(html: str) -> None:
    clean = SANITIZER.clean_any(html + "<script>x()</script>1 &lt; 2")
    assert clean.startswith("<pre>") and clean.endswith("1 &lt; 2</pre>")
    assert faults(clean) == []
