package snowlane

import (
	"math"
	"time"
)

const (
	// A reservation is to last so long at the rate at hand.
	refillTarget = time.Second
	// The low-water mark covers so many round trips, so that one slow answer in a thousand is not noticed.
	roundTripsOfStock = 8
	// The low-water mark is at least this part of an answer.
	stockPart = 0.25
	rttWeight = 0.125
	// A burst that is shorter says little about the next second.
	elapsedMin = 10 * time.Millisecond
)

// refillPolicy says how much to reserve, and when. It is fed with what was handed out and how long reservations took,
// and reads no clock.
//
// Example: callers use 2,000 IDs a second, and nobody changed the bounds of 32 and 65,536.
//   - The first reservation asks for 32: no rate is known.
//   - Once 2,000 IDs were handed out in a second, a reservation asks for 2,000. The mark of its answer is at a quarter,
//     500 left, while a round trip takes 5 ms: eight of them use 80. At 50 ms they use 400, and at 100 ms 1,600, which
//     is then the mark.
//   - Each further second without use halves the rate: 1,000, 500, 250, 125, 62.5, and then 31.25, which asks for 32
//     again.
type refillPolicy struct {
	countMin, countMax int
	// IDs handed out a second.
	rate float64
	// Mean round trip in seconds; 0 before the first answer.
	meanRTT float64
}

// noteHandedOut takes in that so many IDs were handed out. The rate rises at once and falls by halves.
func (p *refillPolicy) noteHandedOut(count uint64, elapsed time.Duration) {
	measured := float64(count) / max(elapsed, elapsedMin).Seconds()
	p.rate = max(measured, p.rate/2)
}

func (p *refillPolicy) noteRoundTrip(duration time.Duration) {
	if p.meanRTT == 0 {
		p.meanRTT = duration.Seconds()
	} else {
		p.meanRTT += rttWeight * (duration.Seconds() - p.meanRTT)
	}
}

// reserveCount is how many IDs to ask for.
func (p *refillPolicy) reserveCount() int {
	wanted := math.Ceil(p.rate * refillTarget.Seconds())
	return max(p.countMin, int(min(wanted, float64(p.countMax))))
}

// lowWater is the mark of an answer of so many IDs: with so many left or fewer, ask for the next.
func (p *refillPolicy) lowWater(count uint64) uint64 {
	trips := roundTripsOfStock * p.rate * p.meanRTT
	return uint64(math.Ceil(max(min(trips, math.MaxInt32), float64(count)*stockPart)))
}
