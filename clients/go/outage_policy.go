package snowlane

import (
	"math"
	"time"
)

const (
	// The window over which the rate for a reserve is measured.
	outageWindow = time.Minute
	// The reserve lasts this much longer than the outage, because a client takes some time to notice that its servers
	// are back.
	outageMargin = 10 * time.Second
	// Each request asks for a part of the missing IDs: this time divided by the age up to which IDs count as young. So
	// a fleet that starts does not flood its servers.
	outageFillMS = 16_000
	// How often the reserve is checked.
	outageTopUp = time.Second
	// The most pieces that the reserve may consist of.
	piecesMax = 8_192
)

// outagePolicy decides how many IDs to keep for an outage of all servers, and how gradually to ask for them. It gets
// the counts once a second, and reads no clock. docs/internals/client-contract.md in the repository has the rules.
type outagePolicy struct {
	countMin, countMax int
	targetMS, stockMax float64
	// young is the age below which IDs count, because they can still be used at the end of an outage that begins now.
	// If all IDs counted, the first ones would grow too old together, and an outage just before that would find a full
	// reserve that expires at once.
	young time.Duration
	// samples are those of the window, oldest first.
	samples []handed
}

// reserveState is the size of a reserve.
type reserveState struct {
	youngCount uint64
	pieceCount int
}

func newOutagePolicy(options BufferOptions) *outagePolicy {
	spare := options.MaxAge - options.Outage
	return &outagePolicy{
		countMin: options.CountMin, countMax: options.CountMax, stockMax: float64(options.StockMax),
		// At most halfway to the age at which IDs are dropped: IDs that are used at an even rate are then used before
		// that age.
		targetMS: milliseconds(min(options.Outage+outageMargin, (options.Outage+options.MaxAge)/2)),
		// Never below an eighth of MaxAge, so that at most about nine IDs are reserved for each one used.
		young: max(spare*3/4, spare-time.Minute, options.MaxAge/8),
	}
}

// rate returns how many IDs were handed out a second, over the last 60 s or since the buffer woke up.
func (p *outagePolicy) rate() float64 {
	if len(p.samples) == 0 {
		return 0
	}
	first, last := p.samples[0], p.samples[len(p.samples)-1]
	elapsed := last.at.Sub(first.at)
	if elapsed <= 0 {
		return 0
	}
	return float64(last.count-first.count) * 1_000 / milliseconds(elapsed)
}

// noteHandedOut records how many IDs have been handed out so far.
func (p *outagePolicy) noteHandedOut(now handed) {
	p.samples = append(p.samples, now)
	for now.at.Sub(p.samples[0].at) > outageWindow {
		p.samples = p.samples[1:]
	}
}

// forget drops the samples: the buffer goes to sleep.
func (p *outagePolicy) forget() {
	p.samples = nil
}

// reserveCount is how many IDs to ask for; 0 if the reserve has what it needs. pieceSize is the IDs of a piece.
func (p *outagePolicy) reserveCount(state reserveState, pieceSize int) int {
	missing := min(p.rate()*p.targetMS/1_000, p.stockMax) - float64(state.youngCount)
	room := min(p.countMax, (piecesMax-state.pieceCount)*pieceSize)
	if missing <= 0 || room < p.countMin {
		return 0
	}
	wanted := math.Ceil(missing * min(1, outageFillMS/milliseconds(p.young)))
	return min(room, max(p.countMin, int(min(wanted, math.MaxInt32))))
}
