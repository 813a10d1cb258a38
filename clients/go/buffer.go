package snowlane

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
)

// BufferOptions says how a buffer works. The zero value means the defaults.
type BufferOptions struct {
	// MaxAge is the oldest that the reservation of an ID may be when it is handed out: 10 ms to 60 s. Default: 5 s.
	MaxAge time.Duration
	// CountMin and CountMax bound one reservation: 1 to 1,048,576 IDs. Defaults: 32 and 65,536.
	CountMin, CountMax int
	// Timeout is how long a caller may wait for stock whose context has no deadline. Default: the client's.
	Timeout time.Duration
	// Observer, Clock and Random: default those of the client. Random gives numbers from 0 to below 1, from any goroutine.
	Observer *Observer
	Clock    Clock
	Random   func() float64
}

// BufferStats is a snapshot of the counters of a buffer. Reserved = HandedOut + Dropped + Stock.
type BufferStats struct {
	HandedOut, Reserved uint64
	// Dropped grew too old, or were dropped by Close.
	Dropped uint64
	// Refills succeeded, RefillFailures did not.
	Refills, RefillFailures uint64
	// Waits counts callers who found no stock.
	Waits uint64
	// Stock is the IDs at hand.
	Stock         uint64
	RatePerSecond float64
	MeanRTT       time.Duration
}

const nextIDsMax = 1_048_576

// Buffer hands out IDs from memory and reserves more behind the scenes, before they run out. An ID goes to at most one caller, whatever is
// cancelled. It is safe for any number of goroutines, and used by pointer. clients/README.md in the repository has the rules.
type Buffer struct {
	_ noCopy
	// run is the one to claim from; never nil.
	run atomic.Pointer[claimableRun]

	source   RunSource
	clock    Clock
	random   func() float64
	observer *Observer
	maxAge   time.Duration
	timeout  time.Duration
	// closing ends the reservation under way.
	closing context.Context
	close   context.CancelFunc

	mutex         sync.Mutex
	policy        refillPolicy
	answer, spare *answer
	isRefilling   bool
	// stopRetry is set while the buffer holds back after a failure.
	stopRetry     func()
	failuresInRow int
	lastFailure   *Error
	// arrival is closed when waiters are to look again.
	arrival       *arrival
	waiters       int
	measuredAt    time.Time
	measuredCount uint64
	// settled is what was handed out of runs that are no longer in place.
	settled                                           uint64
	reserved, dropped, refills, refillFailures, waits uint64
}

// arrival wakes those who wait: for stock, or for a failure that no waiting cures.
type arrival struct {
	woken   chan struct{}
	failure *Error
}

// noCopy makes `go vet` complain when its owner is copied.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// NewBuffer makes a buffer that draws from any source. [Client.Prefetch] is the usual way to one.
func NewBuffer(source RunSource, options BufferOptions) (*Buffer, error) {
	setDefault(&options.MaxAge, 5*time.Second)
	setDefault(&options.CountMax, 65_536)
	setDefault(&options.CountMin, min(32, options.CountMax))
	setDefault(&options.Timeout, 5*time.Second)
	switch {
	case options.MaxAge < 10*time.Millisecond || options.MaxAge > time.Minute:
		return nil, fmt.Errorf("snowlane: MaxAge is %v: it must lie between 10 ms and 60 s", options.MaxAge)
	case options.CountMax < 1 || options.CountMax > nextIDsMax:
		return nil, fmt.Errorf("snowlane: CountMax is %d: it must lie between 1 and %d", options.CountMax, nextIDsMax)
	case options.CountMin < 1 || options.CountMin > options.CountMax:
		return nil, fmt.Errorf("snowlane: CountMin is %d: it must lie between 1 and CountMax", options.CountMin)
	case options.Timeout < 0:
		return nil, fmt.Errorf("snowlane: Timeout is %v: it must be above 0", options.Timeout)
	}
	buffer := &Buffer{
		source:   source,
		clock:    options.Clock,
		random:   options.Random,
		observer: options.Observer,
		maxAge:   options.MaxAge,
		timeout:  options.Timeout,
		policy:   refillPolicy{countMin: options.CountMin, countMax: options.CountMax},
		arrival:  newArrival(),
	}
	if buffer.clock == nil {
		buffer.clock = systemClock{}
	}
	if buffer.random == nil {
		buffer.random = rand.Float64
	}
	if buffer.observer == nil {
		buffer.observer = &Observer{}
	}
	buffer.closing, buffer.close = context.WithCancel(context.Background())
	buffer.measuredAt = buffer.clock.Now()
	buffer.run.Store(&claimableRun{})
	return buffer, nil
}

