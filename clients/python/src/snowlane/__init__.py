"""Unique, time-sorted 64-bit IDs from Snowlane servers."""

from . import grpc_fork as _grpc_fork  # isort: skip  # noqa: F401  # before anything that imports grpc
from .aio_buffer import AsyncPrefetchBuffer, AsyncRunSource
from .aio_id_client import AsyncIdClient
from .buffer import PrefetchBuffer, RunSource
from .client_options import ClientOptions, TlsOptions
from .errors import ErrorReason, SnowlaneError
from .id_client import IdClient
from .id_source import AsyncIdSource, IdSource
from .layout import FieldPlace, Layout, LayoutField
from .observer import Attempt, ClientObserver, Refill, Wait
from .options import PrefetchOptions
from .parse import IdRange, ParsedId, id_range, parse_id
from .presets import LAYOUTS, preset_layout
from .public_id import PublicId
from .run import IdRun
from .stock import BufferStats
from .text import TEXT_FORMS, TextCodec, TextForm, TextFormat, TextReading, UuidInfo

__all__ = [
    "LAYOUTS",
    "TEXT_FORMS",
    "AsyncIdClient",
    "AsyncIdSource",
    "AsyncPrefetchBuffer",
    "AsyncRunSource",
    "Attempt",
    "BufferStats",
    "ClientObserver",
    "ClientOptions",
    "ErrorReason",
    "FieldPlace",
    "IdClient",
    "IdRange",
    "IdRun",
    "IdSource",
    "Layout",
    "LayoutField",
    "ParsedId",
    "PrefetchBuffer",
    "PrefetchOptions",
    "PublicId",
    "Refill",
    "RunSource",
    "SnowlaneError",
    "TextCodec",
    "TextForm",
    "TextFormat",
    "TextReading",
    "TlsOptions",
    "UuidInfo",
    "Wait",
    "id_range",
    "parse_id",
    "preset_layout",
]
