"""libuv ends a process that has no room for the threads on which it looks for addresses: none is begun."""

import subprocess
import sys

PROGRAM = """if True:
    import asyncio, os, socket
    from maild.event_loop import EventLoop

    async def threads_begun():
        with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
            client.setblocking(False)
            await asyncio.get_running_loop().sock_connect(client, server.getsockname())
        return len(os.listdir("/proc/self/task")) - 1

    with asyncio.Runner(loop_factory=EventLoop) as runner:
        print(runner.run(threads_begun()))
"""


def test_no_thread_is_begun_to_call_an_address() -> None:
    called = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert called.stdout.split() == ["0"]
