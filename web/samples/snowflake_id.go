package snowflakeid

import (
	"fmt"
	"sync"
	"time"
)

// The layout, from the lowest bit up: how far a field is shifted, and its highest value.
const (
	epochMs         int64 = 1288834974657
	tickMs          int64 = 1
	ticksPerMs      int64 = 1
	timeShift             = 22
	timeMax         int64 = 2199023255551
	timeBits              = 41
	datacenterShift       = 17
	datacenterMax   int64 = 31
	workerShift           = 12
	workerMax       int64 = 31
	sequenceShift         = 0
	sequenceMax     int64 = 4095
	allBits               = 63
)

func check(name string, value, max int64) error {
	if value < 0 || value > max {
		return fmt.Errorf("%s is not from 0 to %d: %d", name, max, value)
	}
	return nil
}

func compose(tick, datacenter, worker, sequence int64) (int64, error) {
	for _, err := range []error{
		check("time", tick, timeMax),
		check("datacenter", datacenter, datacenterMax),
		check("worker", worker, workerMax),
		check("sequence", sequence, sequenceMax),
	} {
		if err != nil {
			return 0, err
		}
	}
	return tick<<timeShift | datacenter<<datacenterShift | worker<<workerShift | sequence<<sequenceShift, nil
}

func tickOf(unixMs int64) int64 {
	if unixMs < epochMs {
		return -1
	}
	return (unixMs - epochMs) * ticksPerMs / tickMs
}

func Make(unixMs, datacenter, worker, sequence int64) (int64, error) {
	return compose(tickOf(unixMs), datacenter, worker, sequence)
}

type Parts struct{ UnixMs, Datacenter, Worker, Sequence int64 }

func Decode(id int64) (Parts, error) {
	if err := check("ID", id, int64(uint64(1)<<allBits-1)); err != nil {
		return Parts{}, err
	}
	tick := id >> timeShift & int64(uint64(1)<<timeBits-1)
	return Parts{
		UnixMs:     epochMs + tick*tickMs/ticksPerMs,
		Datacenter: id >> datacenterShift & datacenterMax,
		Worker:     id >> workerShift & workerMax,
		Sequence:   id >> sequenceShift & sequenceMax,
	}, check("time", tick, timeMax)
}

// Generator makes IDs: ids, err := NewGenerator(0, 1), then ids.Next().
//
// They rise, and none repeats while it lives, in any number of goroutines. It keeps nothing, so these two repeat IDs,
// and nothing here sees it: a restart after the clock was set back, and a second process with the same worker ID.
type Generator struct {
	datacenter, worker int64
	mutex              sync.Mutex
	last, sequence     int64
}

func NewGenerator(datacenter, worker int64) (*Generator, error) {
	now := tickOf(time.Now().UnixMilli())
	// An earlier life may have used this tick, so it counts as full: the first ID is of the next one.
	if _, err := compose(now, datacenter, worker, sequenceMax); err != nil {
		return nil, err
	}
	return &Generator{datacenter: datacenter, worker: worker, last: now, sequence: sequenceMax}, nil
}

func (g *Generator) Next() (int64, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for {
		now := tickOf(time.Now().UnixMilli())
		switch {
		case now < g.last:
			return 0, fmt.Errorf("the clock is behind the last ID by %d ticks", g.last-now)
		case now > g.last:
			g.last, g.sequence = now, 0
		case g.sequence < sequenceMax:
			g.sequence++
		default:
			// The tick is full: wait for the next one.
			time.Sleep(100 * time.Microsecond)
			continue
		}
		return compose(now, g.datacenter, g.worker, g.sequence)
	}
}
