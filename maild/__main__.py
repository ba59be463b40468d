"""`python -m maild` is `maild`.

OpenSSL reads its configuration when the first module asks for it, and Python where it is to write the keys of TLS
sessions, hence before all others here.
"""

import os
import signal
from pathlib import Path

import conf

os.environ.setdefault("OPENSSL_CONF", str(Path(conf.__file__).with_name("openssl.cnf")))
os.environ.pop("SSLKEYLOGFILE", None)  # who has these keys reads all mail and API keys that go by


def main() -> None:
    """The command's entry point. Who interrupts it while its modules are being read sees no traceback."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # not where it is ignored, as below nohup
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from maild import logs
    from maild.cli.program import main as run

    logs.configure_for_commands()
    signal.signal(signal.SIGINT, handler)
    run(prog_name="maild")


if __name__ == "__main__":
    main()
