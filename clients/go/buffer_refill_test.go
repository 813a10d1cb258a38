package snowlane_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"snowlane.dev/go"
)

func TestTheNextAnswerIsAskedForOnceAQuarterIsLeft(t *testing.T) {
	for _, runMax := range []int{1, 3, 8, 24, 31, 32} {
		buffer, source, _ := newFake(t, snowlane.BufferOptions{})
		source.runMax = runMax
		for range 24 {
			mustNext(t, buffer)
		}
		if asked := source.askedCounts(); len(asked) != 1 {
			t.Errorf("runs of %d: asked %v before the mark", runMax, asked)
		}
		mustNext(t, buffer)
		eventually(t, "the second reservation", func() bool { return buffer.Stats().Refills == 2 })
		for range 7 {
			mustNext(t, buffer)
		}
		if asked := source.askedCounts(); len(asked) != 2 {
			t.Errorf("runs of %d: asked %v", runMax, asked)
		}
		checkBalance(t, buffer)
	}
}

func TestABlockThatJumpsOverTheMarkAsks(t *testing.T) {
	buffer, _, _ := newFake(t, snowlane.BufferOptions{})
	if _, err := buffer.NextIDs(ctx, 30); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the second reservation", func() bool { return buffer.Stats().Refills == 2 })
}

func TestNoIDIsOlderThanMaxAge(t *testing.T) {
	buffer, _, clock := newFake(t, snowlane.BufferOptions{MaxAge: 100 * time.Millisecond})
	mustNext(t, buffer)
	clock.Advance(99 * time.Millisecond)
	if id := mustNext(t, buffer); id != 2 {
		t.Errorf("got %d, want 2", id)
	}
	clock.Advance(time.Millisecond)
	if id := mustNext(t, buffer); id != 33 {
		t.Errorf("got %d, want 33", id)
	}
	if dropped := buffer.Stats().Dropped; dropped != 30 {
		t.Errorf("%d dropped, want 30", dropped)
	}
	checkBalance(t, buffer)
}

func TestAgeCountsFromWhenTheSourceWasAsked(t *testing.T) {
	buffer, source, clock := newFake(t, snowlane.BufferOptions{MaxAge: 100 * time.Millisecond})
	source.takeTime = func() { clock.Advance(60 * time.Millisecond) }
	mustNext(t, buffer)
	clock.Advance(39 * time.Millisecond)
	if id, ok := buffer.TryNextID(); !ok || id != 2 {
		t.Errorf("got %d %t, want 2", id, ok)
	}
	clock.Advance(time.Millisecond)
	if id, ok := buffer.TryNextID(); ok && id < 33 {
		t.Errorf("got %d after its time", id)
	}
}

func TestALateAnswerIsDroppedWhole(t *testing.T) {
	buffer, source, clock := newFake(t, snowlane.BufferOptions{MaxAge: 100 * time.Millisecond})
	source.takeTime = func() { clock.Advance(100 * time.Millisecond) }
	result := make(chan error)
	go func() {
		_, err := buffer.NextID(ctx)
		result <- err
	}()
	eventually(t, "a failure", func() bool { return buffer.Stats().RefillFailures == 1 })
	clock.Advance(5 * time.Second)
	expectReason(t, <-result, snowlane.DeadlineExceeded)
	if stats := buffer.Stats(); stats.Reserved != 0 || stats.HandedOut != 0 {
		t.Errorf("%+v", stats)
	}
}

func TestABufferThatNobodyUsesGoesToSleep(t *testing.T) {
	buffer, source, clock := newFake(t, snowlane.BufferOptions{MaxAge: 100 * time.Millisecond})
	mustNext(t, buffer)
	clock.Advance(100 * time.Millisecond)
	eventually(t, "the second reservation", func() bool { return buffer.Stats().Refills == 2 })
	for range 20 {
		clock.Advance(100 * time.Millisecond)
	}
	if asked := source.askedCounts(); len(asked) != 2 {
		t.Errorf("asked %v", asked)
	}
	if id := mustNext(t, buffer); id != 65 {
		t.Errorf("got %d, want 65", id)
	}
}

func TestCancellingACallerCancelsNoReservation(t *testing.T) {
	buffer, source, _ := newFake(t, snowlane.BufferOptions{})
	source.gate = make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	result := make(chan error)
	go func() {
		_, err := buffer.NextID(ctx)
		result <- err
	}()
	eventually(t, "a reservation under way", func() bool { return source.underWay.Load() == 1 })
	cancel()
	err := <-result
	expectReason(t, err, snowlane.Cancelled)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not context.Canceled", err)
	}
	close(source.gate)
	if id := mustNext(t, buffer); id != 1 {
		t.Errorf("got %d, want 1", id)
	}
	if asked := source.askedCounts(); len(asked) != 1 {
		t.Errorf("asked %v", asked)
	}
}

func TestTheDeadlineGivesTheLastFailure(t *testing.T) {
	buffer, source, clock := newFake(t, snowlane.BufferOptions{Timeout: time.Second})
	source.setAnswer(down(0))
	result := make(chan error)
	go func() {
		_, err := buffer.NextID(ctx)
		result <- err
	}()
	for failures := range uint64(3) {
		eventually(t, "a failure", func() bool { return buffer.Stats().RefillFailures > failures })
		clock.Advance(100 * time.Millisecond << failures)
	}
	clock.Advance(300 * time.Millisecond)
	expectReason(t, <-result, snowlane.StoreUnavailable)
}

