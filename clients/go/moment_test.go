package snowlane_test

import (
	"sync/atomic"
	"testing"
	"time"

	"snowlane.dev/go"
	"snowlane.dev/go/snowlanetest"
)

func TestASuspendThatWasLongerThanMaxAgeLeavesNoIDInASlowBuffer(t *testing.T) {
	buffer, _, clock := newFake(t, snowlane.BufferOptions{})
	if id := mustNext(t, buffer); id != 1 {
		t.Fatalf("got %d", id)
	}
	clock.Suspend(4 * time.Second)
	if id := mustNext(t, buffer); id != 2 {
		t.Errorf("got %d, want 2: it is young enough", id)
	}
	clock.Suspend(time.Second)
	if id := mustNext(t, buffer); id != 33 {
		t.Errorf("got %d, want 33", id)
	}
	if stats := buffer.Stats(); stats.HandedOut != 3 || stats.Dropped != 30 {
		t.Errorf("%+v", stats)
	}
	clock.Suspend(time.Hour)
	if ids, err := buffer.NextIDs(ctx, 2); err != nil || ids[0] != 65 || ids[1] != 66 {
		t.Errorf("%d %v", ids, err)
	}
	checkBalance(t, buffer)
}

func TestASuspendLeavesAtMost63IDsInAFastBuffer(t *testing.T) {
	for name, prepare := range map[string]func(buffer *snowlane.Buffer){
		"above the mark": func(*snowlane.Buffer) {},
		"below the mark": func(buffer *snowlane.Buffer) {
			for refills := buffer.Stats().Refills; buffer.Stats().Refills == refills && !buffer.IsRefilling(); {
				mustNext(t, buffer)
			}
		},
		"spread": func(buffer *snowlane.Buffer) {
			buffer.SpreadCallers()
			mustNext(t, buffer)
		},
	} {
		trial := newOutageTrial(t, snowlane.BufferOptions{})
		trial.run(5*time.Second, 20_000)
		prepare(trial.buffer)
		trial.settle()
		reserved := trial.buffer.Stats().Reserved
		trial.clock.Suspend(time.Hour)
		old := 0
		for range 1_000 {
			if uint64(mustNext(t, trial.buffer)) <= reserved {
				old++
			}
		}
		if old > 63 {
			t.Errorf("%s: %d IDs were too old", name, old)
		}
		checkBalance(t, trial.buffer)
	}
}

// countedClock counts how often it is read.
type countedClock struct {
	snowlanetest.Clock
	readings atomic.Int64
}

func (c *countedClock) Now() time.Time {
	c.readings.Add(1)
	return c.Clock.Now()
}

func TestAFastBufferReadsTheClockForOneIDIn64BelowTheMarkToo(t *testing.T) {
	clock, source := &countedClock{}, &fakeSource{}
	buffer, err := snowlane.NewBuffer(source, snowlane.BufferOptions{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer buffer.Close()
	trial := &outageTrial{t, buffer, source, &clock.Clock, map[snowlane.ID]bool{}}
	trial.run(5*time.Second, 20_000)
	const count = 20_000
	before := clock.readings.Load()
	for range count {
		mustNext(t, buffer)
	}
	// Twice as many as the claims have: the reservations read it, too.
	if readings := clock.readings.Load() - before; readings < count/64 || readings > count/32 {
		t.Errorf("%d readings for %d IDs", readings, count)
	}
}

func TestAStepOfTheWallClockDropsNoStock(t *testing.T) {
	buffer, _, clock := newFake(t, snowlane.BufferOptions{})
	mustNext(t, buffer)
	for _, step := range []time.Duration{time.Hour, -2 * time.Hour} {
		clock.StepWall(step)
		mustNext(t, buffer)
	}
	if stats := buffer.Stats(); stats.Dropped != 0 || stats.HandedOut != 3 {
		t.Errorf("%+v", stats)
	}
}
