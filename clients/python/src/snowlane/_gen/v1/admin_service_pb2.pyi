from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from . import id_service_pb2 as _id_service_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class WorkerState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WORKER_STATE_UNSPECIFIED: _ClassVar[WorkerState]
    WORKER_STATE_HELD: _ClassVar[WorkerState]
    WORKER_STATE_RELEASED: _ClassVar[WorkerState]
    WORKER_STATE_EXPIRED: _ClassVar[WorkerState]
    WORKER_STATE_QUARANTINED: _ClassVar[WorkerState]
    WORKER_STATE_UNREADABLE: _ClassVar[WorkerState]
WORKER_STATE_UNSPECIFIED: WorkerState
WORKER_STATE_HELD: WorkerState
WORKER_STATE_RELEASED: WorkerState
WORKER_STATE_EXPIRED: WorkerState
WORKER_STATE_QUARANTINED: WorkerState
WORKER_STATE_UNREADABLE: WorkerState

class GetStatusRequest(_message.Message):
    __slots__ = ("after_index",)
    AFTER_INDEX_FIELD_NUMBER: _ClassVar[int]
    after_index: int
    def __init__(self, after_index: _Optional[int] = ...) -> None: ...

class GetStatusResponse(_message.Message):
    __slots__ = ("status", "samples")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    status: ServerStatus
    samples: _containers.RepeatedCompositeFieldContainer[StatusSample]
    def __init__(self, status: _Optional[_Union[ServerStatus, _Mapping]] = ..., samples: _Optional[_Iterable[_Union[StatusSample, _Mapping]]] = ...) -> None: ...

class ServerStatus(_message.Message):
    __slots__ = ("serving", "not_serving_reason", "phase", "start_time", "datacenter_id", "worker_id", "generation", "grant_time", "window_left", "lead", "store", "store_reachable", "store_answer_age", "store_clock_ahead", "waiting_count", "connection_count", "never_held_count")
    SERVING_FIELD_NUMBER: _ClassVar[int]
    NOT_SERVING_REASON_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    DATACENTER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    GRANT_TIME_FIELD_NUMBER: _ClassVar[int]
    WINDOW_LEFT_FIELD_NUMBER: _ClassVar[int]
    LEAD_FIELD_NUMBER: _ClassVar[int]
    STORE_FIELD_NUMBER: _ClassVar[int]
    STORE_REACHABLE_FIELD_NUMBER: _ClassVar[int]
    STORE_ANSWER_AGE_FIELD_NUMBER: _ClassVar[int]
    STORE_CLOCK_AHEAD_FIELD_NUMBER: _ClassVar[int]
    WAITING_COUNT_FIELD_NUMBER: _ClassVar[int]
    CONNECTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    NEVER_HELD_COUNT_FIELD_NUMBER: _ClassVar[int]
    serving: bool
    not_serving_reason: str
    phase: str
    start_time: _timestamp_pb2.Timestamp
    datacenter_id: int
    worker_id: int
    generation: int
    grant_time: _timestamp_pb2.Timestamp
    window_left: _duration_pb2.Duration
    lead: _duration_pb2.Duration
    store: str
    store_reachable: bool
    store_answer_age: _duration_pb2.Duration
    store_clock_ahead: _duration_pb2.Duration
    waiting_count: int
    connection_count: int
    never_held_count: int
    def __init__(self, serving: bool = ..., not_serving_reason: _Optional[str] = ..., phase: _Optional[str] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., datacenter_id: _Optional[int] = ..., worker_id: _Optional[int] = ..., generation: _Optional[int] = ..., grant_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., window_left: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., lead: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., store: _Optional[str] = ..., store_reachable: bool = ..., store_answer_age: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., store_clock_ahead: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., waiting_count: _Optional[int] = ..., connection_count: _Optional[int] = ..., never_held_count: _Optional[int] = ...) -> None: ...

class StatusSample(_message.Message):
    __slots__ = ("time", "ids_count", "values_count", "call_count", "error_count", "p50", "p99", "lead", "window_left", "index", "error_codes")
    TIME_FIELD_NUMBER: _ClassVar[int]
    IDS_COUNT_FIELD_NUMBER: _ClassVar[int]
    VALUES_COUNT_FIELD_NUMBER: _ClassVar[int]
    CALL_COUNT_FIELD_NUMBER: _ClassVar[int]
    ERROR_COUNT_FIELD_NUMBER: _ClassVar[int]
    P50_FIELD_NUMBER: _ClassVar[int]
    P99_FIELD_NUMBER: _ClassVar[int]
    LEAD_FIELD_NUMBER: _ClassVar[int]
    WINDOW_LEFT_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODES_FIELD_NUMBER: _ClassVar[int]
    time: _timestamp_pb2.Timestamp
    ids_count: int
    values_count: int
    call_count: int
    error_count: int
    p50: _duration_pb2.Duration
    p99: _duration_pb2.Duration
    lead: _duration_pb2.Duration
    window_left: _duration_pb2.Duration
    index: int
    error_codes: _containers.RepeatedCompositeFieldContainer[CodeCount]
    def __init__(self, time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., ids_count: _Optional[int] = ..., values_count: _Optional[int] = ..., call_count: _Optional[int] = ..., error_count: _Optional[int] = ..., p50: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., p99: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., lead: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., window_left: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., index: _Optional[int] = ..., error_codes: _Optional[_Iterable[_Union[CodeCount, _Mapping]]] = ...) -> None: ...

