"""Unique, time-sorted 64-bit IDs from Snowlane servers."""

from pkgutil import extend_path

from . import _grpc_fork as _grpc_fork  # isort: skip  # before anything that imports grpc
from ._aio_buffer import AsyncPrefetchBuffer, AsyncRunSource
from ._aio_id_client import AsyncIdClient
from ._buffer import PrefetchBuffer, RunSource
from ._buffer_stats import BufferStats
from ._client_options import TlsOptions
from ._errors import ErrorReason, SnowlaneError
from ._id_client import IdClient
from ._id_source import AsyncIdSource, IdSource
from ._layout import FieldPlace, Layout, LayoutField
from ._observer import AttemptEvent, ClientObserver, ExpireEvent, RefillEvent, State, StateEvent, WaitEvent
from ._parse import IdRange, ParsedId, id_range, parse_id
from ._presets import LAYOUTS, preset_layout
from ._public_id import PublicId
from ._run import IdRun
from ._sequence import AsyncValueSequence, ReservedValues, SequenceValue, ValueRun, ValueSequence
from ._server_info import ServerInfo
from ._status_code import StatusCode
from ._text import TEXT_FORMS, TextCodec, TextForm, TextFormat, TextReading, UuidInfo

__path__ = extend_path(__path__, __name__)
"""Besides this folder, those that a user's own stubs of `proto/` are in: protoc names their modules `snowlane.v1`."""

__all__ = [
    "LAYOUTS",
    "TEXT_FORMS",
    "AsyncIdClient",
    "AsyncIdSource",
    "AsyncPrefetchBuffer",
    "AsyncRunSource",
    "AsyncValueSequence",
    "AttemptEvent",
    "BufferStats",
    "ClientObserver",
    "ErrorReason",
    "ExpireEvent",
    "FieldPlace",
    "IdClient",
    "IdRange",
    "IdRun",
    "IdSource",
    "Layout",
    "LayoutField",
    "ParsedId",
    "PrefetchBuffer",
    "PublicId",
    "RefillEvent",
    "ReservedValues",
    "RunSource",
    "SequenceValue",
    "ServerInfo",
    "SnowlaneError",
    "State",
    "StateEvent",
    "StatusCode",
    "TextCodec",
    "TextForm",
    "TextFormat",
    "TextReading",
    "TlsOptions",
    "UuidInfo",
    "ValueRun",
    "ValueSequence",
    "WaitEvent",
    "id_range",
    "parse_id",
    "preset_layout",
]
