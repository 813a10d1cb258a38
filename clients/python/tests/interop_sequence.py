"""The command `sequence` of the interop program: docs/internals/client-contract.md has its steps."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, closing

from snowlane import AsyncIdClient, AsyncValueSequence, IdClient, SequenceValue, SnowlaneError, ValueSequence
from snowlane import ReservedValues as Reserved

_CHUNK_SIZES = {"leave": 64, "large": 65_536}
"""Of the streams that are left after their first chunk."""


def run_sequence(keys: dict[str, str]) -> dict[str, object]:
    steps = [step.split(":") for step in keys["steps"].split(",")]
    if keys.get("aio"):
        return {"results": asyncio.run(run_aio(keys["endpoints"], steps))}
    with IdClient(keys["endpoints"].split(",")) as client:
        return {"results": [run_step(client.sequence(step[1]), step) for step in steps]}


async def run_aio(endpoints: str, steps: list[list[str]]) -> list[object]:
    async with AsyncIdClient(endpoints.split(",")) as client:
        return [await run_aio_step(client.sequence(step[1]), step) for step in steps]


def count_of(step: list[str]) -> int:
    return int(step[2]) if len(step) > 2 else 1


def run_step(sequence: ValueSequence, step: list[str]) -> object:  # noqa: PLR0911
    operation, count = step[0], count_of(step)
    try:
        if operation in _CHUNK_SIZES:
            with closing(sequence.stream(count, chunk_size=_CHUNK_SIZES[operation])) as chunks:  # type: ignore[type-var]
                return {"taken": len(next(chunks))}
        if operation == "stream":
            return shown([value for values in sequence.stream(count, chunk_size=64) for value in values])
        if operation == "values":
            return shown(sequence.next_values(count))
        if operation == "text":
            return {"text": sequence.next_text()}
        if operation == "reserve":
            return shown_runs(sequence.reserve(count))
        return shown([sequence.next_value(0.2 if operation == "late" else None)])
    except SnowlaneError as error:
        return refusal(error)


async def run_aio_step(sequence: AsyncValueSequence, step: list[str]) -> object:  # noqa: PLR0911
    operation, count = step[0], count_of(step)
    try:
        if operation in _CHUNK_SIZES:
            async with aclosing(sequence.stream(count, chunk_size=_CHUNK_SIZES[operation])) as chunks:
                return {"taken": len(await anext(chunks))}
        if operation == "stream":
            return shown([value async for values in sequence.stream(count, chunk_size=64) for value in values])
        if operation == "values":
            return shown(await sequence.next_values(count))
        if operation == "text":
            return {"text": await sequence.next_text()}
        if operation == "reserve":
            return shown_runs(await sequence.reserve(count))
        return shown([await sequence.next_value(0.2 if operation == "late" else None)])
    except SnowlaneError as error:
        return refusal(error)


def shown(values: list[SequenceValue]) -> object:
    return {
        "values": [str(value.value) for value in values],
        "texts": [value.text for value in values],
        "periodKeys": [value.period_key for value in values],
    }


def shown_runs(reserved: Reserved) -> object:
    runs = [[str(run.first_value), str(run.count), str(run.increment)] for run in reserved.runs]
    return {"runs": runs, "periodKey": reserved.period_key}


def refusal(error: SnowlaneError) -> object:
    return {"reason": error.reason.value, "code": error.code.name, "metadata": error.metadata}
