package snowlane

import (
	"math"
	"time"
)

const (
	// A reservation should cover this much time at the current rate. The rate is measured over at least this time,
	// because a burst says little about the next second.
	refillSpanMS = 1_000
	// The low-water mark covers this many round trips, so that callers do not notice one slow answer in a thousand.
	roundTripsOfStock = 8
	// The low-water mark is at least this part of an answer.
	stockPart = 0.25
	rttWeight = 0.125
	// If a mark is met within this time, the next reservation asks for twice as many IDs.
	rush = 250 * time.Millisecond
)

// handed is how many IDs had been handed out at a given moment.
type handed struct {
	at    time.Time
	count uint64
}

// refillPolicy decides how much to reserve, and when. It gets the counts of IDs handed out and the durations of
// reservations, and reads no clock.
//
// Example: callers use 2,000 IDs a second, and the bounds are 32 and 65,536.
//   - The first reservation asks for 32: no rate is known.
//   - Once 2,000 IDs were handed out in a second, a reservation asks for 2,000. The mark of its answer is at a quarter,
//     500 left, while a round trip takes 5 ms: eight of them use 80. At 50 ms they use 400, and at 100 ms 1,600, which
//     is then the mark.
//   - Each further second without use halves the rate: 1,000, 500, 250, 125, 62.5, and then 31.25, which asks for 32
//     again.
type refillPolicy struct {
	countMin, countMax int
	// rate is the IDs handed out a second.
	rate float64
	// The rate is measured from older: over 1 to 2 s while refills come each second. newer is nil before the first.
	older, newer *handed
	// meanRTTMS is the mean round trip in milliseconds; 0 before the first answer.
	meanRTTMS float64
	// growth is the least that the next reservation asks for: 0 until the mark of the answer in use is met, and 0 if
	// meeting it took longer than `rush`.
	growth int
}

// noteHandedOut records how many IDs have been handed out so far. The rate rises at once and falls by halves.
func (p *refillPolicy) noteHandedOut(now handed) {
	if p.newer == nil || milliseconds(now.at.Sub(p.newer.at)) >= refillSpanMS {
		p.older = p.newer
		if p.older == nil {
			p.older = &now
		}
		p.newer = &now
	}
	elapsedMS := max(refillSpanMS, milliseconds(now.at.Sub(p.older.at)))
	measured := float64(now.count-p.older.count) * 1_000 / elapsedMS
	p.rate = max(measured, p.rate/2)
}

func (p *refillPolicy) noteRoundTrip(duration time.Duration) {
	if p.meanRTTMS == 0 {
		p.meanRTTMS = milliseconds(duration)
	} else {
		p.meanRTTMS += rttWeight * (milliseconds(duration) - p.meanRTTMS)
	}
}

// noteInUse records that an answer is in use from now on.
func (p *refillPolicy) noteInUse() {
	p.growth = 0
}

// noteMark records that the answer in use, of count IDs, was used down to its mark within duration.
func (p *refillPolicy) noteMark(count uint64, duration time.Duration) {
	p.growth = 0
	if duration <= rush {
		p.growth = int(2 * count)
	}
}

// forget records that the buffer goes to sleep: the measurements start over.
func (p *refillPolicy) forget() {
	p.older, p.newer = nil, nil
}

// reserveCount is how many IDs to ask for.
func (p *refillPolicy) reserveCount() int {
	return p.bound(max(p.growth, p.secondCount()))
}

// secondCount is how many IDs are used within a second, within the bounds of a reservation.
func (p *refillPolicy) secondCount() int {
	return p.bound(int(math.Ceil(min(p.rate, math.MaxInt32) * refillSpanMS / 1_000)))
}

// lowWater is the mark of an answer of count IDs: the next answer is due once that many or fewer are left.
func (p *refillPolicy) lowWater(count uint64) uint64 {
	trips := roundTripsOfStock * p.rate * (p.meanRTTMS / 1_000)
	return uint64(min(float64(count), math.Ceil(max(trips, float64(count)*stockPart))))
}

func (p *refillPolicy) bound(count int) int {
	return min(p.countMax, max(p.countMin, count))
}

func milliseconds(duration time.Duration) float64 {
	return float64(duration) / float64(time.Millisecond)
}
