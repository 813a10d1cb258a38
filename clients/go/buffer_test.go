package snowlane_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"snowlane.dev/go"
)

func TestTheFirstCallerWaitsAndTheNextOnesDoNot(t *testing.T) {
	buffer, source, _ := newFake(t, snowlane.BufferOptions{})
	if _, ok := buffer.TryNextID(); ok {
		t.Error("a new buffer has stock")
	}
	for want := snowlane.ID(1); want <= 3; want++ {
		if id := mustNext(t, buffer); id != want {
			t.Errorf("got %d, want %d", id, want)
		}
	}
	if id, ok := buffer.TryNextID(); !ok || id != 4 {
		t.Errorf("got %d %t, want 4", id, ok)
	}
	if asked := source.askedCounts(); !slices.Equal(asked, []int{32}) {
		t.Errorf("asked %v", asked)
	}
	checkBalance(t, buffer)
}

func TestAnAnswerOfSeveralRunsIsUsedInOrder(t *testing.T) {
	buffer, source, _ := newFake(t, snowlane.BufferOptions{})
	source.answer = func(int) ([]snowlane.Run, error) {
		return []snowlane.Run{{First: 100, Count: 2, Stride: 256}, {First: 7, Count: 3, Stride: 5}}, nil
	}
	ids, err := buffer.NextIDs(ctx, 5)
	if want := []snowlane.ID{100, 356, 7, 12, 17}; err != nil || !slices.Equal(ids, want) {
		t.Errorf("got %v %v, want %v", ids, err, want)
	}
}

func TestClosingTellsAllWhoWait(t *testing.T) {
	buffer, source, _ := newFake(t, snowlane.BufferOptions{})
	source.gate = make(chan struct{})
	results := make(chan error)
	for range 100 {
		go func() {
			_, err := buffer.NextID(ctx)
			results <- err
		}()
	}
	eventually(t, "all to wait", func() bool { return buffer.Stats().Waits == 100 })
	buffer.Close()
	buffer.Close()
	for range 100 {
		expectReason(t, <-results, snowlane.ClientClosed)
	}
	_, err := buffer.NextIDs(ctx, 1)
	expectReason(t, err, snowlane.ClientClosed)
	if _, ok := buffer.TryNextID(); ok {
		t.Error("a closed buffer has stock")
	}
	checkBalance(t, buffer)
}

func TestCountsOutOfRangeAreRefused(t *testing.T) {
	buffer, source, _ := newFake(t, snowlane.BufferOptions{})
	for _, count := range []int{0, -1, 1_048_577} {
		_, err := buffer.NextIDs(ctx, count)
		expectReason(t, err, snowlane.CountOutOfRange)
	}
	if asked := source.askedCounts(); len(asked) > 0 {
		t.Errorf("asked %v", asked)
	}
	for _, options := range []snowlane.BufferOptions{
		{MaxAge: time.Millisecond}, {MaxAge: time.Hour}, {CountMax: -1}, {CountMin: -1}, {CountMin: 9, CountMax: 8}, {Timeout: -1},
		{CountMax: 1_048_577},
	} {
		if _, err := snowlane.NewBuffer(source, options); err == nil {
			t.Errorf("%+v is accepted", options)
		}
	}
}

func TestTheObserverHearsWhatHappensAndCannotBreakIt(t *testing.T) {
	var refills, waits, expired atomic.Int64
	observer := &snowlane.ClientObserver{
		OnRefill: func(event snowlane.RefillEvent) { refills.Add(int64(event.Received)); panic("broken") },
		OnWait:   func(event snowlane.WaitEvent) { waits.Add(1) },
		OnExpire: func(event snowlane.ExpireEvent) { expired.Add(int64(event.Dropped)) },
	}
	buffer, _, clock := newFake(t, snowlane.BufferOptions{Observer: observer, MaxAge: 100 * time.Millisecond})
	mustNext(t, buffer)
	eventually(t, "OnRefill", func() bool { return refills.Load() == 32 })
	clock.Advance(100 * time.Millisecond)
	if waits.Load() != 1 || expired.Load() != 31 {
		t.Errorf("%d waits, %d expired", waits.Load(), expired.Load())
	}
}
