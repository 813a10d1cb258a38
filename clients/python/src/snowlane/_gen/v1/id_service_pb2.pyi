from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TextForm(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TEXT_FORM_UNSPECIFIED: _ClassVar[TextForm]
    TEXT_FORM_DECIMAL: _ClassVar[TextForm]
    TEXT_FORM_HEX: _ClassVar[TextForm]
    TEXT_FORM_BASE32: _ClassVar[TextForm]
    TEXT_FORM_BASE58: _ClassVar[TextForm]
    TEXT_FORM_BASE62: _ClassVar[TextForm]
    TEXT_FORM_SERIAL_NUMBER: _ClassVar[TextForm]
    TEXT_FORM_UUID: _ClassVar[TextForm]
    TEXT_FORM_TYPED: _ClassVar[TextForm]

class LayoutFieldKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LAYOUT_FIELD_KIND_UNSPECIFIED: _ClassVar[LayoutFieldKind]
    LAYOUT_FIELD_KIND_TIMESTAMP: _ClassVar[LayoutFieldKind]
    LAYOUT_FIELD_KIND_DATACENTER: _ClassVar[LayoutFieldKind]
    LAYOUT_FIELD_KIND_WORKER: _ClassVar[LayoutFieldKind]
    LAYOUT_FIELD_KIND_SEQUENCE: _ClassVar[LayoutFieldKind]

class RollbackPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROLLBACK_POLICY_UNSPECIFIED: _ClassVar[RollbackPolicy]
    ROLLBACK_POLICY_ADVANCE: _ClassVar[RollbackPolicy]
    ROLLBACK_POLICY_REJECT: _ClassVar[RollbackPolicy]
    ROLLBACK_POLICY_WAIT: _ClassVar[RollbackPolicy]
    ROLLBACK_POLICY_LOGICAL: _ClassVar[RollbackPolicy]
    ROLLBACK_POLICY_REUSE: _ClassVar[RollbackPolicy]

class Ordering(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ORDERING_UNSPECIFIED: _ClassVar[Ordering]
    ORDERING_RISING_PER_WORKER: _ClassVar[Ordering]
    ORDERING_UNORDERED_WITHIN_REUSE_SPAN: _ClassVar[Ordering]
TEXT_FORM_UNSPECIFIED: TextForm
TEXT_FORM_DECIMAL: TextForm
TEXT_FORM_HEX: TextForm
TEXT_FORM_BASE32: TextForm
TEXT_FORM_BASE58: TextForm
TEXT_FORM_BASE62: TextForm
TEXT_FORM_SERIAL_NUMBER: TextForm
TEXT_FORM_UUID: TextForm
TEXT_FORM_TYPED: TextForm
LAYOUT_FIELD_KIND_UNSPECIFIED: LayoutFieldKind
LAYOUT_FIELD_KIND_TIMESTAMP: LayoutFieldKind
LAYOUT_FIELD_KIND_DATACENTER: LayoutFieldKind
LAYOUT_FIELD_KIND_WORKER: LayoutFieldKind
LAYOUT_FIELD_KIND_SEQUENCE: LayoutFieldKind
ROLLBACK_POLICY_UNSPECIFIED: RollbackPolicy
ROLLBACK_POLICY_ADVANCE: RollbackPolicy
ROLLBACK_POLICY_REJECT: RollbackPolicy
ROLLBACK_POLICY_WAIT: RollbackPolicy
ROLLBACK_POLICY_LOGICAL: RollbackPolicy
ROLLBACK_POLICY_REUSE: RollbackPolicy
ORDERING_UNSPECIFIED: Ordering
ORDERING_RISING_PER_WORKER: Ordering
ORDERING_UNORDERED_WITHIN_REUSE_SPAN: Ordering

class TextFormat(_message.Message):
    __slots__ = ("form", "serial_prefix", "utc_offset_minutes", "check_symbol", "type_prefix")
    FORM_FIELD_NUMBER: _ClassVar[int]
    SERIAL_PREFIX_FIELD_NUMBER: _ClassVar[int]
    UTC_OFFSET_MINUTES_FIELD_NUMBER: _ClassVar[int]
    CHECK_SYMBOL_FIELD_NUMBER: _ClassVar[int]
    TYPE_PREFIX_FIELD_NUMBER: _ClassVar[int]
    form: TextForm
    serial_prefix: str
    utc_offset_minutes: int
    check_symbol: bool
    type_prefix: str
    def __init__(self, form: _Optional[_Union[TextForm, str]] = ..., serial_prefix: _Optional[str] = ..., utc_offset_minutes: _Optional[int] = ..., check_symbol: bool = ..., type_prefix: _Optional[str] = ...) -> None: ...

class TextValue(_message.Message):
    __slots__ = ("form", "text")
    FORM_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    form: TextForm
    text: str
    def __init__(self, form: _Optional[_Union[TextForm, str]] = ..., text: _Optional[str] = ...) -> None: ...

class NextIdRequest(_message.Message):
    __slots__ = ("text_format",)
    TEXT_FORMAT_FIELD_NUMBER: _ClassVar[int]
    text_format: TextFormat
    def __init__(self, text_format: _Optional[_Union[TextFormat, _Mapping]] = ...) -> None: ...

class NextIdResponse(_message.Message):
    __slots__ = ("id", "text", "deployment")
    ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    id: int
    text: str
    deployment: int
    def __init__(self, id: _Optional[int] = ..., text: _Optional[str] = ..., deployment: _Optional[int] = ...) -> None: ...

class NextIdsRequest(_message.Message):
    __slots__ = ("count", "text_format")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    TEXT_FORMAT_FIELD_NUMBER: _ClassVar[int]
    count: int
    text_format: TextFormat
    def __init__(self, count: _Optional[int] = ..., text_format: _Optional[_Union[TextFormat, _Mapping]] = ...) -> None: ...

class NextIdsResponse(_message.Message):
    __slots__ = ("ids", "texts", "deployment")
    IDS_FIELD_NUMBER: _ClassVar[int]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[int]
    texts: _containers.RepeatedScalarFieldContainer[str]
    deployment: int
    def __init__(self, ids: _Optional[_Iterable[int]] = ..., texts: _Optional[_Iterable[str]] = ..., deployment: _Optional[int] = ...) -> None: ...

class BatchNextIdsRequest(_message.Message):
    __slots__ = ("count", "chunk_size", "text_format")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    CHUNK_SIZE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FORMAT_FIELD_NUMBER: _ClassVar[int]
    count: int
    chunk_size: int
    text_format: TextFormat
    def __init__(self, count: _Optional[int] = ..., chunk_size: _Optional[int] = ..., text_format: _Optional[_Union[TextFormat, _Mapping]] = ...) -> None: ...

class BatchNextIdsResponse(_message.Message):
    __slots__ = ("ids", "texts", "deployment")
    IDS_FIELD_NUMBER: _ClassVar[int]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[int]
    texts: _containers.RepeatedScalarFieldContainer[str]
    deployment: int
    def __init__(self, ids: _Optional[_Iterable[int]] = ..., texts: _Optional[_Iterable[str]] = ..., deployment: _Optional[int] = ...) -> None: ...

class ReserveIdsRequest(_message.Message):
    __slots__ = ("count",)
    COUNT_FIELD_NUMBER: _ClassVar[int]
    count: int
    def __init__(self, count: _Optional[int] = ...) -> None: ...

class ReserveIdsResponse(_message.Message):
    __slots__ = ("runs", "deployment")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[IdRun]
    deployment: int
    def __init__(self, runs: _Optional[_Iterable[_Union[IdRun, _Mapping]]] = ..., deployment: _Optional[int] = ...) -> None: ...

class IdRun(_message.Message):
    __slots__ = ("first_id", "count", "stride")
    FIRST_ID_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    STRIDE_FIELD_NUMBER: _ClassVar[int]
    first_id: int
    count: int
    stride: int
    def __init__(self, first_id: _Optional[int] = ..., count: _Optional[int] = ..., stride: _Optional[int] = ...) -> None: ...

class LayoutField(_message.Message):
    __slots__ = ("kind", "bits")
    KIND_FIELD_NUMBER: _ClassVar[int]
    BITS_FIELD_NUMBER: _ClassVar[int]
    kind: LayoutFieldKind
    bits: int
    def __init__(self, kind: _Optional[_Union[LayoutFieldKind, str]] = ..., bits: _Optional[int] = ...) -> None: ...

class Layout(_message.Message):
    __slots__ = ("name", "epoch_time", "tick", "fields")
    NAME_FIELD_NUMBER: _ClassVar[int]
    EPOCH_TIME_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    name: str
    epoch_time: _timestamp_pb2.Timestamp
    tick: _duration_pb2.Duration
    fields: _containers.RepeatedCompositeFieldContainer[LayoutField]
    def __init__(self, name: _Optional[str] = ..., epoch_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., tick: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., fields: _Optional[_Iterable[_Union[LayoutField, _Mapping]]] = ...) -> None: ...

class LayoutMatch(_message.Message):
    __slots__ = ("name", "create_time")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    name: str
    create_time: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ParseRequest(_message.Message):
    __slots__ = ("id", "text", "layout", "source_form", "utc_offset_minutes", "type_prefix")
    ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FORM_FIELD_NUMBER: _ClassVar[int]
    UTC_OFFSET_MINUTES_FIELD_NUMBER: _ClassVar[int]
    TYPE_PREFIX_FIELD_NUMBER: _ClassVar[int]
    id: int
    text: str
    layout: Layout
    source_form: TextForm
    utc_offset_minutes: int
    type_prefix: str
    def __init__(self, id: _Optional[int] = ..., text: _Optional[str] = ..., layout: _Optional[_Union[Layout, _Mapping]] = ..., source_form: _Optional[_Union[TextForm, str]] = ..., utc_offset_minutes: _Optional[int] = ..., type_prefix: _Optional[str] = ...) -> None: ...

class ParseResponse(_message.Message):
    __slots__ = ("id", "source_form", "create_time", "timestamp_ticks", "datacenter_id", "worker_id", "sequence", "layout", "texts", "uuid", "plausible_layouts", "bits", "source_prefix", "foreign")
    ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FORM_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_TICKS_FIELD_NUMBER: _ClassVar[int]
    DATACENTER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    UUID_FIELD_NUMBER: _ClassVar[int]
    PLAUSIBLE_LAYOUTS_FIELD_NUMBER: _ClassVar[int]
    BITS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_PREFIX_FIELD_NUMBER: _ClassVar[int]
    FOREIGN_FIELD_NUMBER: _ClassVar[int]
    id: int
    source_form: TextForm
    create_time: _timestamp_pb2.Timestamp
    timestamp_ticks: int
    datacenter_id: int
    worker_id: int
    sequence: int
    layout: Layout
    texts: _containers.RepeatedCompositeFieldContainer[TextValue]
    uuid: UuidInfo
    plausible_layouts: _containers.RepeatedCompositeFieldContainer[LayoutMatch]
    bits: str
    source_prefix: str
    foreign: ForeignText
    def __init__(self, id: _Optional[int] = ..., source_form: _Optional[_Union[TextForm, str]] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., timestamp_ticks: _Optional[int] = ..., datacenter_id: _Optional[int] = ..., worker_id: _Optional[int] = ..., sequence: _Optional[int] = ..., layout: _Optional[_Union[Layout, _Mapping]] = ..., texts: _Optional[_Iterable[_Union[TextValue, _Mapping]]] = ..., uuid: _Optional[_Union[UuidInfo, _Mapping]] = ..., plausible_layouts: _Optional[_Iterable[_Union[LayoutMatch, _Mapping]]] = ..., bits: _Optional[str] = ..., source_prefix: _Optional[str] = ..., foreign: _Optional[_Union[ForeignText, _Mapping]] = ...) -> None: ...

class ForeignText(_message.Message):
    __slots__ = ("kind", "create_time", "parts")
    class PartsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    KIND_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    kind: str
    create_time: _timestamp_pb2.Timestamp
    parts: _containers.ScalarMap[str, str]
    def __init__(self, kind: _Optional[str] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., parts: _Optional[_Mapping[str, str]] = ...) -> None: ...

class UuidInfo(_message.Message):
    __slots__ = ("version", "variant", "create_time", "clock_sequence", "node", "is_snowlane")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    VARIANT_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    CLOCK_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    IS_SNOWLANE_FIELD_NUMBER: _ClassVar[int]
    version: int
    variant: str
    create_time: _timestamp_pb2.Timestamp
    clock_sequence: int
    node: str
    is_snowlane: bool
    def __init__(self, version: _Optional[int] = ..., variant: _Optional[str] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., clock_sequence: _Optional[int] = ..., node: _Optional[str] = ..., is_snowlane: bool = ...) -> None: ...

class GetIdRangeRequest(_message.Message):
    __slots__ = ("start_time", "end_time", "layout")
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    layout: Layout
    def __init__(self, start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., layout: _Optional[_Union[Layout, _Mapping]] = ...) -> None: ...

class GetIdRangeResponse(_message.Message):
    __slots__ = ("first_id", "last_id")
    FIRST_ID_FIELD_NUMBER: _ClassVar[int]
    LAST_ID_FIELD_NUMBER: _ClassVar[int]
    first_id: int
    last_id: int
    def __init__(self, first_id: _Optional[int] = ..., last_id: _Optional[int] = ...) -> None: ...

class GetInfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetInfoResponse(_message.Message):
    __slots__ = ("layout", "datacenter_id", "worker_id", "rollback_policy", "ordering", "exhaustion_time", "limits", "version", "deployment_fingerprint", "binding")
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    DATACENTER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    ROLLBACK_POLICY_FIELD_NUMBER: _ClassVar[int]
    ORDERING_FIELD_NUMBER: _ClassVar[int]
    EXHAUSTION_TIME_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    layout: Layout
    datacenter_id: int
    worker_id: int
    rollback_policy: RollbackPolicy
    ordering: Ordering
    exhaustion_time: _timestamp_pb2.Timestamp
    limits: Limits
    version: str
    deployment_fingerprint: str
    binding: WorkerBinding
    def __init__(self, layout: _Optional[_Union[Layout, _Mapping]] = ..., datacenter_id: _Optional[int] = ..., worker_id: _Optional[int] = ..., rollback_policy: _Optional[_Union[RollbackPolicy, str]] = ..., ordering: _Optional[_Union[Ordering, str]] = ..., exhaustion_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., limits: _Optional[_Union[Limits, _Mapping]] = ..., version: _Optional[str] = ..., deployment_fingerprint: _Optional[str] = ..., binding: _Optional[_Union[WorkerBinding, _Mapping]] = ...) -> None: ...

class WorkerBinding(_message.Message):
    __slots__ = ("datacenter_ids", "worker_ids")
    DATACENTER_IDS_FIELD_NUMBER: _ClassVar[int]
    WORKER_IDS_FIELD_NUMBER: _ClassVar[int]
    datacenter_ids: _containers.RepeatedScalarFieldContainer[int]
    worker_ids: WorkerIdRange
    def __init__(self, datacenter_ids: _Optional[_Iterable[int]] = ..., worker_ids: _Optional[_Union[WorkerIdRange, _Mapping]] = ...) -> None: ...

class WorkerIdRange(_message.Message):
    __slots__ = ("first", "last")
    FIRST_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    first: int
    last: int
    def __init__(self, first: _Optional[int] = ..., last: _Optional[int] = ...) -> None: ...

class Limits(_message.Message):
    __slots__ = ("reserve_count_max", "batch_count_max", "chunk_size_max", "next_count_max")
    RESERVE_COUNT_MAX_FIELD_NUMBER: _ClassVar[int]
    BATCH_COUNT_MAX_FIELD_NUMBER: _ClassVar[int]
    CHUNK_SIZE_MAX_FIELD_NUMBER: _ClassVar[int]
    NEXT_COUNT_MAX_FIELD_NUMBER: _ClassVar[int]
    reserve_count_max: int
    batch_count_max: int
    chunk_size_max: int
    next_count_max: int
    def __init__(self, reserve_count_max: _Optional[int] = ..., batch_count_max: _Optional[int] = ..., chunk_size_max: _Optional[int] = ..., next_count_max: _Optional[int] = ...) -> None: ...
