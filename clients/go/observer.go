package snowlane

import "time"

// AttemptEvent reports how one attempt of an RPC ended.
type AttemptEvent struct {
	Method   string
	Endpoint string
	// Attempt counts from 1.
	Attempt int
	// IsHedge is set if it is the second request of a refill that had no answer soon; both have one number.
	IsHedge  bool
	Duration time.Duration
	// Reason is empty if it succeeded.
	Reason Reason
}

// RefillEvent reports how a reservation of a buffer ended.
type RefillEvent struct {
	Asked int
	// Received is 0 if it failed.
	Received int
	Duration time.Duration
	// RatePerSecond is how many IDs were handed out a second, as measured when the reservation was sent.
	RatePerSecond float64
	// Reason is empty if it succeeded.
	Reason Reason
}

// WaitEvent reports how a caller's wait on a dry buffer ended.
type WaitEvent struct {
	Duration time.Duration
	// Reason is empty if the caller got an ID.
	Reason Reason
}

// ExpireEvent reports IDs of a buffer that no caller will get.
type ExpireEvent struct {
	Dropped int
}

// StateEvent reports a new state of a client or a buffer. The log gets the same.
type StateEvent struct {
	State State
	// Reason is empty if nothing failed.
	Reason Reason
	// Endpoint is empty if the event is not about an endpoint.
	Endpoint string
	// Duration is how long refills had failed; 0 in other states.
	Duration time.Duration
}

// ClientObserver is the metrics hook. Any function may be nil. The functions run outside the fast path, from several
// goroutines at once. They must return soon, and their panics are ignored.
type ClientObserver struct {
	OnAttempt func(AttemptEvent)
	OnRefill  func(RefillEvent)
	OnWait    func(WaitEvent)
	OnExpire  func(ExpireEvent)
	OnState   func(StateEvent)
}

func notify[Event any](hook func(Event), event Event) {
	if hook == nil {
		return
	}
	// Metrics must not cost an ID.
	defer func() { _ = recover() }()
	hook(event)
}