func TestTheDeadlineWithoutAFailure(t *testing.T) {
	buffer, source, _ := newFake(t, snowlane.BufferOptions{})
	source.gate = make(chan struct{})
	ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	_, err := buffer.NextID(ctx)
	expectReason(t, err, snowlane.DeadlineExceeded)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v is not context.DeadlineExceeded", err)
	}
}

func TestWhatWaitingCannotCureIsToldAtOnce(t *testing.T) {
	for _, code := range []codes.Code{
		codes.InvalidArgument, codes.Unauthenticated, codes.PermissionDenied, codes.FailedPrecondition, codes.Unimplemented,
	} {
		buffer, source, _ := newFake(t, snowlane.BufferOptions{})
		source.setAnswer(func(int) ([]snowlane.Run, error) {
			return nil, &snowlane.Error{Reason: snowlane.MethodDenied, Code: code}
		})
		_, err := buffer.NextID(ctx)
		expectReason(t, err, snowlane.MethodDenied)
	}
}

func TestStockOutlivesFailures(t *testing.T) {
	buffer, source, clock := newFake(t, snowlane.BufferOptions{})
	mustNext(t, buffer)
	source.setAnswer(down(0))
	for range 25 {
		mustNext(t, buffer)
	}
	for failures := range uint64(4) {
		eventually(t, "a failure", func() bool { return buffer.Stats().RefillFailures > failures })
		clock.Advance(100*time.Millisecond<<failures - 1)
		if asked := len(source.askedCounts()); asked != int(failures)+2 {
			t.Errorf("asked %d times after %d failures", asked, failures+1)
		}
		clock.Advance(1)
	}
	if id := mustNext(t, buffer); id != 27 {
		t.Errorf("got %d, want 27", id)
	}
	// The fifth, too: a wait that began after the clock went on would never end.
	eventually(t, "a failure", func() bool { return buffer.Stats().RefillFailures > 4 })
	source.setAnswer(nil)
	clock.Advance(3 * time.Second)
	eventually(t, "new stock", func() bool { return buffer.Stats().Stock > 5 })
}

func TestRetryInfoIsWaitedFor(t *testing.T) {
	buffer, source, clock := newFake(t, snowlane.BufferOptions{Random: func() float64 { return 0 }})
	source.setAnswer(down(400 * time.Millisecond))
	result := make(chan snowlane.ID)
	go func() {
		id, _ := buffer.NextID(ctx)
		result <- id
	}()
	eventually(t, "a failure", func() bool { return buffer.Stats().RefillFailures == 1 })
	clock.Advance(399 * time.Millisecond)
	if asked := source.askedCounts(); len(asked) != 1 {
		t.Errorf("asked %v", asked)
	}
	source.setAnswer(nil)
	clock.Advance(time.Millisecond)
	if id := <-result; id != 1 {
		t.Errorf("got %d, want 1", id)
	}
}

func TestAnswersThatCannotBeAreRefusedWhole(t *testing.T) {
	const top = snowlane.MaxID
	bad := [][]snowlane.Run{
		{},
		{{First: 1, Count: 0, Stride: 1}},
		{{First: 1, Count: -1, Stride: 1}},
		{{First: 1, Count: 1, Stride: 0}},
		{{First: top + 1, Count: 1, Stride: 1}},
		{{First: top - 1, Count: 3, Stride: 1}},
		{{First: 1, Count: 33, Stride: 1}},
		{{First: 1, Count: 30, Stride: 1}, {First: 100, Count: 3, Stride: 1}},
		{{First: 1, Count: 2, Stride: 1 << 63}},
		{{First: 1, Count: 30, Stride: 1 << 62}},
		{{First: 1, Count: 2, Stride: 1}, {First: 2, Count: 2, Stride: 1}},
		{{First: 50, Count: 2, Stride: 1}, {First: 5, Count: 16, Stride: 3}},
		{{First: top, Count: 1, Stride: 1}, {First: top, Count: 1, Stride: 1}},
	}
	for _, runs := range bad {
		buffer, source, _ := newFake(t, snowlane.BufferOptions{})
		source.setAnswer(func(int) ([]snowlane.Run, error) { return runs, nil })
		if id, ok := buffer.TryNextID(); ok {
			t.Errorf("%v: got %d", runs, id)
		}
		eventually(t, "the answer to be refused", func() bool { return buffer.Stats().RefillFailures == 1 })
		ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		_, err := buffer.NextID(ctx)
		cancel()
		expectReason(t, err, snowlane.InvalidResponse)
		if reserved := buffer.Stats().Reserved; reserved != 0 {
			t.Errorf("%v: %d reserved", runs, reserved)
		}
	}
	buffer, source, _ := newFake(t, snowlane.BufferOptions{})
	source.setAnswer(func(int) ([]snowlane.Run, error) { return []snowlane.Run{{First: top, Count: 1, Stride: 1 << 63}}, nil })
	if id := mustNext(t, buffer); id != top {
		t.Errorf("got %d, want the highest ID", id)
	}
}
