"""The words in which mail systems refuse: a table from phrases to what they mean. Pure, linear, bounded.

Phrases are compared with words, as `plain_words` makes them: lower case, no punctuation, single blanks; without
addresses, URLs and host names, which may hold any word. A phrase matches where a word begins; one that ends in a blank
matches whole words alone. Rows are asked in their order, so what takes the blame off an address stands before what
blames one: "this mailbox is full" may well stand beside "unknown user".
"""

import re
from typing import Final, NamedTuple

from maild.message.reports.bounce_classes import Advice, BounceClass
from maild.message.reports.bounce_languages import missing
from maild.message.reports.bounce_vocabulary import other_words, vocabulary
from maild.message.reports.phrases import PhraseIndex

MAX_WORDS_CHARS: Final = 4096  # what a refusal says after that, says nothing

_YAHOO = "senders.yahooinc.com/smtp-error-codes"
_OUTLOOK = "sendersupport.olc.protection.outlook.com/pm/troubleshooting"
_MICROSOFT = "learn.microsoft.com, non-delivery-reports-in-exchange-online"
_GOOGLE = "support.google.com/a/answer/3726730"
_APPLE = "support.apple.com/102322"
_COMCAST = "postmaster.comcast.net/mail-error-codes"
_COX = "cox.com, cox-postmaster-email-administration"
_SPECTRUM = "spectrumbusiness.net, understanding-email-error-codes"
_GMX = "postmaster.gmx.net/en/error-messages"
_YANDEX = "yandex.com/support/mail/bounces"
_MAIL_RU = "mail.ru, Postfix-like texts of its MX"
_MIMECAST = "mimecastsupport.zendesk.com, Mimecast SMTP Error Codes"
_BARRACUDA = "campus.barracuda.com, SMTP Error Codes"
_EXIM = "Exim, src/deliver.c and its default configuration"
_POSTFIX = "Postfix, smtpd(8) and smtp(8)"
_SENDMAIL = "sendmail, sysexits and proto.m4"
_QMAIL = "qmail, qmail-remote.c and qmail-local.c"
_NETEASE = "help.mail.163.com, codes of refused mail"
_RFC_5321 = "RFC 5321 §4.2.3"
_USUAL = "the usual words of several systems"


class Wording(NamedTuple):
    """`vetoes`: an address that is refused in these words is not to blame, whatever the code. `is_expiry`: it was tried
    in vain for too long."""

    bounce_class: BounceClass
    source: str
    phrases: tuple[str, ...]
    advice: Advice | None = None
    vetoes: bool = True
    is_expiry: bool = False


# What blames an address, though words stand in it that else blame something else.
_SURELY_THE_ADDRESS: Final = (
    Wording("address", "Amazon SES, of what its own list has", ("history of bouncing as an invalid address",)),
    Wording("address", "Free, hosting panels: texts of their MX",
        ("blocked due to inactivity", "disabled due to inactivity", "suspended due to inactivity",
         "deactivated due to inactivity", "locked due to inactivity", "closed due to inactivity",
         "due to long time inactivity", "noactivity", "not a member of domain", "not a subscriber of our")),
)  # fmt: skip