class CodeCount(_message.Message):
    __slots__ = ("code", "count")
    CODE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    code: int
    count: int
    def __init__(self, code: _Optional[int] = ..., count: _Optional[int] = ...) -> None: ...

class ListWorkersRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListWorkersResponse(_message.Message):
    __slots__ = ("workers", "next_page_token", "worker_id_count", "free_count", "quarantine_end_time", "quarantine_reason", "never_held_count")
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_COUNT_FIELD_NUMBER: _ClassVar[int]
    FREE_COUNT_FIELD_NUMBER: _ClassVar[int]
    QUARANTINE_END_TIME_FIELD_NUMBER: _ClassVar[int]
    QUARANTINE_REASON_FIELD_NUMBER: _ClassVar[int]
    NEVER_HELD_COUNT_FIELD_NUMBER: _ClassVar[int]
    workers: _containers.RepeatedCompositeFieldContainer[Worker]
    next_page_token: str
    worker_id_count: int
    free_count: int
    quarantine_end_time: _timestamp_pb2.Timestamp
    quarantine_reason: str
    never_held_count: int
    def __init__(self, workers: _Optional[_Iterable[_Union[Worker, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., worker_id_count: _Optional[int] = ..., free_count: _Optional[int] = ..., quarantine_end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., quarantine_reason: _Optional[str] = ..., never_held_count: _Optional[int] = ...) -> None: ...

class Worker(_message.Message):
    __slots__ = ("datacenter_id", "worker_id", "state", "holder", "generation", "mark_time", "window_left", "free_time")
    DATACENTER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    MARK_TIME_FIELD_NUMBER: _ClassVar[int]
    WINDOW_LEFT_FIELD_NUMBER: _ClassVar[int]
    FREE_TIME_FIELD_NUMBER: _ClassVar[int]
    datacenter_id: int
    worker_id: int
    state: WorkerState
    holder: WorkerHolder
    generation: int
    mark_time: _timestamp_pb2.Timestamp
    window_left: _duration_pb2.Duration
    free_time: _timestamp_pb2.Timestamp
    def __init__(self, datacenter_id: _Optional[int] = ..., worker_id: _Optional[int] = ..., state: _Optional[_Union[WorkerState, str]] = ..., holder: _Optional[_Union[WorkerHolder, _Mapping]] = ..., generation: _Optional[int] = ..., mark_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., window_left: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., free_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class WorkerHolder(_message.Message):
    __slots__ = ("instance", "host", "process_id", "start_time", "version")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    PROCESS_ID_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    instance: str
    host: str
    process_id: int
    start_time: _timestamp_pb2.Timestamp
    version: str
    def __init__(self, instance: _Optional[str] = ..., host: _Optional[str] = ..., process_id: _Optional[int] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., version: _Optional[str] = ...) -> None: ...

class ClaimPastRequest(_message.Message):
    __slots__ = ("from_time", "to_time", "lane_count", "reason")
    FROM_TIME_FIELD_NUMBER: _ClassVar[int]
    TO_TIME_FIELD_NUMBER: _ClassVar[int]
    LANE_COUNT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    from_time: _timestamp_pb2.Timestamp
    to_time: _timestamp_pb2.Timestamp
    lane_count: int
    reason: str
    def __init__(self, from_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., to_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., lane_count: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class ClaimPastResponse(_message.Message):
    __slots__ = ("lanes", "from_time", "to_time", "first_tick", "end_tick", "layout", "deployment")
    LANES_FIELD_NUMBER: _ClassVar[int]
    FROM_TIME_FIELD_NUMBER: _ClassVar[int]
    TO_TIME_FIELD_NUMBER: _ClassVar[int]
    FIRST_TICK_FIELD_NUMBER: _ClassVar[int]
    END_TICK_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    lanes: _containers.RepeatedCompositeFieldContainer[PastLane]
    from_time: _timestamp_pb2.Timestamp
    to_time: _timestamp_pb2.Timestamp
    first_tick: int
    end_tick: int
    layout: _id_service_pb2.Layout
    deployment: int
    def __init__(self, lanes: _Optional[_Iterable[_Union[PastLane, _Mapping]]] = ..., from_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., to_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., first_tick: _Optional[int] = ..., end_tick: _Optional[int] = ..., layout: _Optional[_Union[_id_service_pb2.Layout, _Mapping]] = ..., deployment: _Optional[int] = ...) -> None: ...

class PastLane(_message.Message):
    __slots__ = ("datacenter_id", "worker_id", "id_bits")
    DATACENTER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    ID_BITS_FIELD_NUMBER: _ClassVar[int]
    datacenter_id: int
    worker_id: int
    id_bits: int
    def __init__(self, datacenter_id: _Optional[int] = ..., worker_id: _Optional[int] = ..., id_bits: _Optional[int] = ...) -> None: ...
