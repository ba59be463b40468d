"""The command `maildc`, as it is installed. Outside of `maild_client`, of which all is read before any of it runs."""

import signal


def main() -> None:
    """The command's entry point. Who interrupts it while its modules are being read sees no traceback."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # not where it is ignored, as below nohup
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from maild_client.cli.program import main as run

    signal.signal(signal.SIGINT, handler)
    run()


if __name__ == "__main__":
    main()