_NOT_THE_ADDRESS: Final = (
    Wording("policy", "RFC 7505 §4.2: the sender's domain has no mail hosts", ("5 7 27 ",), "fix_dns"),
    Wording("content", _USUAL, ("password protected", "executable file", "header error",
        "duplicate header")),
    # The sender's domain is at fault, in words that else blame recipients ("domain of sender … does not exist").
    Wording("policy", _SENDMAIL, ("domain of sender", "sender domain must",
        "sender domain not found"), "fix_dns"),
    Wording("policy", _POSTFIX, ("sender address rejected",), "fix_dns"),
    Wording("policy", _USUAL, ("batv", "backscatter", "null sender", "empty envelope", "empty sender", "bogus mail",
        "unsigned dsn", "third party dsn", "sender address does not exist", "senders address", "sender email",
        "unroutable sender", "mailfrom ", "mail from must", "mail from mismatch", "password", "credentials",
        "authentication failed")),
    Wording("policy", _USUAL, ("web address", "url address", "link address", "reply to address", "return address",
        "address of your", "address in your", "message sending for", "sending from this", "you send from",
        "you are sending from", "you claim", "from header", "from field")),
    Wording("content", _USUAL, ("url domain", "message body", "body of the message")),
    Wording("policy", "a return address in other languages", ("adresse de retour",
        "rücksendeadress", "ruecksendeadress", "dirección de retorno",
        "direccion de retorno", "indirizzo di ritorno", "lindirizzo di ritorno",
        "endereço de retorno", "endereco de retorno", "retouradres", "adres zwrotny", "adresu zwrotn", "обратный адрес",
        "обратного адрес")),
    Wording("policy", "Coremail, its replies to MAIL FROM", ("发件人地址", "發件人地址")),
    Wording("policy", "Yahoo (VS10)", ("possible forgery",)),
    Wording("policy", "a smarthost's reply to DATA (551, [@ud010102]): the account that sends", ("main account",)),
    Wording("policy", f"{_MIMECAST}: an account is one that it sends or takes mail for",
        ("outbound", "outgoing", "account inbound")),
    # Of a check that could not be made nothing is known.
    Wording("infrastructure", "OpenDMARC, policyd-spf, Google (451 4.4.3): a look-up that failed",
        ("temporary error when checking", "temporary error occurred", "temporary dmarc", "temporary spf")),
    Wording("throttled", "service.mail.qq.com: so many messages came that the mailbox is closed for a time",
        ("mailbox unavailable or access denied",)),
    Wording("policy", _USUAL, ("license", "licence")),
    # Google tells of a group that it is not there, or else not open to who writes.
    Wording("policy", "Google Groups, and who lacks a right in other languages",
        ("permission to", "autorisation", "lautorisation", "berechtig", "permiso", "permess", "permissão",
         "toestemming", "uprawni", "oprávněn", "jogosult", "behörighet", "tilladelse", "tillatelse", "разрешени",
         "нет прав", "немає прав", "権限", "权限", "權限", "권한")),
    Wording("policy", _USUAL, ("does not exist in dns",), "fix_dns"),
    Wording("infrastructure", "errno(3), as delivery programs show it", ("no such file", "no such directory",
        "error opening", "unable to chdir", "input output file", "file write error", "not be saved",
        "network is unreachable", "network is down", "operation not permitted")),
    Wording("infrastructure", f"{_MICROSOFT}: a mailbox that is being moved", ("mailboxintransit",)),
    Wording("policy", _EXIM, ("sender verify failed", "sender verification failed"), "fix_dns"),
    # A connection that was lost, whatever was said last.
    Wording("infrastructure", f"{_POSTFIX}; {_GOOGLE}", ("performing the ehlo handshake",
        "performing the helo handshake", "performing the lhlo handshake", "dropped by remote host")),
    # DNS and authentication.
    Wording(
        "policy", f"RFC 7372 §3; {_GOOGLE}; {_YAHOO}; {_APPLE}",
        ("spf ", "dkim ", "dmarc ", "sender id ", "unauthenticated", "sender policy framework",
         "authentication checks", "fails to pass authentication", "authentication results",
         "not accepted for policy reasons"), "fix_dns",
    ),
    Wording(
        "policy", f"RFC 7372 §3; {_GOOGLE}; {_GMX}; {_COMCAST}",
        ("ptr ", "reverse dns", "rdns ", "reverse lookup", "cannot find your hostname", "cannot find your reverse",
         "helo ", "ehlo ", "does not resolve to", "doesnt resolve to", "invalid dns", "bad dns", "dns mx or a",
         "dns check failed", "forward dns"), "fix_dns",
    ),
    Wording("reputation", _GOOGLE, ("very low reputation", "low reputation"), "slow_down"),
    Wording("infrastructure", "RFC 5321 §6.3", ("mail loop", "routing loop", "forwarding loop", "loops back",
        "hop count", "too many hops", "loop was found", "dns loop", "message loop", "looping message")),
    Wording("policy", _SENDMAIL, ("relaying denied ip name",), "fix_dns"),
    Wording("policy", _SENDMAIL, ("ip name lookup failed", "dns says"), "fix_dns"),
    # A name server that did not answer, or not well, may answer tomorrow.
    Wording("infrastructure", _POSTFIX, ("host not found try again", "not found try again", "name server reply",
        "dns lookup failure", "name lookup failed", "name lookup failure", "dns soft error", "servfail")),
    # The recipient's own host could not be asked yet; where that one refuses, it is an "undeliverable address".
    Wording("infrastructure", f"{_POSTFIX} (unverified_recipient_reject_code = 550)",
        ("5 1 1 recipient address rejected unverified address", "4 1 1 recipient address rejected unverified address")),
    # A host that says that waiting does not help.
    Wording("reputation", f"{_YAHOO} (TSS09, TS03)", ("retrying will not succeed",)),
    # As 5.6.7 says it (RFC 6531 §3.5), before what speaks of the address and the host in the same breath.
    Wording("content", "Courier, courieresmtp; Postfix; sendmail, of what is not ASCII",
        ("smtputf8", "international unicode", "non unicode", "8 bit character in mailbox address",
         "internationalized address", "internationalized email", "internationalized e mail")),
    # What the message says of itself, in words that else blame a host.
    Wording("content", "FortiMail, SpamExperts, Momentum: texts of their filters",
        ("blacklisted url", "a url rejected", "a url in this", "url in this email", "spam pattern", "malicious")),
    # Too much, too often, of what is no rate.
    Wording("mailbox_full", "web.de: texts of its MX", ("too many messages on the server",
        "too many messages on this mailbox", "too many messages in this mailbox", "zuviele mails auf dem server")),
    Wording("reputation", "free.fr, BellSouth, Cox: texts of their MX", ("too many spams from your ip",
        "blocked by ldap")),
    # Too much, too fast.
    Wording("throttled", "AOL: codes of its MX", ("dyn t",)),
    Wording("throttled", _COX, ("aup cxcnct", "aup cxmxrt")),
    Wording("policy", _COX, ("aup cxdns", "aup cxsndr"), "fix_dns"),
    Wording("reputation", _COX, ("aup cx", "aup ipbl", "aup cdrbl")),
    Wording("throttled", _NETEASE,
        ("hl icc", "hl itc", "hl ifc", "mi cel", "mi sfq", "mi stc", "rp cel", "rp qrc", "rp rcl", "rp trc")),
    Wording("throttled", _YAHOO,
        ("tss0", "tss1", "ts01", "ts02", "ts03", "excessive unknown recipients", "excessive userid unknowns")),
    Wording("throttled", _OUTLOOK, ("rp 001", "rp 002", "rp 003")),
    Wording("throttled", _COMCAST, ("rl00", "too many sessions")),
    Wording(
        "throttled", f"{_GOOGLE}; {_GMX}; {_APPLE}",
        ("rate limit", "rate limited", "at a rate", "mail too quickly", "unusual rate", "excessive volume",
         "unexpected volume", "sending limit", "relay limit exceeded"),
    ),
    Wording("throttled", _MICROSOFT,
        ("receive limit", "recipient thread limit", "exceeded permitted limits", "submission quota",
         "daily limit", "exceeded threshold", "concurrent connections", "connections limit")),
    Wording(
        "throttled", _USUAL,
        ("too many", "too fast", "too quickly", "too frequently", "throttl", "ratelimit", "this hour", "per hour",
         "per minute", "per day", "threshold exceeded", "messages in a short", "hourly", "maximum number of",
         "max number of", "max message per connection", "recipients exceeded", "connection limit",
         "connections exceeded", "limite de conexões", "slow down", "flood", "send limit", "frequency limit",
         "too much mail from", "trop de", "zu viele", "demasiados ", "demasiadas ", "muitas ", "muitos ",
         "troppi ", "troppe ", "te veel", "zbyt wiele", "слишком много", "превышен лимит", "过于频繁", "過於頻繁"),
    ),
    Wording("throttled", "Coremail, Aliyun, Postfix, Microsoft 365: how many at once, or in a day",
        ("sending quota", "number of rcpts", "rcpt numbers", "rate for this client", "concurrency limit",
         "thread limit", "in a short period")),
    Wording("throttled", "RFC 6647 §2", ("greylist", "graylist", "grey list", "gray list"), "retry_later"),
    Wording("throttled", f"{_MIMECAST} (451, its greylisting)", ("internal resource temporarily",
        "internal resources are temporarily"), "retry_later"),
    # No room: at the host, and in the mailbox.
    Wording("infrastructure", f"{_SENDMAIL}; {_MICROSOFT}", ("insufficient disk space", "mail system is full",
        "mail system full",
        "system storage is full", "queue quota")),
    Wording(
        "mailbox_full", f"{_RFC_5321}; {_GOOGLE}; {_YANDEX}; {_YAHOO}; {_MAIL_RU}",
        ("quota", "is full", "overquota", "mailbox full", "mailbox is full", "inbox is full", "inbox full",
         "full mailbox", "mailbox too full", "account is full", "folder is full", "maildir full",
         "mailfolder is full", "mail box full", "mail box is full", "out of storage",
         "exceeded storage allocation", "storage limit", "storage space", "storage full", "disk full",
         "disk space", "space left", "enough space", "insufficient storage", "mailbox size",
         "mailbox limit", "size of the mailbox", "mailbox has exceeded", "mailbox exceeds",
         "mailbox exceeded", "over the limit", "over limit", "allowed storage", "is over the", "full disk",
         "mailbox would exceed", "account full", "full account", "mailbag full", "exceeds allowed size",
         "space has been used", "space has used up", "space not enough", "diskspace", "too much mail",
         "mail file size", "message file too large", "allowed number of messages", "allowed message count",
         "than the space available"),
    ),
    Wording(
        "mailbox_full", "the same in other languages",
        ("boite pleine", "boîte pleine", "boite du destinataire pleine", "est pleine", "est plein ", "saturée",
         "ist voll ", "postfach voll", "mailbox voll", "überfüllt", "speicherplatz", "kapazität", "buzón lleno",
         "buzon lleno", "está lleno", "esta lleno", "está llena", "esta llena", "cuota", "casella piena",
         "casella di posta piena", "è piena", "è pieno", "caixa cheia", "caixa de correio cheia", "está cheia",
         "esta cheia", "está cheio",
         "is vol ", "jest pełna", "переполнен", "превышена квота", "ящик полон", "容量", "邮箱已满", "空间不足",
         "いっぱい", "är full ", "är fullt ", "lagringsutrymme", "er fuld ", "er fuldt ", "er full ", "er fullt ",
         "lagerplads",
         "lagringsplass", "täynnä", "kiintiö", "je plná", "je plna ", "přeplněn", "preplnen", "kvót", "megtelt",
         "tele van", "tárhely", "este plină", "este plina", "cota ", "spațiu insuficient", "είναι γεμάτ",
         "είναι πλήρ", "γεμάτ", "χωρητικότητα", "kutusu dolu", "kutusu doldu", "kota ", "kotası", "kotasi",
         "переповнен", "квот", "je pun ", "je puna ", "đã đầy", "hộp thư đầy", "penuh ", "已满", "已滿", "空間不足",
         "配额", "配額", "満杯", "上限を超え", "용량", "가득", "꽉 찼"),
    ),
    Wording(
        "infrastructure", "what does not last, in other languages",
        ("vorübergehend", "temporairement", "temporalmente", "temporaneamente", "momentaneamente", "tijdelijk",
         "tillfällig", "midlertidig", "tilapäis", "tymczasow", "chwilow", "dočasn", "ideiglenes", "átmeneti",
         "privremen", "προσωριν", "geçici", "временно", "тимчасово", "tạm thời", "sementara ", "一時的", "暂时", "暫時",
         "일시적"),
    ),
    Wording("infrastructure", _RFC_5321, ("insufficient system", "system resources", "local error in processing",
        "configuration error", "misconfigured", "incorrectly configured", "internal error", "internal server error",
        "command unrecognized", "unrecognized command", "unrecognized parameter", "bad sequence of commands",
        "protocol violation", "out of memory", "allocate memory", "i o error", "syntax error in parameters",
        "helo ehlo first", "dns resolve error")),
    # Too large.
    Wording(
        "content", f"RFC 1870 §6.1; {_GOOGLE}",
        ("message too large", "message too big", "message is too large", "message is too big",
         "message is too long", "too large", "too big", "message size", "size limit", "maximum size",
         "max size", "size exceed", "exceeds size", "exceeds the maximum", "exceeds maximum",
         "exceeded google", "message length exceeds"),
    ),
    Wording("content", "the same in other languages",
        ("trop volumineu", "trop gros", "taille limite", "zu groß", "zu gross", "demasiado grande", "troppo grande",
         "muito grande", "te groot", "слишком больш", "过大", "太大", "過大", "サイズが")),
    # Known to the receiver, and not well.
    Wording(
        "reputation", f"{_OUTLOOK}; {_MICROSOFT}",
        ("s3140", "s3150", "as3140", "as3150", "sc 001", "sc 002", "sc 003", "sc 004", "dy 001", "dy 002",
         "ou 001", "ou 002", "part of their network", "banned sending ip", "banned sender", "black ip", "bad ip",
         "invalid ip", "for this ip", "more rbls", "black mail address",
         "traffic not accepted from this ip"),
    ),
    Wording("reputation", _COMCAST, ("bl00", "es00", "bl 00", "comcast block")),
    Wording("reputation", "Orange, AOL, T-Online, GoDaddy, Cloudmark, Proofpoint: texts of their MX",
        ("adresse ip", "rtr bl ", "rtr bb ", "error code cx", "hl rep", "access from ip address",
         "ask your postmaster for help or to contact", "bizsmtp ib0",
         "blocked by csi", "blocked see ", "listed as abusive")),
    Wording("reputation", f"{_MIMECAST}; {_BARRACUDA}", ("reputation",)),
    Wording(
        "reputation", f"RFC 5782 §2; {_POSTFIX}; {_GMX}; {_YANDEX}",
        ("blocked using", "block list", "blocklist", "black list", "blacklist", "denylist", "deny list", "dnsbl",
         "rbl ", "spamhaus", "spamcop", "sorbs", "uceprotect", "is listed", "currently listed", "been listed",
         "listed by", "spam statistics", "openbl", "surbl", "known spam", "spam source", "open relay", "open proxy",
         "dynamic ip", "residential", "your ip", "ip address is", "from your ip", "sending ip", "remote ip",
         "client ip", "ip is ", "client host rejected", "client host blocked", "is currently blocked", "network is ",
         "чёрном списке", "черном списке", "черный список", "黑名单", "黑名單", "lista nera",
         "lista negra", "liste noire"),
    ),
    # The message.
    Wording(
        "content", f"{_GOOGLE}; {_YAHOO}; {_YANDEX}; {_MIMECAST}",
        ("spam", "antispam", "unsolicited", "junk ", "junk mail", "bulk mail", "virus", "malware", "phish", "dt spm",
         "message content", "security issue", "content filter", "content reject", "content denied",
         "prohibited content", "suspicio", "attachment", "banned content", "infected", "bad content",
         "message contains", "message filtered", "pattern detection", "unsafe content", "ph01",
         "dangerous", "looks like", "antyspam", "vírus", "вирус", "病毒", "contenu indésirable", "gtube", "denied cs ",
         "mcspam", "uribl"),
    ),
    Wording("content", "amavisd-new, its replies (`Reject, id=… - BANNED: …`)", ("reject id ",)),
    Wording("content", "ASSP, MessageWall, AISP: texts of their filters", ("mail score", "mime ", "invalid data",
        "mail data", "banned word", "sensitive word", "words in the message", "html tag", "url phone", "by dcc ")),
    Wording("content", "RFC 5322 §2.1.1 and §3.6", ("not rfc", "rfc 5322", "rfc 2822", "missing header", "malformed",
        "multiple subject", "multiple from header",
        "header is missing", "lines too long", "line too long", "messageid header", "message id header",
        "messages without", "character set", "header is too long", "header too long", "headers too long")),
    # The receiver does not want it.
    Wording(
        "policy", f"{_POSTFIX}; {_EXIM}; {_SENDMAIL}",
        ("relay access denied", "relaying denied", "relay not permitted", "relay denied",
         "relaying not allowed", "relay not allowed", "not permitted to relay", "unable to relay", "not a gateway",
         "relaying prohibited", "relay prohibited", "relaying is", "relaying to", "relaying for", "relaying mail",
         "we do not relay", "rcpthosts", "relaying disallowed", "relay disabled", "no relaying", "denies relay",
         "relay check", "to relay mail", "relay through", "reencaminhamento negado", "retransmissão negada"),
    ),
    Wording(
        "policy", f"{_MIMECAST}; {_GMX}; {_APPLE}; {_YAHOO}; {_YANDEX}; {_BARRACUDA}",
        ("administrative prohibition", "administratively prohibited", "policy", "policies", "blocked", "banned",
         "prohibited", "spoof", "not authorized", "not authorised", "unauthorized", "accepts mail from",
         "accepts email from", "accepts messages from", "accept email from", "accept messages from",
         "accept mails from", "not accepting mail from",
         "not accept mail from", "not permitted", "not allowed to", "are not allowed", "allowed senders",
         "not in my contacts", "does not want", "refuses to", "refused by user", "rejected by recipient",
         "rejected by user", "complain", "only members", "internal only", "local user only",
         "only allowed for local", "not allowed access", "permissions to send", "requires that you verify",
         "not verify your", "cannot verify your", "couldnt verify your", "unable to verify your",
         "failed to verify your", "auth failed", "user reject ", "for external mail", "from external", "forbidden",
         "list of senders", "sending suspended", "tls required", "tls is required", "requires tls",
         "starttls is required", "starttls first", "issue a starttls", "encryption required", "encryption is required",
         "requires encryption", "encryption needed", "non member",
         "not a member",
         "subscribers", "from outside", "vacation", "configured a filter", "restricted", "only accepts",
         "accepts mail only", "only accepting mail", "authenticat", "recipient preferences", "not subscribed",
         "members only", "closed mailing list",
         "captcha", "mass mailer", "insecure mail relay",
         "synchronization error", "refuse to receive", "organizational settings", "not accept delivery of this",
         "not accept this message"),
    ),
    # The sender is at fault: its address, domain or host does not exist.
    Wording(
        "policy", _USUAL,
            ("invalid sender", "unknown sender", "sender unknown", "sender address verification",
             "sender rejected", "sender domain", "sender does not exist", "for the sender", "for sender",
             "your domain", "your host", "your server", "your mail server", "your account", "your sending",
             "sending address", "return path", "reverse path", "bounce address", "reply address", "from address",
             "from domain", "sender callout", "for sending",
             "sending user", "sending account", "mail server ip", "from unknown", "whitelist",
             "white list", "allowlist", "allow list", "sender not", "sender is not", "sender denied", "header from"),
    ),
    Wording(
        "infrastructure", f"{_RFC_5321}; {_YAHOO}; {_EXIM}",
        ("temporar", "try later", "again later", "service unavailable", "server busy", "mailbox busy",
         "being migrated", "under maintenance", "maintenance"),
    ),
    # Whom it is for was not yet said.
    Wording("policy", _POSTFIX, ("in reply to mail from", "in reply to ehlo", "in reply to helo")),
    Wording("policy", _EXIM, ("server after mail from", "mailer after mail from", "after pipelined mail from",
        "after initial connection", "server after lhlo", "mailer after lhlo", "server after starttls",
        "mailer after starttls")),
    # Nor is it said of which of them it is said.
    Wording("policy", "bounces.NAMES_THE_SENDER, maild/outbound/sessions/replies.py",
        ("about mail from", "in reply to a message of several recipients")),
)  # fmt: skip

