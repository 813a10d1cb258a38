from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Allocation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ALLOCATION_UNSPECIFIED: _ClassVar[Allocation]
    ALLOCATION_SEGMENTS: _ClassVar[Allocation]
    ALLOCATION_STRICT: _ClassVar[Allocation]

class Period(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PERIOD_UNSPECIFIED: _ClassVar[Period]
    PERIOD_NONE: _ClassVar[Period]
    PERIOD_DAY: _ClassVar[Period]
    PERIOD_MONTH: _ClassVar[Period]
    PERIOD_YEAR: _ClassVar[Period]
    PERIOD_WEEK: _ClassVar[Period]
    PERIOD_QUARTER: _ClassVar[Period]
ALLOCATION_UNSPECIFIED: Allocation
ALLOCATION_SEGMENTS: Allocation
ALLOCATION_STRICT: Allocation
PERIOD_UNSPECIFIED: Period
PERIOD_NONE: Period
PERIOD_DAY: Period
PERIOD_MONTH: Period
PERIOD_YEAR: Period
PERIOD_WEEK: Period
PERIOD_QUARTER: Period

class Sequence(_message.Message):
    __slots__ = ("name", "description", "start_value", "increment", "value_max", "allocation", "step_min", "step_max", "period", "time_zone", "text_template", "disabled", "create_time", "update_time", "etag", "next_value", "left_count", "year_start", "late_max", "closed_before", "epoch")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    START_VALUE_FIELD_NUMBER: _ClassVar[int]
    INCREMENT_FIELD_NUMBER: _ClassVar[int]
    VALUE_MAX_FIELD_NUMBER: _ClassVar[int]
    ALLOCATION_FIELD_NUMBER: _ClassVar[int]
    STEP_MIN_FIELD_NUMBER: _ClassVar[int]
    STEP_MAX_FIELD_NUMBER: _ClassVar[int]
    PERIOD_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_FIELD_NUMBER: _ClassVar[int]
    TEXT_TEMPLATE_FIELD_NUMBER: _ClassVar[int]
    DISABLED_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    NEXT_VALUE_FIELD_NUMBER: _ClassVar[int]
    LEFT_COUNT_FIELD_NUMBER: _ClassVar[int]
    YEAR_START_FIELD_NUMBER: _ClassVar[int]
    LATE_MAX_FIELD_NUMBER: _ClassVar[int]
    CLOSED_BEFORE_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    start_value: int
    increment: int
    value_max: int
    allocation: Allocation
    step_min: int
    step_max: int
    period: Period
    time_zone: str
    text_template: str
    disabled: bool
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    etag: str
    next_value: int
    left_count: int
    year_start: str
    late_max: _duration_pb2.Duration
    closed_before: str
    epoch: int
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., start_value: _Optional[int] = ..., increment: _Optional[int] = ..., value_max: _Optional[int] = ..., allocation: _Optional[_Union[Allocation, str]] = ..., step_min: _Optional[int] = ..., step_max: _Optional[int] = ..., period: _Optional[_Union[Period, str]] = ..., time_zone: _Optional[str] = ..., text_template: _Optional[str] = ..., disabled: bool = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., etag: _Optional[str] = ..., next_value: _Optional[int] = ..., left_count: _Optional[int] = ..., year_start: _Optional[str] = ..., late_max: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., closed_before: _Optional[str] = ..., epoch: _Optional[int] = ...) -> None: ...

class CreateSequenceRequest(_message.Message):
    __slots__ = ("sequence",)
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    sequence: Sequence
    def __init__(self, sequence: _Optional[_Union[Sequence, _Mapping]] = ...) -> None: ...

class CreateSequenceResponse(_message.Message):
    __slots__ = ("sequence",)
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    sequence: Sequence
    def __init__(self, sequence: _Optional[_Union[Sequence, _Mapping]] = ...) -> None: ...

class GetSequenceRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetSequenceResponse(_message.Message):
    __slots__ = ("sequence",)
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    sequence: Sequence
    def __init__(self, sequence: _Optional[_Union[Sequence, _Mapping]] = ...) -> None: ...

class ListSequencesRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "name_prefix")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    NAME_PREFIX_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    name_prefix: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., name_prefix: _Optional[str] = ...) -> None: ...

class ListSequencesResponse(_message.Message):
    __slots__ = ("sequences", "next_page_token", "stop_reason")
    SEQUENCES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STOP_REASON_FIELD_NUMBER: _ClassVar[int]
    sequences: _containers.RepeatedCompositeFieldContainer[Sequence]
    next_page_token: str
    stop_reason: str
    def __init__(self, sequences: _Optional[_Iterable[_Union[Sequence, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., stop_reason: _Optional[str] = ...) -> None: ...

class UpdateSequenceRequest(_message.Message):
    __slots__ = ("sequence", "update_mask")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    sequence: Sequence
    update_mask: _field_mask_pb2.FieldMask
    def __init__(self, sequence: _Optional[_Union[Sequence, _Mapping]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ...) -> None: ...

class UpdateSequenceResponse(_message.Message):
    __slots__ = ("sequence",)
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    sequence: Sequence
    def __init__(self, sequence: _Optional[_Union[Sequence, _Mapping]] = ...) -> None: ...

class NextValueRequest(_message.Message):
    __slots__ = ("name", "for_time")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FOR_TIME_FIELD_NUMBER: _ClassVar[int]
    name: str
    for_time: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., for_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class NextValueResponse(_message.Message):
    __slots__ = ("value", "text", "period_key", "database")
    VALUE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PERIOD_KEY_FIELD_NUMBER: _ClassVar[int]
    DATABASE_FIELD_NUMBER: _ClassVar[int]
    value: int
    text: str
    period_key: str
    database: int
    def __init__(self, value: _Optional[int] = ..., text: _Optional[str] = ..., period_key: _Optional[str] = ..., database: _Optional[int] = ...) -> None: ...

class BatchNextValuesRequest(_message.Message):
    __slots__ = ("name", "count", "chunk_size")
    NAME_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    CHUNK_SIZE_FIELD_NUMBER: _ClassVar[int]
    name: str
    count: int
    chunk_size: int
    def __init__(self, name: _Optional[str] = ..., count: _Optional[int] = ..., chunk_size: _Optional[int] = ...) -> None: ...

class BatchNextValuesResponse(_message.Message):
    __slots__ = ("values", "texts", "period_key", "database")
    VALUES_FIELD_NUMBER: _ClassVar[int]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    PERIOD_KEY_FIELD_NUMBER: _ClassVar[int]
    DATABASE_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[int]
    texts: _containers.RepeatedScalarFieldContainer[str]
    period_key: str
    database: int
    def __init__(self, values: _Optional[_Iterable[int]] = ..., texts: _Optional[_Iterable[str]] = ..., period_key: _Optional[str] = ..., database: _Optional[int] = ...) -> None: ...

class ReserveValuesRequest(_message.Message):
    __slots__ = ("name", "count")
    NAME_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    name: str
    count: int
    def __init__(self, name: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...

class ReserveValuesResponse(_message.Message):
    __slots__ = ("runs", "period_key", "database")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    PERIOD_KEY_FIELD_NUMBER: _ClassVar[int]
    DATABASE_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[ValueRun]
    period_key: str
    database: int
    def __init__(self, runs: _Optional[_Iterable[_Union[ValueRun, _Mapping]]] = ..., period_key: _Optional[str] = ..., database: _Optional[int] = ...) -> None: ...

class ValueRun(_message.Message):
    __slots__ = ("first_value", "count", "increment")
    FIRST_VALUE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    INCREMENT_FIELD_NUMBER: _ClassVar[int]
    first_value: int
    count: int
    increment: int
    def __init__(self, first_value: _Optional[int] = ..., count: _Optional[int] = ..., increment: _Optional[int] = ...) -> None: ...
