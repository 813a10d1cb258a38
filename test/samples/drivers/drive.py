"""Uses the program that Learn shows: drive.mjs has the commands."""

import sys
import threading
import time

from snowflake_id import Generator, decode, make


def print_lives(count, each):
    for _ in range(count):
        ids = Generator(0, 1)
        first = last = ids.next()
        for _ in range(each - 1):
            id = ids.next()
            if id <= last:
                sys.exit(f"{id} came after {last}")
            last = id
        print(first, last)


def outcome_of(history):
    now_ms = 1_700_000_000_000
    looks = 0

    def clock():
        nonlocal now_ms, looks
        now_ms += looks > 0
        looks += 1
        return now_ms * 1_000_000

    time.time_ns = clock
    ids = Generator(0, 1)
    for step in history:
        looks = 0
        if step == "m":
            try:
                yield str(ids.next())
            except RuntimeError:
                yield "behind"
            continue
        now_ms += {"t": 1, "b": -2, "r": 0}[step]
        if step == "r":
            ids = Generator(0, 1)
        yield "-"


def print_threads(count, each):
    ids = Generator(0, 1)
    lines = [[] for _ in range(count)]

    def draw(line):
        line.extend(ids.next() for _ in range(each))

    threads = [threading.Thread(target=draw, args=(line,)) for line in lines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for line in lines:
        print(*line)


if len(sys.argv) > 1:
    command, values = sys.argv[1], [int(text) for text in sys.argv[2:]]
    if command == "make":
        print(make(*values))
    elif command == "decode":
        for value in values:
            print(*decode(value))
    elif command == "lives":
        print_lives(*values)
    elif command == "threads":
        print_threads(*values)
    elif command == "histories":
        for line in sys.stdin.read().split():
            print(*outcome_of(line))
