package snowlane

import (
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
)

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
	askedAt := b.clock.Now()
	runs, err := b.source.Reserve(b.closing, asked)
	age := b.clock.Now().Sub(askedAt)
	event := RefillEvent{Asked: asked, Duration: age, RatePerSecond: rate}
	b.mutex.Lock()
	b.isRefilling = false
	if b.closing.Err() != nil {
		b.mutex.Unlock()
		return
	}
	if err == nil {
		event.Received, err = b.accept(runs, asked, age)
	}
	if err != nil {
		failure := asError(err)
		event.Reason = failure.Reason
		b.fail(failure)
	}
	b.mutex.Unlock()
	notify(b.observer.OnRefill, event)
}

// accept takes an answer into stock, or refuses it whole. Its age counts from before the first attempt to get it: no ID of it can be older.
func (b *Buffer) accept(runs []Run, asked int, age time.Duration) (int, error) {
	if age >= b.maxAge {
		message := fmt.Sprintf("a reservation took longer than the %v for which its IDs may be used", b.maxAge)
		return 0, &Error{Reason: DeadlineExceeded, Code: codes.DeadlineExceeded, Message: message}
	}
	count, err := countOfAnswer(runs, asked)
	if err != nil {
		return 0, err
	}
	fresh := &answer{runs: runs, left: count, count: count}
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
	handedOut := b.reserved - b.dropped - b.stock()
	b.policy.noteHandedOut(handedOut-b.measuredCount, now.Sub(b.measuredAt))
	b.measuredAt = now
	b.measuredCount = handedOut
}
