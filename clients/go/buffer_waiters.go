package snowlane

import (
	"context"
	"sync/atomic"
	"time"
)

// arrival wakes the callers that wait: because there is stock, or because of a failure that waiting cannot fix.
type arrival struct {
	woken   chan struct{}
	failure *Error
}

func newArrival() *arrival {
	return &arrival{woken: make(chan struct{})}
}

// wait is the state of a caller that found the buffer dry, once or several times. It owns no ID.
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

// end must be called with the mutex unlocked.
func (w *wait) end(b *Buffer) {
	if w.hasBegun {
		w.stop()
		notify(b.observer.OnWait, WaitEvent{Duration: b.clock.Now().Sub(w.startedAt), Reason: ReasonOf(w.err)})
	}
}

// waitForRun returns a run with IDs as soon as there is one. If there is none in time, it returns nil and leaves the
// error in w.
func (b *Buffer) waitForRun(ctx context.Context, w *wait, place *atomic.Pointer[claimableRun]) *claimableRun {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for {
		if run := b.stockFor(place); run != nil {
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
