package snowlane

import (
	"math"
	"time"
)

const (
	// The rate of a stock for an outage is measured over so long.
	outageWindow = time.Minute
	// The target lasts so much longer than the outage, for a client may notice that its servers are back only after
	// two back-offs of 5 s: that of the endpoint and that of the buffer.
	outageMargin = 10 * time.Second
	// One refill closes this part of what is missing, so that a fleet that starts does not flood its servers.
	outageFillPart = 1.0 / 30
	// The stock is looked after so often.
	outageTopUp = time.Second
	// The stock is in so many answers at most.
	spareAnswersMax = 4_096
)

// outagePolicy says how much to keep in stock so that IDs go on while no server answers, and how gently to fill it. It
// is fed once a second with what was handed out, and reads no clock. docs/internals/client-contract.md in the
// repository has the rules.
type outagePolicy struct {
	countMin, countMax int
	target             time.Duration
	stockMax           float64
	// samples over the window, oldest first.
	samples []outageSample
	askedAt uint64
}

// outageSample is what was handed out by a moment.
type outageSample struct {
	at        time.Time
	handedOut uint64
}

func newOutagePolicy(options BufferOptions) *outagePolicy {
	return &outagePolicy{
		countMin: options.CountMin, countMax: options.CountMax, stockMax: float64(options.StockMax),
		// Halfway to the age at which IDs are dropped, at most: what is used at an even rate is used before that age.
		target: min(options.Outage+outageMargin, (options.Outage+options.MaxAge)/2),
	}
}

// rate is the IDs handed out a second, over the last 60 s or since the buffer woke up.
func (p *outagePolicy) rate() float64 {
	if len(p.samples) < 2 {
		return 0
	}
	first, last := p.samples[0], p.samples[len(p.samples)-1]
	elapsed := last.at.Sub(first.at)
	if elapsed <= 0 {
		return 0
	}
	return float64(last.handedOut-first.handedOut) / elapsed.Seconds()
}

// note takes in how many IDs have been handed out by now.
func (p *outagePolicy) note(now time.Time, handedOut uint64) {
	p.samples = append(p.samples, outageSample{now, handedOut})
	for now.Sub(p.samples[0].at) > outageWindow {
		p.samples = p.samples[1:]
	}
}

// forget drops what was handed out so far: the buffer goes to sleep.
func (p *outagePolicy) forget() {
	p.samples = nil
}

// reserveCount is how many IDs to ask for; 0 if the stock is full.
func (p *outagePolicy) reserveCount(stock, handedOut uint64) int {
	missing := min(p.rate()*p.target.Seconds(), p.stockMax) - float64(stock)
	if missing <= 0 {
		return 0
	}
	wanted := math.Ceil(min(missing, float64(handedOut-p.askedAt)+missing*outageFillPart))
	return max(p.countMin, int(min(wanted, float64(p.countMax))))
}

// noteAsked takes in that a reservation is sent: the next one asks for what is handed out from here on.
func (p *outagePolicy) noteAsked(handedOut uint64) {
	p.askedAt = handedOut
}