_EXPIRED: Final = (
    Wording(
        "infrastructure", f"{_EXIM}; {_QMAIL}; {_POSTFIX}; {_MICROSOFT}",
        ("retry timeout exceeded", "all hosts have been failing", "retry time not reached",
         "message expired", "delivery time expired", "has been in the queue too long", "too long in queue",
         "in queue too long", "within the allowed queue period", "message timed out", "delivery expired",
         "message frozen", "was undeliverable after", "gave up after", "could not be delivered for",
         "could not deliver for the last"),
        vetoes=False, is_expiry=True,
    ),
    Wording("infrastructure", "OpenSMTPD, smtpd/bounce.c and smtpd/mta.c",
        ("envelope expired", "mail expired", "network error on destination"), vetoes=False, is_expiry=True),
    Wording("infrastructure", "ZoneMTA, mx-connect", ("network error when connecting", "dns server returned general"),
        vetoes=False, is_expiry=True),
    # It calls 5.1.2 what no host answered to the last.
    Wording("infrastructure", "Haraka, outbound/hmail.js",
        ("tried all mxs", "temporary mx lookup error"), is_expiry=True),
)  # fmt: skip

_ADDRESS: Final = (
    # Postfix says the same, with 5.7.1, where its operator refuses somebody.
    Wording("address", f"{_MICROSOFT} (5.4.1)", ("recipient address rejected access denied as",
        "4 1 recipient address rejected access denied")),
    Wording("address", f"{_MICROSOFT} (5.5.0); {_RFC_5321}; {_GMX}", ("mailbox unavailable",
        "mailbox is unavailable", "mailbox unavaiable", "mailbox name not allowed")),
    Wording(
        "address", f"{_POSTFIX}; {_SENDMAIL}; {_EXIM}; {_QMAIL}",
        ("unknown user", "unknown local user", "user unknown", "no such user", "unknown local part",
         "unknown recipient", "unkown user", "no such virtual user", "invalid rcptto",
         "unrouteable address", "unroutable address", "unrouteable mail domain",
         "unroutable mail domain", "unknown virtual user", "userunknown",
         "no such person",
         "invalid final delivery userid", "matches to nameserver query", "unknown or illegal",
         "addressee unknown", "unknown address", "unknown mailbox", "unknown account", "unknown email",
         "unknown e mail"),
    ),
    Wording(
        "address", f"{_POSTFIX}; {_EXIM}; {_QMAIL}; {_GOOGLE}; RFC 7505 §4",
        ("host or domain name not found", "host unknown", "unknown host", "host not found",
         "no such domain", "domain not found", "unknown domain", "domain unknown", "domain does not exist",
         "domain doesnt exist", "couldnt find any host", "couldnt find a mail exchanger",
         "name or service not known", "non existent hosts", "nonexistent hosts",
         "indicated no smtp service", "null mx", "nullmx", "find the recipient domain", "no such host",
         "domain name not found", "no mx record", "nxdomain", "non existent domain",
         "domain does not accept", "bad destination system", "bad destination mailbox",
         "bad destination host", "no mail servers available for the domain", "no dns entries for",
         "no mail servers appear to exist", "5 4 4 invalid domain",
         "no valid mx", "recipient domain must exist", "nonexistent domain", "nonexistentdomain",
         "illegal host domain name"),
    ),
    Wording(
        "address", f"{_YAHOO}; {_COMCAST}; {_MIMECAST}; {_YANDEX}; {_MAIL_RU}",
        ("not our customer", "invalid recipient", "invalid mailbox", "invalid address", "invalid user",
         "invalid email", "invalid e mail", "no correct recipients", "no valid recipients",
         "recipient invalid", "bad address", "bad recipient", "recipient not ok", "user not ok", "mailbox not ok",
         "envelope recipient has been denied"),
    ),
    Wording(
        "address", _USUAL,
        ("no such mailbox", "not an active", "archived recipient", "missing home directory", "account is locked",
         "suspend the service", "not our user", "not in my virtual", "no user with", "cannot find a mailbox",
         "cant find a mailbox", "not hosted here", "no such recipient", "no such address", "no such account",
         "no such email", "no such e mail", "no such local", "no such alias", "no such customer", "no such id ",
         "no user here", "no users here",
         "no mailbox", "no account", "no recipient", "not a valid mailbox", "not a valid recipient",
         "not a valid user", "not a valid address", "not a valid email", "not a known user", "not a user",
         "not user of",
         "not a local", "not a deliverable", "no one at this address", "no one with that", "by that name",
         "not one of our", "handle mail for that", "know of anyone by", "no longer an employee", "nobody here",
         "no longer accepts mail", "no longer accepts email", "mailbox not accepting", "nonexistent user",
         "non existent user", "nonexistent recipient", "address not found", "recipnotfound", "recipientnotfound",
         "email account that you tried to reach", "exrecipnotfound", "recipient notfound",
         "e mail account does not exist", "name is not recognized", "name is not recognised", "badrcptto",
         "badrecipientto", "validrcptto", "is currently suspended", "extended inactivity", "mailbox is not allowed",
         "not found recipient", "dd is no longer valid", "no longer works here", "no longer works for",
         "no longer works at", "no longer employed", "no longer with us", "no longer with the company",
         "left the company", "left the organi", "left our company", "left our organi", "nonexistent mailbox",
         "non existent mailbox", "no such entry", "no user record", "account unavailable", "no mail box",
         "5 1 0 address rejected", "returned unknown recipient", "mailbox disabled", "account disabled",
         "user disabled", "disabled user", "inactive user", "inactive recipient", "dead mailbox",
         "deactivated mailbox", "mailbox inactive", "not in directory", "not in route list", "not listed in",
         "cant accept user", "account is unavailable", "user is unavailable",
         "recipient unrecogni", "user unrecogni", "address unrecogni", "unrecognized recipient", "no such mail drop",
         "not in recipient list", "unknown destination", "no redirect entry", "no recipient activity",
         "disabled mailbox", "non existant", "does not receive mail", "account not available"),
    ),
)  # fmt: skip

