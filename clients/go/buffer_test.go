package snowlane_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"snowlane.dev/go"
	"snowlane.dev/go/snowlanetest"
)

// fakeSource reserves from one rising counter, as a server does, and remembers what it was asked.
type fakeSource struct {
	clock interface{ Now() time.Time }
	// answer stands in for the counter.
	answer func(count int) ([]snowlane.Run, error)
	// runMax cuts the counter's answers into runs of so many.
	runMax int
	// age makes answers look older than they are.
	age time.Duration
	// gate, if set, lets each answer wait for a token.
	gate chan struct{}

	mutex       sync.Mutex
	next        snowlane.ID
	asked       []int
	underWay    atomic.Int32
	underWayMax atomic.Int32
}

func (s *fakeSource) Reserve(ctx context.Context, count int) (snowlane.Reservation, error) {
	now := s.underWay.Add(1)
	defer s.underWay.Add(-1)
	if now > s.underWayMax.Load() {
		s.underWayMax.Store(now)
	}
	sentAt := s.clock.Now().Add(-s.age)
	s.mutex.Lock()
	s.asked = append(s.asked, count)
	answer, gate := s.answer, s.gate
	s.mutex.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return snowlane.Reservation{}, ctx.Err()
		}
	}
	if answer != nil {
		runs, err := answer(count)
		return snowlane.Reservation{Runs: runs, SentAt: sentAt}, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var runs []snowlane.Run
	for left := count; left > 0; {
		size := left
		if s.runMax > 0 {
			size = min(left, s.runMax)
		}
		runs = append(runs, snowlane.Run{First: s.next + 1, Count: size, Stride: 1})
		s.next += snowlane.ID(size)
		left -= size
	}
	return snowlane.Reservation{Runs: runs, SentAt: sentAt}, nil
}

func (s *fakeSource) setAnswer(answer func(count int) ([]snowlane.Run, error)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.answer = answer
}

func (s *fakeSource) askedCounts() []int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.asked)
}

type systemTime struct{}

func (systemTime) Now() time.Time { return time.Now() }

func newFake(t *testing.T, options snowlane.BufferOptions) (*snowlane.Buffer, *fakeSource, *snowlanetest.Clock) {
	t.Helper()
	clock := &snowlanetest.Clock{}
	source := &fakeSource{clock: clock}
	options.Clock = clock
	if options.Random == nil {
		options.Random = func() float64 { return 0.5 }
	}
	buffer, err := snowlane.NewBuffer(source, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { buffer.Close() })
	return buffer, source, clock
}

func mustNext(t *testing.T, buffer *snowlane.Buffer) snowlane.ID {
	t.Helper()
	id, err := buffer.NextID(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// eventually waits for what other goroutines bring about.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

func checkBalance(t *testing.T, buffer *snowlane.Buffer) {
	t.Helper()
	if s := buffer.Stats(); s.HandedOut+s.Dropped+s.Stock != s.Reserved || s.Stock > s.Reserved {
		t.Errorf("the counters do not add up: %+v", s)
	}
}

func expectReason(t *testing.T, err error, reason snowlane.Reason) {
	t.Helper()
	if snowlane.ReasonOf(err) != reason {
		t.Errorf("got %v, want %s", err, reason)
	}
}

func down(retryAfter time.Duration) func(int) ([]snowlane.Run, error) {
	return func(int) ([]snowlane.Run, error) {
		return nil, &snowlane.Error{Reason: snowlane.StoreUnavailable, Code: codes.Unavailable, RetryAfter: retryAfter}
	}
}

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

func TestAgeCountsFromSending(t *testing.T) {
	buffer, source, clock := newFake(t, snowlane.BufferOptions{MaxAge: 100 * time.Millisecond})
	source.age = 60 * time.Millisecond
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
	source.age = 100 * time.Millisecond
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
	observer := &snowlane.Observer{
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

// The storms: callers on answers that expire 0.3 ms after they came, some of the callers cancelled.
func TestNoIDTwice(t *testing.T) {
	total := 3_200_000
	if testing.Short() {
		total = 640_000
	}
	for _, callers := range []int{64, 1_000} {
		t.Run(fmt.Sprint(callers), func(t *testing.T) { storm(t, callers, total/callers, false) })
		t.Run(fmt.Sprint(callers, " spread"), func(t *testing.T) { storm(t, callers, total/callers, true) })
	}
}

func storm(t *testing.T, callers, each int, isSpread bool) {
	const maxAge = 10 * time.Millisecond
	source := &fakeSource{clock: systemTime{}, age: maxAge - 300*time.Microsecond, runMax: 4_096}
	buffer, err := snowlane.NewBuffer(source, snowlane.BufferOptions{
		MaxAge: maxAge, CountMin: 20_000, Random: func() float64 { return 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer buffer.Close()
	got := make([][]snowlane.ID, callers)
	var cancelled atomic.Int64
	var group sync.WaitGroup
	for caller := range callers {
		group.Add(1)
		go func() {
			defer group.Done()
			random := rand.New(rand.NewPCG(uint64(caller), 1))
			for len(got[caller]) < each {
				if isSpread && random.IntN(64) == 0 {
					buffer.SpreadCallers()
				}
				got[caller] = append(got[caller], take(t, buffer, random, &cancelled)...)
			}
		}()
	}
	group.Wait()
	total := uint64(0)
	buffer.Close()
	source.mutex.Lock()
	seen := make([]uint64, (source.next+64)/64)
	source.mutex.Unlock()
	for _, ids := range got {
		total += uint64(len(ids))
		for _, id := range ids {
			if seen[id/64]&(1<<(id%64)) != 0 {
				t.Fatalf("%d came twice", id)
			}
			seen[id/64] |= 1 << (id % 64)
		}
	}
	stats := buffer.Stats()
	t.Logf("%d IDs, %d calls cancelled, %+v", total, cancelled.Load(), stats)
	// What a block had claimed when its deadline passed is a gap.
	if gaps := stats.HandedOut - total; gaps > 100*uint64(cancelled.Load()) {
		t.Errorf("%d handed out, %d came", stats.HandedOut, total)
	}
	if stats.Dropped+stats.RefillFailures == 0 {
		t.Error("nothing expired")
	}
	if most := source.underWayMax.Load(); most != 1 {
		t.Errorf("%d reservations at once", most)
	}
	checkBalance(t, buffer)
}

// take takes IDs by one of the three ways, now and then with a deadline that may pass.
func take(t *testing.T, buffer *snowlane.Buffer, random *rand.Rand, cancelled *atomic.Int64) []snowlane.ID {
	var ids []snowlane.ID
	var err error
	switch choice := random.IntN(64); choice {
	case 0:
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Microsecond)
		defer cancel()
		ids = make([]snowlane.ID, 1)
		ids[0], err = buffer.NextID(ctx)
	case 1:
		if id, ok := buffer.TryNextID(); ok {
			ids = append(ids, id)
		}
	case 2:
		ids, err = buffer.NextIDs(ctx, 1+random.IntN(100))
	default:
		ids = make([]snowlane.ID, 1)
		ids[0], err = buffer.NextID(ctx)
	}
	if err == nil {
		return ids
	}
	if reason := snowlane.ReasonOf(err); reason != snowlane.DeadlineExceeded {
		t.Error(err)
	}
	cancelled.Add(1)
	return nil
}
