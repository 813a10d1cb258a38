package snowlane

import (
	"fmt"
	"math/big"
	"time"

	"google.golang.org/grpc/codes"
)

// ParsedID has the parts of an ID, as read by a layout.
type ParsedID struct {
	ID     ID
	Layout *Layout
	// Ticks since the layout's epoch.
	Ticks int64
	// CreateTime is when the ID's tick began, UTC, exact.
	CreateTime time.Time
	// DatacenterID, WorkerID and Sequence are -1 where the layout has no such field.
	DatacenterID, WorkerID, Sequence int64
}

// Parse reads an ID: when and by which worker it was made. It cannot tell whether the ID was ever issued. It fails with
// MALFORMED_ID if the ID has bit 63 or a bit outside every field, or has a time after the layout's end.
func (l *Layout) Parse(id ID) (ParsedID, error) {
	switch {
	case id > MaxID:
		return ParsedID{}, l.malformedID(id, "is not from 0 to 2^63 - 1")
	case uint64(id)>>l.bits != 0:
		return ParsedID{}, l.malformedID(id, fmt.Sprintf("has more than the layout's %d bits", l.bits))
	case !l.contains(id):
		return ParsedID{}, l.malformedID(id, "has a time after the layout's end")
	}
	ticks := int64(l.timestamp.of(id))
	return ParsedID{
		ID: id, Layout: l, Ticks: ticks, CreateTime: l.timeOf(ticks),
		DatacenterID: l.datacenter.orAbsent(id), WorkerID: l.worker.orAbsent(id), Sequence: l.sequence.orAbsent(id),
	}, nil
}

func (p fieldPlace) orAbsent(id ID) int64 {
	if p.bits == 0 {
		return -1
	}
	return int64(p.of(id))
}

func (l *Layout) malformedID(id ID, why string) *Error {
	return &Error{
		Reason: MalformedID, Code: codes.InvalidArgument, Message: fmt.Sprintf("the ID %d %s", id, why),
		Metadata: map[string]string{"id": id.String(), "layout": l.name},
	}
}

// IDRange returns the lowest and the highest ID, both inclusive, that the interval from start to before end can hold,
// for range queries over stored IDs. Neighbouring intervals give neighbouring ranges. It fails with INVALID_TIME_RANGE
// if no tick of the layout's life begins in the interval.
func (l *Layout) IDRange(start, end time.Time) (first, last ID, err error) {
	firstTick := l.clampedTick(start)
	endTick := l.clampedTick(end)
	if !start.Before(end) || firstTick >= endTick {
		why := "holds no tick of the layout " + l.name
		if !start.Before(end) {
			why = "is empty or reversed"
		}
		return 0, 0, &Error{
			Reason: InvalidTimeRange, Code: codes.InvalidArgument, Message: fmt.Sprintf("the interval from %v to %v %s", start, end, why),
			Metadata: map[string]string{"start_ns": unixNS(start), "end_ns": unixNS(end), "layout": l.name},
		}
	}
	return l.compose(firstTick, 0, 0, 0), l.compose(endTick-1, l.datacenter.max, l.worker.max, l.sequence.max), nil
}

// clampedTick returns the first tick that begins at or after a time, from 0 to one past the layout's life.
func (l *Layout) clampedTick(t time.Time) int64 {
	end := int64(l.timestamp.max) + 1
	switch {
	case t.Before(l.Epoch()):
		return 0
	case t.After(time.UnixMilli(timestampLastMS)):
		return end
	}
	ticks := l.ticksUp(t.UnixMilli())
	if rest := int64(t.Nanosecond() % nsPerMS); rest > 0 {
		if l.tickNS < nsPerMS {
			ticks += (rest + l.tickNS - 1) / l.tickNS
		} else {
			ticks = l.ticksUp(t.UnixMilli() + 1)
		}
	}
	return min(ticks, end)
}

// unixNS returns Unix nanoseconds in decimal digits, for any year.
func unixNS(t time.Time) string {
	ns := new(big.Int).Mul(big.NewInt(t.Unix()), big.NewInt(1_000_000_000))
	return ns.Add(ns, big.NewInt(int64(t.Nanosecond()))).String()
}
