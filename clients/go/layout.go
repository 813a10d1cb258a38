package snowlane

import (
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	snowlanev1 "snowlane.dev/go/gen/snowlane/v1"
)

// FieldKind is what a field of a layout holds.
type FieldKind string

// The kinds of fields.
const (
	TimestampField  FieldKind = "timestamp"
	DatacenterField FieldKind = "datacenter"
	WorkerField     FieldKind = "worker"
	SequenceField   FieldKind = "sequence"
)

// LayoutField is one field of a layout.
type LayoutField struct {
	Kind FieldKind
	// Bits is its width, 1 to 62.
	Bits int
}

// LayoutSpec describes a layout to make.
type LayoutSpec struct {
	// Name is that of a preset, or `custom`.
	Name string
	// Epoch is the zero point of time: whole milliseconds, in the years 1 to 9999.
	Epoch time.Time
	// Tick is the unit of the timestamp field, 1 us to 1 h: a divisor of one millisecond, or whole milliseconds.
	Tick time.Duration
	// Fields are listed from the highest bit down; the lowest ends at bit 0. There must be a timestamp; each kind may
	// occur once; all fields together have at most 63 bits.
	Fields []LayoutField
}

// Layout is how the 63 bits of an ID are divided. [NewLayout] and [Preset] make it; it never changes.
type Layout struct {
	name    string
	epochMS int64
	tickNS  int64
	fields  []LayoutField
	bits    int

	timestamp, datacenter, worker, sequence fieldPlace
}

// fieldPlace is the position of a field in an ID; bits is 0 if the layout has no such field.
type fieldPlace struct {
	bits, shift int
	// max is its highest value; for a timestamp, the last tick of the layout's life.
	max uint64
}

func (p fieldPlace) of(id ID) uint64 {
	return uint64(id) >> p.shift & (1<<p.bits - 1)
}

const (
	nsPerMS = 1_000_000
	// 0001-01-01 and 9999-12-31T23:59:59.999Z: what google.protobuf.Timestamp can carry.
	timestampFirstMS = -62_135_596_800_000
	timestampLastMS  = 253_402_300_799_999
	// ticksMax is the most that the clients of every language can count exactly.
	ticksMax = 1<<53 - 1
)

// NewLayout makes a layout. Its life ends with its timestamp field, with the year 9999, or at 2^53 - 1 ticks, whichever
// is first. It fails with INVALID_LAYOUT.
func NewLayout(spec LayoutSpec) (*Layout, error) {
	layout := &Layout{
		name: spec.Name, epochMS: spec.Epoch.UnixMilli(), tickNS: spec.Tick.Nanoseconds(), fields: slices.Clone(spec.Fields),
	}
	if layout.epochMS < timestampFirstMS || layout.epochMS > timestampLastMS || spec.Epoch.Nanosecond()%nsPerMS != 0 {
		return nil, invalidLayout("the epoch is not a whole millisecond from year 1 to year 9999", "epoch_ms", layout.epochMS)
	}
	divides := layout.tickNS > 0 && (nsPerMS%layout.tickNS == 0 || layout.tickNS%nsPerMS == 0)
	if !divides || spec.Tick < time.Microsecond || spec.Tick > time.Hour {
		const message = "the tick is not from 1 us to 1 h, or neither divides one millisecond nor is whole milliseconds"
		return nil, invalidLayout(message, "tick_ns", layout.tickNS)
	}
	if err := layout.placeFields(); err != nil {
		return nil, err
	}
	lastTick := layout.ticksDown(timestampLastMS)
	layout.timestamp.max = min(layout.timestamp.max, uint64(lastTick), ticksMax)
	return layout, nil
}

func (l *Layout) placeFields() error {
	places := map[FieldKind]*fieldPlace{
		TimestampField: &l.timestamp, DatacenterField: &l.datacenter, WorkerField: &l.worker, SequenceField: &l.sequence,
	}
	for index := len(l.fields) - 1; index >= 0; index-- {
		field := l.fields[index]
		place := places[field.Kind]
		switch {
		case place == nil:
			return invalidLayout("there is no field kind "+string(field.Kind), "field", field.Kind)
		case field.Bits < 1 || field.Bits > 62:
			return invalidLayout(fmt.Sprintf("the %s field has %d bits; 1 to 62 are possible", field.Kind, field.Bits), "field", field.Kind)
		case place.bits > 0:
			return invalidLayout(fmt.Sprintf("the %s field occurs twice", field.Kind), "field", field.Kind)
		case field.Kind != TimestampField && field.Bits > 32:
			return invalidLayout(fmt.Sprintf("the %s field has %d bits; at most 32 are possible", field.Kind, field.Bits), "field", field.Kind)
		case l.bits+field.Bits > 63:
			return invalidLayout("the fields take more than 63 bits", "bits", l.bits+field.Bits)
		}
		*place = fieldPlace{bits: field.Bits, shift: l.bits, max: 1<<field.Bits - 1}
		l.bits += field.Bits
	}
	if l.timestamp.bits == 0 {
		return invalidLayout("the layout has no timestamp field", "field", TimestampField)
	}
	if identity := l.datacenter.bits + l.worker.bits; identity > 32 {
		return invalidLayout("datacenter and worker take more than 32 bits", "bits", identity)
	}
	return nil
}