_WEAK: Final = (
    # What a delivery program could not do; why, may be said elsewhere ("Quota exceeded while writing").
    Wording("infrastructure", "procmail; sysexits (EX_CANTCREAT)",
        ("create user output", "create output", "error while writing"), vetoes=False),
    # Spectrum signs what it says of a mailbox with such a code, too.
    Wording("throttled", _SPECTRUM, ("aup i 13", "aup i 14", "aup in 13", "aup in 14"), vetoes=False),
    Wording("policy", _SPECTRUM, ("aup i 11", "aup in 11"), "fix_dns", vetoes=False),
    Wording("reputation", _SPECTRUM, ("aup i 10", "aup in 10", "aup i 12", "aup in 12"), vetoes=False),
    Wording("policy", _USUAL, ("access denied", "permission denied", "rejected", "refused",
        "denied"), vetoes=False),
    Wording("infrastructure", _USUAL,
        ("timed out", "timeout", "unreachable", "no route", "could not connect",
         "lost connection", "connection dropped", "network error", "not available", "unavailable"), vetoes=False),
)  # fmt: skip

# "The email account … does not exist": a name for a mailbox, and a few words later what is wrong with it.
_ABSENCES: Final = (
    "unknown", "not known", "not found", "not exist", "doesnt exist", "dont exist", "no longer exist",
    "isnt found", "be found", "wasnt found", "non existent", "nonexistent", "invalid", "not valid",
    "isnt valid", "disabled", "inactive", "deactivated", "not active", "no longer active", "terminated",
    "closed", "cancelled", "canceled", "deleted", "been removed", "was removed", "discontinued",
    "suspended", "no longer valid", "no longer in use", "no longer available", "not recogni", "not listed",
    "not local", "not present", "not here", "no longer on", "abandoned", "expired", "is wrong",
    "not registered", "not in use", "not used", "not activated", "dosnt exist", "no longer an active", "frozen",
    "were unknown", "decommissioned", "retired",
)  # fmt: skip
_MAILBOX: Final = (
    r"(?:user|recipient|mailbox|mail box|inbox|account|address|addressee|alias|person|customer|subscriber"
    r"|userid|user id|domain|rcpt)"
)
# What keeps or looks up mailboxes may fail while they are there; a command that names one, or an error, may be unknown.
_OF_MAILBOXES: Final = (
    r"(?:look ?up|verif|database|backend|server|service|table|parameter|extension|feature|quer)"
)
_CAUSE: Final = r"(?:error|reason|cause|problem|failure|exception|status|response)"
# "The user has disabled …": who does it is there.
_NOT_SAID_OF_IT: Final = r"(?<! parameter)(?<! command)(?<! option)(?<! extension)(?!(?<= has) disabled)"
_ABSENT: Final = re.compile(
    # The sender may be said to be absent as well.
    rf"(?<! your)(?<! sender)(?<! senders)(?<! from)(?<! mailfrom) {_MAILBOX}(?:es|s)?(?! {_OF_MAILBOXES})"
    rf"(?: (?!sender)[^ ]{{1,40}}){{0,6}}{_NOT_SAID_OF_IT} (?:{'|'.join(_ABSENCES)})(?! {_CAUSE})"
)
# What is wrong may stand before the mailbox, in the first words; later ones may end a sentence.
_ABSENT_BEFORE: Final = re.compile(
    r"(?: \d+)*(?: error)? (?:unavailable|inactive|disabled|deactivated|wrong|non ?existent)"
    rf"(?: mail| e ?mail| local| virtual)? {_MAILBOX}(?:es|s)? (?!{_OF_MAILBOXES})"
)
# In whatever turn: where every word may be of an address that is refused, a mailbox and what it lacks are enough.
_WHO: Final = frozenset((
    "user", "users", "recipient", "recipients", "mailbox", "mailboxes", "account", "addressee", "address", "addresses",
    "alias", "person", "customer", "customers", "subscriber", "userid", "rcpt",
))  # fmt: skip
_FAULTS: Final = frozenset(
    ("unknown", "invalid", "bad", "wrong", "illegal", "incorrect", "dead", "nonexistent")
)
_NONE: Final = frozenset(("no", "not", "isnt", "doesnt", "dont", "cant", "cannot", "nobody", "none"))
_THERE: Final = frozenset(
    ("exist", "exists", "known", "recognised", "recognized", "found", "listed", "registered")
)
_OTHERS: Final = frozenset((
    "sender", "your", "server", "lookup", "error", "host", "hostname", "domain", "path", "verification", "syntax",
    "database", "directory", "table", "map", "ldap", "machine", "mailer", "gateway",
))  # fmt: skip
_OF_AN_ADDRESS: Final = re.compile(
    rf"(?: \d+)*(?: (?:is|was|has|been|does|now|currently|already)){{0,3}} (?:{'|'.join(_ABSENCES)})"
)
_BEGINS_WITH_ADDRESS: Final = re.compile(r"[\d. ]{0,24}\W{0,3}[^\s@]{1,64}@")
_DONT_EXIST: Final = re.compile(rf" (?:dont|doesnt|not) exists? (?:that|this) {_MAILBOX} ")
_NOT_TO_BE_FOUND: Final = re.compile(
    r" (?:unable to|cannot|cant|can not|could not|couldnt|failed to) (?:find|locate|look up)"
    rf"(?: (?!your |sender)[^ ]{{1,40}}){{0,2}} {_MAILBOX}(?: |s )"
)
_TAKES_NO_MAIL: Final = re.compile(
    r" domain (?:[^ ]{1,40} ){0,4}(?:does not|doesnt) accept (?:any )?(?:e ?)?mail (?!from |for |to |with )"
)
_HAS_NO_ACCOUNT: Final = re.compile(
    r" (?:does not|doesnt|dont|do not) have an?(?: [^ ]{1,40}){0,3} (?:account|mailbox)"
)
_HOST_NOT_FOUND: Final = re.compile(
    r"(?<! your)(?<! client)(?<! sender)(?<! from) host (?!\d)(?:[^ ]{1,40} ){1,4}not found "
)
# How sendmail says that the recipient's domain has no mail hosts, by the code of a sender's (RFC 7505 §4.2).
_SENDMAILS_NULL_MX: Final = re.compile(r" 5 7 27 (?:550 )?host does not accept mail ")
_FINDING: Final = (" find ", " locate ", " look up ")
# Hosts that refuse a session say so as well: where no code of the network (RFC 3463 §3.5) stands before, who could not
# connect tells where to.
_CONNECTION_REFUSED: Final = " connection refused "
_OF_THE_NETWORK: Final = (" 4 4 ", " 5 4 ")
_NOT_CONNECTED: Final = Wording("infrastructure", _USUAL, ("connection refused",), vetoes=False)
_NO_SENDER: Final = Wording("policy", f"maild/message/reports/bounce_languages.py; {_USUAL}", ())
_NO_MAILBOX: Final = Wording("address", f"{_YAHOO}; {_GOOGLE}; {_USUAL}", _ABSENCES)

