"""
A relay to a TCP server of this machine that can make the kernel drop every packet of the connections that stand, as a
network does: nothing is acknowledged, and nobody is told. Arguments: the server's port. Prints its own port. Each line
on standard input drops the packets of all connections so far, and is answered by a line with their number.
"""

import ctypes
import socket
import struct
import sys
import threading

SO_ATTACH_FILTER = 26
# One instruction of a packet filter: keep no byte of any packet (BPF_RET, 0).
DROP_ALL = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
PROGRAM = struct.pack("HP", 1, ctypes.addressof(DROP_ALL))

connections: list[socket.socket] = []


def pump(source: socket.socket, target: socket.socket) -> None:
    """Passes bytes on until one side ends."""
    try:
        while data := source.recv(65_536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def accept(listener: socket.socket, port: int) -> None:
    """Takes connections, each with one of its own to the server."""
    while True:
        client, _ = listener.accept()
        try:
            server = socket.create_connection(("127.0.0.1", port))
        except OSError:
            client.close()
            continue
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connections.append(client)
        for pair in ((client, server), (server, client)):
            threading.Thread(target=pump, args=pair, daemon=True).start()


listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=accept, args=(listener, int(sys.argv[1])), daemon=True).start()
print(listener.getsockname()[1], flush=True)
for _ in sys.stdin:
    for connection in connections:
        try:
            connection.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, PROGRAM)
        except OSError:
            pass
    print(len(connections), flush=True)
