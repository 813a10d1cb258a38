package snowlane

import "time"

// If the wall clock gained more than this on the monotonic clock, the machine was suspended or the clock was set.
const wallStep = time.Second

// moment is a point in time that knows how long ago it was. Time in which the machine was suspended counts; a step of
// the wall clock does not.
type moment struct {
	clock Clock
	// at is by the monotonic clock.
	at, wall time.Time
	// uptime is 0 where it is unknown.
	uptime time.Duration
}

func newMoment(clock Clock) moment {
	now := clock.Now()
	return moment{clock: clock, at: now, wall: wallOf(clock, now), uptime: uptimeOf(clock)}
}

func (m moment) elapsed() time.Duration {
	now := m.clock.Now()
	running := now.Sub(m.at)
	wall := wallOf(m.clock, now).Sub(m.wall)
	// Reading the uptime costs more than reading the clocks, so it is read only where it decides.
	if wall-running <= wallStep || m.uptime == 0 {
		return max(running, wall)
	}
	return max(running, uptimeOf(m.clock)-m.uptime)
}

func wallOf(clock Clock, now time.Time) time.Time {
	if own, ok := clock.(interface{ Wall() time.Time }); ok {
		return own.Wall()
	}
	// Round strips the monotonic reading.
	return now.Round(0)
}

func uptimeOf(clock Clock) time.Duration {
	if own, ok := clock.(interface{ Uptime() time.Duration }); ok {
		return own.Uptime()
	}
	return 0
}