# Who is named as a sender; to whom mail goes back, and for whom advice is written, is not spoken of.
_SENDER_NAMES: Final = (" sender", " originator", " mail from ")
_SENDER: Final = re.compile(
    r"(?<! to)(?<! to the)(?<! to original) (?:sender|originator)s?"
    r" (?!guideline|requirement|support|information|help |faq )"
    r"| mail from (?:is |was )?(?:not |in|un|wrong )"
)
_RECEIVER: Final = re.compile(
    r"(?<! sender)(?<! senders)(?<! sending)(?<! your)"
    r" (?:user|recipient|rcpt|mail ?box|inbox|account|addressee|alias|person|customer|subscriber|local part)"
)

# What a URL says where words say nothing.
_LISTS: Final = (
    "spamhaus",
    "spamcop",
    "barracudacentral",
    "dnsbl",
    "sorbs",
    "senderscore",
    "blocklist",
    "abuseat",
    "delist",
)
_LISTED: Final = Wording("reputation", "RFC 5782 §2", _LISTS)

# Chinese, Japanese and Korean punctuation, which stands beside an address without a blank.
WIDE_MARKS: Final = "：；，、。．！？（）「」『』【】《》〈〉［］｜　"
_NARROW: Final = str.maketrans(dict.fromkeys(WIDE_MARKS, " "))
_APART: Final = str.maketrans(
    dict.fromkeys('<>()[]{}"“”„«»`*|\\/#=_,;:!?-‐–—~', " ") | dict.fromkeys("'’‘", "")
)


