package snowlane_test

import (
	"context"
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
	// answer replaces the counter's answer.
	answer func(count int) ([]snowlane.Run, error)
	// runMax is the most IDs of each run of the counter's answers.
	runMax int
	// takeTime lets the time pass that an answer takes; nil: none.
	takeTime func()
	// gate, if set, lets each answer wait for a token.
	gate chan struct{}

	mutex       sync.Mutex
	next        snowlane.ID
	asked       []int
	underWay    atomic.Int32
	underWayMax atomic.Int32
}

func (s *fakeSource) Reserve(ctx context.Context, count int) ([]snowlane.Run, error) {
	now := s.underWay.Add(1)
	defer s.underWay.Add(-1)
	if now > s.underWayMax.Load() {
		s.underWayMax.Store(now)
	}
	if s.takeTime != nil {
		s.takeTime()
	}
	s.mutex.Lock()
	s.asked = append(s.asked, count)
	answer, gate := s.answer, s.gate
	s.mutex.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if answer != nil {
		return answer(count)
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
	return runs, nil
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

// hastyClock is the clock of this machine, but that a test may set it forward.
type hastyClock struct {
	ahead atomic.Int64
}

func (c *hastyClock) Now() time.Time {
	return time.Now().Add(time.Duration(c.ahead.Load()))
}

func (c *hastyClock) AfterFunc(d time.Duration, f func()) func() {
	timer := time.AfterFunc(d, f)
	return func() { timer.Stop() }
}

// newHasty returns a buffer on this machine's clock, and its source: each answer seems to take the given time.
func newHasty(t *testing.T, took time.Duration, options snowlane.BufferOptions) (*snowlane.Buffer, *fakeSource) {
	t.Helper()
	clock := &hastyClock{}
	source := &fakeSource{takeTime: func() { clock.ahead.Add(int64(took)) }}
	options.Clock = clock
	options.Random = func() float64 { return 0 }
	buffer, err := snowlane.NewBuffer(source, options)
	if err != nil {
		t.Fatal(err)
	}
	return buffer, source
}

func newFake(t *testing.T, options snowlane.BufferOptions) (*snowlane.Buffer, *fakeSource, *snowlanetest.Clock) {
	t.Helper()
	clock := &snowlanetest.Clock{}
	source := &fakeSource{}
	options.Clock = clock
	// The tests count by answers of 32.
	if options.CountMin == 0 && options.CountMax == 0 {
		options.CountMin = 32
	}
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