func setDefault[T comparable](option *T, value T) {
	var zero T
	if *option == zero {
		*option = value
	}
}

func newArrival() *arrival {
	return &arrival{woken: make(chan struct{})}
}

// NextID hands out one ID: at once from stock; when dry it waits for a reservation until the context ends.
//
// It fails with CLIENT_CLOSED, CANCELLED; at the deadline with the last failure of a reservation, or DEADLINE_EXCEEDED.
func (b *Buffer) NextID(ctx context.Context) (ID, error) {
	run := b.run.Load()
	index := run.cursor.Add(1) - 1
	if index < run.low {
		return ID(run.first + index*run.stride), nil
	}
	return b.nextSlowly(ctx, run, index)
}

// TryNextID hands out one ID from stock and never waits; false if there is none, and then a refill is on its way.
func (b *Buffer) TryNextID() (ID, bool) {
	for run := b.run.Load(); ; {
		start, end := run.claim(1)
		if start < end {
			b.meetMark(run, start, end)
			return ID(run.first + start*run.stride), true
		}
		b.mutex.Lock()
		run = b.nextRun()
		if run == nil {
			b.ask()
		}
		b.mutex.Unlock()
		if run == nil {
			return 0, false
		}
	}
}

// NextIDs hands out count IDs, 1 to 1,048,576, claimed in blocks; each block ascends. What it had claimed when it fails is a gap.
func (b *Buffer) NextIDs(ctx context.Context, count int) ([]ID, error) {
	if err := checkCount(count, nextIDsMax); err != nil {
		return nil, err
	}
	ids := make([]ID, 0, count)
	var wait wait
	defer wait.end(b)
	for run := b.run.Load(); ; {
		start, end := run.claim(uint64(count - len(ids)))
		for index := start; index < end; index++ {
			ids = append(ids, ID(run.first+index*run.stride))
		}
		b.meetMark(run, start, end)
		if len(ids) == count {
			return ids, nil
		}
		if run = b.waitForRun(ctx, &wait); run == nil {
			return nil, wait.err
		}
	}
}

// Stats takes a snapshot of the counters.
func (b *Buffer) Stats() BufferStats {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	stats := BufferStats{
		HandedOut: b.handedOut(), Reserved: b.reserved, Dropped: b.dropped,
		Refills: b.refills, RefillFailures: b.refillFailures, Waits: b.waits,
		RatePerSecond: b.policy.rate, MeanRTT: time.Duration(b.policy.meanRTT * float64(time.Second)),
	}
	stats.Stock = stats.Reserved - stats.HandedOut - stats.Dropped
	return stats
}

// Close drops the stock; whoever waits gets CLIENT_CLOSED. Closing again does nothing.
func (b *Buffer) Close() error {
	b.mutex.Lock()
	if b.closing.Err() != nil {
		b.mutex.Unlock()
		return nil
	}
	b.close()
	if b.stopRetry != nil {
		b.stopRetry()
	}
	dropped := b.drop(b.answer) + b.drop(b.spare)
	b.wake(nil)
	b.mutex.Unlock()
	b.notifyExpire(dropped)
	return nil
}

// nextSlowly goes on where the fast path found an index at or past the low-water mark.
//
//go:noinline
func (b *Buffer) nextSlowly(ctx context.Context, run *claimableRun, index uint64) (ID, error) {
	var wait wait
	for index >= run.count {
		if run = b.waitForRun(ctx, &wait); run == nil {
			break
		}
		index = run.cursor.Add(1) - 1
	}
	wait.end(b)
	if run == nil {
		return 0, wait.err
	}
	b.meetMark(run, index, index+1)
	return ID(run.first + index*run.stride), nil
}