def plain_words(text: str) -> str:
    """The words of a refusal, with a blank before and after each; what is no word of its own is left out."""
    found = text[:MAX_WORDS_CHARS].lower().translate(_NARROW).split()
    words = (word if word.isalpha() else _without_names(word) for word in found)
    return f" {' '.join(' '.join(words).translate(_APART).split())} "


def _without_names(word: str) -> str:
    """Less the addresses, the URLs and the hosts."""
    if "@" in word:
        word = " ".join(part for part in word.split(":") if "@" not in part)
    elif "://" in word:
        return ""
    return "" if _is_host(word) else word.replace(".", " ")


_HOST_DOTS: Final = 2
_IP_DOTS: Final = 3
_TOLD: Final = ("recip", "nonexist", "intransit")  # Exchange tells what it means in such words


def _is_host(word: str) -> bool:
    """A name of several labels, an IPv4 address; not one dot between two sentences, nor a code."""
    dots = word.strip(".").count(".")
    if dots < _HOST_DOTS:
        return False
    return dots == _IP_DOTS or (any(map(str.isalpha, word)) and not any(told in word for told in _TOLD))


def read_words(text: str) -> Wording | None:
    """What the words of a refusal mean, by the first row that has one of them; None where none has."""
    words = plain_words(text)
    if _SENDMAILS_NULL_MX.fullmatch(words):
        return _NO_MAILBOX
    found = _TELLING.first(words)
    if found is None or found.bounce_class == "address":
        whose = missing(words)
        if whose == "sender" or _is_about_sender(words):
            return _NO_SENDER
        if found is None and (
            whose == "recipient"
            or _lacks_mailbox(words)
            or _is_named_first(words, text)
            or _is_but_a_lack(words, text)
        ):
            return _NO_MAILBOX
    is_plain_policy = found is not None and found.bounce_class == "policy" and found.advice is None
    if (found is None or is_plain_policy) and _names_a_list(text):
        return _LISTED
    if found is None and _is_not_connected(words):
        return _NOT_CONNECTED
    return found or _WEAKER.first(words)


