package snowlane_test

import (
	"testing"
	"time"

	"snowlane.dev/go"
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
	trial := newOutageTrial(t, snowlane.BufferOptions{})
	trial.run(5*time.Second, 20_000)
	reserved := trial.buffer.Stats().Reserved
	trial.clock.Suspend(time.Hour)
	old := 0
	for range 1_000 {
		if uint64(mustNext(t, trial.buffer)) <= reserved {
			old++
		}
	}
	if old > 63 {
		t.Errorf("%d IDs were too old", old)
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
