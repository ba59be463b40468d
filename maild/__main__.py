"""`python -m maild` is `maild`.

OpenSSL reads its configuration when the first module asks for it, hence before all others here.
"""

import os
from pathlib import Path

import conf

os.environ.setdefault("OPENSSL_CONF", str(Path(conf.__file__).with_name("openssl.cnf")))

from maild.cli.program import main

if __name__ == "__main__":
    main()