def says_it_expired(text: str) -> bool:
    """Does a refusal, or a report, say that it was tried in vain for too long, whatever else it says?"""
    return _EXPIRY.first(plain_words(text)) is not None


def says_nothing_else(text: str, most: int, *, names: bool = False) -> bool:
    """Is there nothing in a refusal but that an address can't receive mail? `most`: so many other words say nothing.
    `names`: nor does one behind what has a name ("user ann")."""
    if other_words(text, _VOCABULARY, _NAMED if names else _NOBODY) <= most:
        return True
    words = plain_words(text)
    return _SURE.first(words) is not None or missing(words) == "recipient"


_NOBODY: Final[frozenset[str]] = frozenset()
_NAMED: Final = frozenset(
    ("user", "recipient", "mailbox", "account", "address", "alias", "person", "domain", "local-part")
)
_VOCABULARY: Final = vocabulary(
    (*(one for row in _ADDRESS for one in row.phrases), *_ABSENCES, *_FAULTS, *_NONE, *_THERE)
)
_TELLING: Final = PhraseIndex((*_SURELY_THE_ADDRESS, *_NOT_THE_ADDRESS, *_EXPIRED, *_ADDRESS))
_EXPIRY: Final = PhraseIndex(_EXPIRED)
_SURE: Final = PhraseIndex(_SURELY_THE_ADDRESS)
_WEAKER: Final = PhraseIndex(_WEAK)


