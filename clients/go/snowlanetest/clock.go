// Package snowlanetest has a fake client and a fake clock, for tests of code that uses snowlane.
package snowlanetest

import (
	"slices"
	"sync"
	"time"
)

// Clock is a clock for tests, whose time moves only by Advance. Its zero value is ready to use, and starts in the year
// 1.
type Clock struct {
	mutex  sync.Mutex
	now    time.Time
	timers []*timer
	// suspended and steps are how far the other clocks are ahead.
	suspended, steps time.Duration
}

type timer struct {
	at time.Time
	f  func()
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.now
}

// Wall returns the time of the wall clock.
func (c *Clock) Wall() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.now.Add(c.suspended + c.steps)
}

// Uptime returns the time since the machine started, including the time it was suspended.
func (c *Clock) Uptime() time.Duration {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return time.Hour + c.now.Sub(time.Time{}) + c.suspended
}

// Suspend lets d pass while the machine is suspended: no timer runs, and Now does not change.
func (c *Clock) Suspend(d time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.suspended += d
}

// StepWall sets the wall clock forward by d, or back.
func (c *Clock) StepWall(d time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.steps += d
}

// AfterFunc runs f once Advance has moved time by d.
func (c *Clock) AfterFunc(d time.Duration, f func()) func() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	added := &timer{at: c.now.Add(max(d, 0)), f: f}
	c.timers = append(c.timers, added)
	return func() {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.timers = slices.DeleteFunc(c.timers, func(t *timer) bool { return t == added })
	}
}

// Advance lets d pass and runs the timers that fall due, in order. Work that they start in other goroutines may still
// be running when it returns.
func (c *Clock) Advance(d time.Duration) {
	until := c.Now().Add(d)
	for {
		due := c.takeDue(until)
		if due == nil {
			return
		}
		due.f()
	}
}

// takeDue moves time to the first timer that is due; if there is none, to the end.
func (c *Clock) takeDue(until time.Time) *timer {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	first := -1
	for index, timer := range c.timers {
		if !timer.at.After(until) && (first < 0 || timer.at.Before(c.timers[first].at)) {
			first = index
		}
	}
	if first < 0 {
		if until.After(c.now) {
			c.now = until
		}
		return nil
	}
	due := c.timers[first]
	c.timers = slices.Delete(c.timers, first, first+1)
	if due.at.After(c.now) {
		c.now = due.at
	}
	return due
}