func invalidLayout(message, key string, value any) *Error {
	return &Error{
		Reason: InvalidLayout, Code: codes.InvalidArgument, Message: message, Metadata: map[string]string{key: fmt.Sprint(value)},
	}
}

// Name of the preset, or `custom`.
func (l *Layout) Name() string { return l.name }

// Epoch is the zero point of time.
func (l *Layout) Epoch() time.Time { return time.UnixMilli(l.epochMS).UTC() }

// Tick is the unit of the timestamp field.
func (l *Layout) Tick() time.Duration { return time.Duration(l.tickNS) }

// Fields returns the fields from the highest bit down.
func (l *Layout) Fields() []LayoutField { return slices.Clone(l.fields) }

// ticksDown returns the tick in which a Unix millisecond begins, rounded down. Only for times at or after the epoch.
func (l *Layout) ticksDown(unixMS int64) int64 {
	if l.tickNS >= nsPerMS {
		return (unixMS - l.epochMS) / (l.tickNS / nsPerMS)
	}
	return (unixMS - l.epochMS) * (nsPerMS / l.tickNS)
}

// ticksUp returns the first tick that begins at or after a Unix millisecond; negative before the epoch.
func (l *Layout) ticksUp(unixMS int64) int64 {
	since := unixMS - l.epochMS
	if l.tickNS < nsPerMS {
		return since * (nsPerMS / l.tickNS)
	}
	tickMS := l.tickNS / nsPerMS
	if since <= 0 {
		return since / tickMS
	}
	return (since + tickMS - 1) / tickMS
}

// msDown returns the Unix millisecond in which a tick begins, rounded down.
func (l *Layout) msDown(ticks int64) int64 {
	if l.tickNS >= nsPerMS {
		return l.epochMS + ticks*(l.tickNS/nsPerMS)
	}
	return l.epochMS + ticks/(nsPerMS/l.tickNS)
}

// ticksPerMS is 1 where ticks are of 1 ms or more.
func (l *Layout) ticksPerMS() int64 {
	return max(1, nsPerMS/l.tickNS)
}

// timeOf returns the exact time at which a tick begins.
func (l *Layout) timeOf(ticks int64) time.Time {
	start := time.UnixMilli(l.msDown(ticks)).UTC()
	return start.Add(time.Duration(ticks % l.ticksPerMS() * (l.tickNS % nsPerMS)))
}

// compose puts the parts of an ID together; they must lie in their ranges.
func (l *Layout) compose(ticks int64, datacenter, worker, sequence uint64) ID {
	return ID(uint64(ticks)<<l.timestamp.shift | datacenter<<l.datacenter.shift | worker<<l.worker.shift | sequence<<l.sequence.shift)
}

// contains reports whether an ID has no bit outside the fields, and a time within the layout's life.
func (l *Layout) contains(id ID) bool {
	return uint64(id)>>l.bits == 0 && l.timestamp.of(id) <= l.timestamp.max
}

// layoutOfResponse reads the layout that a server reports.
func layoutOfResponse(message *snowlanev1.Layout) (*Layout, error) {
	kinds := map[snowlanev1.LayoutFieldKind]FieldKind{
		snowlanev1.LayoutFieldKind_LAYOUT_FIELD_KIND_TIMESTAMP:  TimestampField,
		snowlanev1.LayoutFieldKind_LAYOUT_FIELD_KIND_DATACENTER: DatacenterField,
		snowlanev1.LayoutFieldKind_LAYOUT_FIELD_KIND_WORKER:     WorkerField,
		snowlanev1.LayoutFieldKind_LAYOUT_FIELD_KIND_SEQUENCE:   SequenceField,
	}
	if !message.GetEpochTime().IsValid() || !message.GetTick().IsValid() {
		return nil, invalidResponse("the server did not send its layout", nil)
	}
	spec := LayoutSpec{Name: message.GetName(), Epoch: message.GetEpochTime().AsTime(), Tick: message.GetTick().AsDuration()}
	for _, field := range message.GetFields() {
		spec.Fields = append(spec.Fields, LayoutField{Kind: kinds[field.GetKind()], Bits: int(field.GetBits())})
	}
	return NewLayout(spec)
}