def _lacks_mailbox(words: str) -> bool:
    if "have a" in words and _HAS_NO_ACCOUNT.search(words):
        return True
    if " domain " in words and _TAKES_NO_MAIL.search(words):
        return True
    if " host " in words and _HOST_NOT_FOUND.search(words):
        return True
    if any(verb in words for verb in _FINDING) and _NOT_TO_BE_FOUND.search(words):
        return True
    if _ABSENT_BEFORE.match(words) or _DONT_EXIST.search(words):
        return True
    return any(phrase in words for phrase in _ABSENCES) and _ABSENT.search(words) is not None


def _is_named_first(words: str, text: str) -> bool:
    """Does an address stand first, and what is wrong with it next?"""
    return _OF_AN_ADDRESS.match(words) is not None and _BEGINS_WITH_ADDRESS.match(text) is not None


def _is_but_a_lack(words: str, text: str) -> bool:
    """Is a mailbox spoken of, what it lacks, and nothing else?"""
    said = frozenset(words.split())
    if said.isdisjoint(_WHO) or not said.isdisjoint(_OTHERS):
        return False
    is_lacking = not said.isdisjoint(_FAULTS) or not (said.isdisjoint(_NONE) or said.isdisjoint(_THERE))
    return is_lacking and other_words(text, _VOCABULARY, _NAMED) == 0


def _is_about_sender(words: str) -> bool:
    """Do these words name a sender, and nobody who receives?"""
    if not any(name in words for name in _SENDER_NAMES) or _SENDER.search(words) is None:
        return False
    return _RECEIVER.search(words) is None


def _is_not_connected(words: str) -> bool:
    if _CONNECTION_REFUSED not in words:
        return False
    return words.startswith(_OF_THE_NETWORK) or " connect to " in words


def _names_a_list(text: str) -> bool:
    lower = text[:MAX_WORDS_CHARS].lower()
    return any(name in lower for name in _LISTS)