// meetMark asks for the next answer if the low-water mark is among the indexes that were claimed: exactly one claimer has it.
func (b *Buffer) meetMark(run *claimableRun, start, end uint64) {
	if run.low < start || run.low >= end {
		return
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if !run.answer.hasAsked {
		run.answer.hasAsked = true
		b.ask()
	}
}

// wait is what one caller remembers who found the buffer dry, once or several times. It owns no ID.
type wait struct {
	hasBegun  bool
	startedAt time.Time
	// timeUp is closed when the buffer's own timeout has passed; nil where the caller's context has a deadline.
	timeUp chan struct{}
	stop   func()
	err    error
}

func (w *wait) begin(ctx context.Context, b *Buffer) {
	if w.hasBegun {
		return
	}
	w.hasBegun = true
	w.startedAt = b.clock.Now()
	w.stop = func() {}
	b.waits++
	if _, hasDeadline := ctx.Deadline(); !hasDeadline {
		timeUp := make(chan struct{})
		w.timeUp = timeUp
		w.stop = b.clock.AfterFunc(b.timeout, func() { close(timeUp) })
	}
}

// end is to be called with the mutex unlocked.
func (w *wait) end(b *Buffer) {
	if w.hasBegun {
		w.stop()
		notify(b.observer.OnWait, WaitEvent{Duration: b.clock.Now().Sub(w.startedAt), Reason: ReasonOf(w.err)})
	}
}

// waitForRun gives a run with stock as soon as there is one; nil, and the error in w, if there is none in time.
func (b *Buffer) waitForRun(ctx context.Context, w *wait) *claimableRun {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for {
		if run := b.nextRun(); run != nil {
			return run
		}
		if b.closing.Err() != nil {
			w.err = closedError("buffer")
			return nil
		}
		w.begin(ctx, b)
		b.ask()
		arrival := b.arrival
		b.waiters++
		b.mutex.Unlock()
		var ended context.Context
		select {
		case <-arrival.woken:
		case <-ctx.Done():
			ended = ctx
		case <-w.timeUp:
			ended = timedOut
		}
		b.mutex.Lock()
		b.waiters--
		if ended != nil {
			w.err = contextError(ended, b.lastFailure)
			return nil
		}
		if arrival.failure != nil {
			w.err = arrival.failure
			return nil
		}
	}
}

// timedOut is a context whose deadline has passed.
var timedOut = func() context.Context {
	ctx, cancel := context.WithDeadline(context.Background(), time.Time{})
	cancel()
	return ctx
}()

// nextRun gives the run in place if it has stock, else puts the next of the answers there; nil when dry.
func (b *Buffer) nextRun() *claimableRun {
	used := b.run.Load()
	if used.claimed() < used.count {
		return used
	}
	if b.answer != nil && len(b.answer.runs) == 0 {
		b.answer.stopExpiry()
		b.answer = nil
	}
	if b.answer == nil {
		b.answer, b.spare = b.spare, nil
	}
	if b.answer == nil {
		if used.count > 0 {
			b.place(&claimableRun{})
		}
		return nil
	}
	answer := b.answer
	answer.isTouched = true
	next := answer.runs[0]
	answer.runs = answer.runs[1:]
	answer.left -= uint64(next.Count)
	run := &claimableRun{first: uint64(next.First), stride: next.Stride, count: uint64(next.Count), answer: answer}
	run.low = run.count
	if mark := b.policy.lowWater(answer.count); !answer.hasAsked && answer.left < mark {
		run.low = run.count + answer.left - min(mark, run.count+answer.left)
	}
	b.place(run)
	return run
}

// place closes the run in place and puts another there. It tells how many IDs of the one before nobody will get.
func (b *Buffer) place(next *claimableRun) uint64 {
	run := b.run.Load()
	claimed := run.close()
	b.settled += claimed
	b.run.Store(next)
	return run.count - claimed
}

// handedOut counts what callers have got.
func (b *Buffer) handedOut() uint64 {
	return b.settled + b.run.Load().claimed()
}

// drop ends an answer, in use or spare, and tells how many of its IDs nobody will get.
func (b *Buffer) drop(answer *answer) uint64 {
	if answer == nil {
		return 0
	}
	answer.stopExpiry()
	dropped := answer.left
	if answer == b.answer {
		b.answer = nil
		dropped += b.place(&claimableRun{})
	} else {
		b.spare = nil
	}
	b.dropped += dropped
	return dropped
}

// expire drops an answer that is too old.
func (b *Buffer) expire(answer *answer) {
	b.mutex.Lock()
	if answer != b.answer && answer != b.spare {
		b.mutex.Unlock()
		return
	}
	dropped := b.drop(answer)
	// Where nothing of it was claimed nobody needs the next one: the first caller wakes the buffer.
	if answer.isTouched && b.spare == nil {
		b.ask()
	} else {
		b.measure()
	}
	b.mutex.Unlock()
	b.notifyExpire(dropped)
}

func (b *Buffer) notifyExpire(dropped uint64) {
	if dropped > 0 {
		notify(b.observer.OnExpire, ExpireEvent{Dropped: int(dropped)})
	}
}

// ask begins a reservation, unless one is under way or at hand, or a failure is too fresh.
func (b *Buffer) ask() {
	if b.isRefilling || b.spare != nil || b.stopRetry != nil || b.closing.Err() != nil {
		return
	}
	b.isRefilling = true
	b.measure()
	go b.refill(b.policy.reserveCount(), b.policy.rate)
}

func (b *Buffer) refill(asked int, rate float64) {
	startedAt := b.clock.Now()
	reservation, err := b.source.Reserve(b.closing, asked)
	event := RefillEvent{Asked: asked, Duration: b.clock.Now().Sub(startedAt), RatePerSecond: rate}
	b.mutex.Lock()
	b.isRefilling = false
	if b.closing.Err() != nil {
		b.mutex.Unlock()
		return
	}
	if err == nil {
		event.Received, err = b.accept(reservation, asked)
	}
	if err != nil {
		failure := asError(err)
		event.Reason = failure.Reason
		b.fail(failure)
	}
	b.mutex.Unlock()
	notify(b.observer.OnRefill, event)
}

// accept takes an answer into stock, or refuses it whole.
func (b *Buffer) accept(reservation Reservation, asked int) (int, error) {
	age := b.clock.Now().Sub(reservation.SentAt)
	if age >= b.maxAge {
		message := fmt.Sprintf("a reservation took longer than the %v for which its IDs may be used", b.maxAge)
		return 0, &Error{Reason: DeadlineExceeded, Code: codes.DeadlineExceeded, Message: message}
	}
	count, err := countOfAnswer(reservation.Runs, asked)
	if err != nil {
		return 0, err
	}
	fresh := &answer{runs: reservation.Runs, left: count, count: count}
	fresh.stopExpiry = b.clock.AfterFunc(b.maxAge-age, func() { b.expire(fresh) })
	b.refills++
	b.reserved += count
	b.failuresInRow = 0
	b.lastFailure = nil
	b.policy.noteRoundTrip(age)
	b.spare = fresh
	b.wake(nil)
	return int(count), nil
}

func (b *Buffer) fail(failure *Error) {
	b.refillFailures++
	b.failuresInRow++
	b.lastFailure = failure
	if isIncurable(failure.Code) {
		b.wake(failure)
	}
	b.stopRetry = b.clock.AfterFunc(backoff(b.failuresInRow, failure.RetryAfter, b.random), b.retry)
}

// isIncurable tells whether waiting cannot cure a failure.
func isIncurable(code codes.Code) bool {
	switch code {
	case codes.InvalidArgument, codes.Unauthenticated, codes.PermissionDenied, codes.FailedPrecondition, codes.Unimplemented:
		return true
	default:
		return false
	}
}

func (b *Buffer) retry() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.stopRetry = nil
	if b.waiters > 0 || (b.answer != nil && b.answer.hasAsked) {
		b.ask()
	}
}

// wake lets all who wait look again; with a failure, they fail.
func (b *Buffer) wake(failure *Error) {
	b.arrival.failure = failure
	close(b.arrival.woken)
	b.arrival = newArrival()
}

func (b *Buffer) measure() {
	now := b.clock.Now()
	handedOut := b.handedOut()
	b.policy.noteHandedOut(handedOut-b.measuredCount, now.Sub(b.measuredAt))
	b.measuredAt = now
	b.measuredCount = handedOut
}
