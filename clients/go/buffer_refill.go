package snowlane

import (
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
)

// ask begins a reservation, unless one is under way or at hand, or a failure is too fresh.
func (b *Buffer) ask() {
	if !b.isFree() {
		return
	}
	if b.outage != nil && b.stopTopUp == nil {
		b.scheduleTopUp()
	}
	if len(b.spares) == 0 {
		outageCount := b.outageCount()
		b.measure()
		b.reserve(max(b.policy.reserveCount(), outageCount))
	}
}

func (b *Buffer) isFree() bool {
	return !b.isRefilling && b.stopRetry == nil && b.closing.Err() == nil
}

func (b *Buffer) reserve(count int) {
	b.isRefilling = true
	if b.outage != nil {
		b.outage.noteAsked(b.handedOut())
	}
	go b.refill(count, b.policy.rate)
}

// outageCount is how many IDs the stock for an outage lacks, as many as are to be asked for at once.
func (b *Buffer) outageCount() int {
	if b.outage == nil || len(b.spares) >= spareAnswersMax {
		return 0
	}
	return b.outage.reserveCount(b.stock(), b.handedOut())
}

// scheduleTopUp looks after the stock for an outage, once a second while there is stock or a caller waits.
func (b *Buffer) scheduleTopUp() {
	b.outage.note(b.clock.Now(), b.handedOut())
	b.stopTopUp = b.clock.AfterFunc(outageTopUp, func() {
		b.mutex.Lock()
		defer b.mutex.Unlock()
		b.stopTopUp = nil
		if b.closing.Err() != nil {
			return
		}
		if b.stock() == 0 && b.waiters == 0 && !b.isRefilling {
			b.outage.forget()
			return
		}
		b.scheduleTopUp()
		b.topUp()
	})
}

func (b *Buffer) topUp() {
	if !b.isFree() {
		return
	}
	if count := b.outageCount(); count > 0 {
		b.measure()
		b.reserve(count)
	}
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

// accept takes an answer into stock, or refuses it whole. Its age counts from before the first attempt to get it: no ID
// of it can be older.
//
// docs/adr/0094 says why.
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
	b.spares = append(b.spares, fresh)
	b.wake(nil)
	if b.outage != nil && float64(b.stock()) < b.policy.rate {
		b.topUp()
	}
	return int(count), nil
}

func (b *Buffer) fail(failure *Error) {
	b.refillFailures++
	b.failuresInRow++
	b.lastFailure = failure
	count := b.failuresInRow
	if isFirstMistake(failure) {
		// Before the first answer, each call is to fail within a second.
		count = min(count, 2)
	}
	if isIncurable(failure.Code) || isFirstMistake(failure) {
		b.wake(failure)
	}
	b.stopRetry = b.clock.AfterFunc(backoff(count, failure.RetryAfter, b.random), b.retry)
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

func (b *Buffer) handedOut() uint64 {
	return b.reserved - b.dropped - b.stock()
}

func (b *Buffer) measure() {
	now := b.clock.Now()
	handedOut := b.handedOut()
	b.policy.noteHandedOut(handedOut-b.measuredCount, now.Sub(b.measuredAt))
	b.measuredAt = now
	b.measuredCount = handedOut
}
