package snowlane

import "time"

// AttemptEvent says how one attempt of an RPC ended.
type AttemptEvent struct {
	Method   string
	Endpoint string
	// Attempt counts from 1.
	Attempt  int
	Duration time.Duration
	// Reason is empty if it succeeded.
	Reason Reason
}

// RefillEvent says how a reservation of a buffer ended.
type RefillEvent struct {
	Asked int
	// Received is 0 if it failed.
	Received int
	Duration time.Duration
	// RatePerSecond is what was handed out a second, as measured when the reservation was sent.
	RatePerSecond float64
	// Reason is empty if it succeeded.
	Reason Reason
}

// WaitEvent says how the wait of a caller ended that found a buffer dry.
type WaitEvent struct {
	Duration time.Duration
	// Reason is empty if the caller got an ID.
	Reason Reason
}

// ExpireEvent tells of IDs of a buffer that no caller will get.
type ExpireEvent struct {
	Dropped int
}

// StateEvent says what a client or a buffer has come to. The same goes to the log.
type StateEvent struct {
	State State
	// Reason is empty where nothing failed.
	Reason Reason
	// Endpoint is empty where it is about none.
	Endpoint string
	// Duration is how long refills had failed; 0 in other states.
	Duration time.Duration
}

// ClientObserver is the metrics hook. Any function may be nil. They run outside the fast path, from several goroutines
// at once, must return soon, and what they panic with is ignored.
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
