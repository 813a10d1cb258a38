package snowlane

import (
	"os"
	"strings"
	"time"
)

// Clock is time as the client sees it; a fake one stands in for it in tests (package snowlanetest).
//
// One that has a method Wall() time.Time gives the wall clock by it, else that of Now is taken. One that has a method
// Uptime() time.Duration gives the time since the machine started, suspended or not: it tells a suspend from a step of
// the wall clock. Without it, both count as time.
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

// Uptime is 0 where the system does not tell it: Linux does, in seconds with two digits behind the point.
func (systemClock) Uptime() time.Duration {
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0
	}
	seconds, _, _ := strings.Cut(string(text), " ")
	uptime, _ := time.ParseDuration(seconds + "s")
	return uptime
}
