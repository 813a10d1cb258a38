package snowlane

import "time"

// Where the wall clock ran ahead by more, the machine was suspended, or the clock was set.
const wallStep = time.Second

// moment is a moment, and tells how long ago it was: the time of a suspended machine counts, a step of the clock does
// not.
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
	// The uptime costs more than the clocks, so that it is read only where it decides.
	if wall-running <= wallStep || m.uptime == 0 {
		return max(running, wall)
	}
	return max(running, uptimeOf(m.clock)-m.uptime)
}

func wallOf(clock Clock, now time.Time) time.Time {
	if own, ok := clock.(interface{ Wall() time.Time }); ok {
		return own.Wall()
	}
	// Without its monotonic reading.
	return now.Round(0)
}

func uptimeOf(clock Clock) time.Duration {
	if own, ok := clock.(interface{ Uptime() time.Duration }); ok {
		return own.Uptime()
	}
	return 0
}
