package snowlane

import (
	"os"
	"strings"
	"time"
)

// Clock is the client's source of time; tests replace it with a fake one (package snowlanetest).
//
// A Clock may have a method Wall() time.Time, which returns the time of the wall clock; without it, that of Now is
// used. It may have a method Uptime() time.Duration, which returns the time since the machine started, including the
// time it was suspended. Uptime distinguishes a suspended machine from a step of the wall clock; without it, both count
// as elapsed time.
type Clock interface {
	// Now returns a time whose differences are those of a monotonic clock.
	Now() time.Time
	// AfterFunc runs f in a goroutine of its own after d, or later. stop cancels that; it does nothing once f runs.
	AfterFunc(d time.Duration, f func()) (stop func())
}

// SystemClock is the clocks of this machine. A Client uses it by default; a Clock of your own may embed it.
type SystemClock struct{}

// Now returns the current time.
func (SystemClock) Now() time.Time {
	return time.Now()
}

// AfterFunc runs f in a goroutine of its own after d.
func (SystemClock) AfterFunc(d time.Duration, f func()) func() {
	timer := time.AfterFunc(d, f)
	return func() { timer.Stop() }
}

// Uptime is 0 if the system does not report it. Linux does, in seconds with two digits after the point.
func (SystemClock) Uptime() time.Duration {
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0
	}
	seconds, _, _ := strings.Cut(string(text), " ")
	uptime, _ := time.ParseDuration(seconds + "s")
	return uptime
}
