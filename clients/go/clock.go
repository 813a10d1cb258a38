package snowlane

import "time"

// Clock is time as the client sees it; a fake one stands in for it in tests (package snowlanetest).
type Clock interface {
	// Now gives a time whose differences are those of a monotonic clock.
	Now() time.Time
	// AfterFunc runs f in a goroutine of its own after d, or later. stop calls it off; it does nothing once f runs.
	AfterFunc(d time.Duration, f func()) (stop func())
}

type systemClock struct{}

func (systemClock) Now() time.Time {
	return time.Now()
}

func (systemClock) AfterFunc(d time.Duration, f func()) func() {
	timer := time.AfterFunc(d, f)
	return func() { timer.Stop() }
}
