package snowlane

import (
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
)

// refillOrder is a reservation on its way.
type refillOrder struct {
	// isForReserve is set if it is for the reserve for an outage, not for the working stock.
	isForReserve bool
	count        int
	// pieceSize is how many IDs a piece of the reserve has.
	pieceSize int
	rate      float64
}

// ask begins a reservation, unless one is on its way, an answer is spare, or the last failure is too recent.
func (b *Buffer) ask() {
	if !b.isFree() {
		return
	}
	if b.outage != nil && b.stopTopUp == nil {
		b.scheduleTopUp()
	}
	if b.spare == nil {
		b.order(false)
	}
}

func (b *Buffer) isFree() bool {
	return !b.isRefilling && b.stopRetry == nil && b.closing.Err() == nil
}

// isLow reports whether the next answer is due: the one in use is down to its low-water mark, and there is no spare
// one.
func (b *Buffer) isLow() bool {
	return b.answer != nil && b.answer.hasAsked && b.spare == nil
}

// order asks for IDs, unless nothing is due.
func (b *Buffer) order(isForReserve bool) {
	order := refillOrder{isForReserve: isForReserve, pieceSize: b.policy.secondCount()}
	if isForReserve {
		order.count = b.outage.reserveCount(b.reserveState(b.outage.young), order.pieceSize)
		if order.count == 0 {
			return
		}
	}
	b.isRefilling = true
	b.policy.noteHandedOut(b.handed())
	if !isForReserve {
		order.count = b.policy.reserveCount()
	}
	order.rate = b.policy.rate
	go b.refill(order)
}

// scheduleTopUp checks the reserve for an outage once a second, while there is stock or a caller waits.
func (b *Buffer) scheduleTopUp() {
	b.outage.noteHandedOut(b.handed())
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
		if b.isFree() {
			b.order(true)
		}
	})
}

func (b *Buffer) refill(order refillOrder) {
	asked := newMoment(b.clock)
	runs, err := b.source.Reserve(b.closing, order.count)
	duration := b.clock.Now().Sub(asked.at)
	event := RefillEvent{Asked: order.count, Duration: duration, RatePerSecond: order.rate}
	b.mutex.Lock()
	b.isRefilling = false
	if b.closing.Err() != nil {
		b.mutex.Unlock()
		return
	}
	if err == nil {
		event.Received, err = b.accept(runs, order, asked)
	}
	var state *StateEvent
	if err != nil {
		failure := asError(err)
		event.Reason = failure.Reason
		b.fail(failure)
		if b.spell.failed(asked.at, b.clock.Now(), b.failuresInRow) {
			state = &StateEvent{State: StateFailing, Reason: failure.Reason, Endpoint: failure.Endpoint}
		}
	} else {
		if lasted := b.spell.worked(b.clock.Now()); lasted > 0 {
			state = &StateEvent{State: StateWorking, Duration: lasted}
		}
		b.policy.noteRoundTrip(duration)
		b.wake(nil)
		// If the working stock ran low while an answer for the reserve was on its way, ask for the working stock now.
		if b.isLow() {
			b.ask()
		}
	}
	b.mutex.Unlock()
	notify(b.observer.OnRefill, event)
	if state != nil {
		b.states.tell(*state)
	}
}

// accept takes an answer into stock, or refuses it whole. Its age counts from before the first attempt to get it,
// because none of its IDs can be older.
//
// docs/adr/0094 says why.
func (b *Buffer) accept(runs []Run, order refillOrder, asked moment) (int, error) {
	left := b.maxAge - asked.elapsed()
	if left <= 0 {
		message := fmt.Sprintf("a reservation took longer than the %v for which its IDs may be used", b.maxAge)
		return 0, &Error{Reason: DeadlineExceeded, Code: codes.DeadlineExceeded, Message: message}
	}
	count, err := countOfAnswer(runs, order.count)
	if err != nil {
		return 0, err
	}
	b.refills++
	b.reserved += count
	b.failuresInRow = 0
	b.lastFailure = nil
	if !order.isForReserve {
		b.spare = b.newAnswer(runs, asked, left)
		return int(count), nil
	}
	// It is cut before any caller can claim from it, so no ID is ever put back.
	var pieces []*answer
	for _, piece := range cutRuns(runs, order.pieceSize) {
		pieces = append(pieces, b.newAnswer(piece, asked, left))
	}
	b.addReserve(pieces)
	return int(count), nil
}

func (b *Buffer) newAnswer(runs []Run, asked moment, left time.Duration) *answer {
	made := newAnswer(runs, asked)
	made.stopExpiry = b.clock.AfterFunc(left, func() { b.expire(made) })
	return made
}

func (b *Buffer) fail(failure *Error) {
	b.refillFailures++
	b.failuresInRow++
	b.lastFailure = failure
	if !failure.Passes() {
		b.wake(failure)
	}
	b.stopRetry = b.clock.AfterFunc(refillBackoff(b.failuresInRow, failure, b.random), b.retry)
}

func (b *Buffer) retry() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.stopRetry = nil
	if b.waiters > 0 || b.isLow() {
		b.ask()
	}
}

// wake lets all waiting callers look again; with a failure, they fail.
func (b *Buffer) wake(failure *Error) {
	b.arrival.failure = failure
	close(b.arrival.woken)
	b.arrival = newArrival()
}

func (b *Buffer) handedOut() uint64 {
	return b.reserved - b.dropped - b.stock()
}

func (b *Buffer) handed() handed {
	return handed{at: b.clock.Now(), count: b.handedOut()}
}
