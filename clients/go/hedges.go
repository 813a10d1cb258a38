package snowlane

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

const (
	// A refill is sent a second time after this many mean round trips without an answer,
	hedgeRoundTrips = 4
	// but not before this much time has passed,
	hedgeMin = 100 * time.Millisecond
	// or this much where a connection must be opened.
	hedgeOpeningMin = 500 * time.Millisecond
	// For this long after the quota was exceeded, no hedge is sent.
	hedgeQuotaPause = 5 * time.Second
)

// hedges says when a refill that has no answer is sent a second time.
type hedges struct {
	clock          Clock
	attemptTimeout time.Duration

	mutex sync.Mutex
	// meanRTT is 0 before the first answer.
	meanRTT  time.Duration
	hasQuota bool
	quotaAt  time.Time
}

// noteAnswer records how long the answer to a refill took.
func (h *hedges) noteAnswer(took time.Duration) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.meanRTT == 0 {
		h.meanRTT = took
		return
	}
	h.meanRTT += time.Duration(rttWeight * float64(took-h.meanRTT))
}

// noteQuota records that the caller's quota is used up.
func (h *hedges) noteQuota() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.hasQuota, h.quotaAt = true, h.clock.Now()
}

// isPaused reports whether no hedge may be sent, because it would be charged to a used-up quota.
func (h *hedges) isPaused() bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.hasQuota && h.clock.Now().Sub(h.quotaAt) < hedgeQuotaPause
}

// delay returns how long to wait for an answer before sending the second request.
func (h *hedges) delay(mustOpen bool) time.Duration {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	delay := h.attemptTimeout / 4
	if h.meanRTT > 0 {
		delay = min(max(hedgeRoundTrips*h.meanRTT, hedgeMin), h.attemptTimeout/2)
	}
	if mustOpen {
		delay = max(delay, hedgeOpeningMin)
	}
	return delay
}

// hedgePlan says where the second request of an attempt goes, and when.
type hedgePlan struct {
	endpoint *endpoint
	// isSecond is set if it goes over another connection of the same endpoint.
	isSecond bool
	delay    time.Duration
}

func (c *Client) planHedge(first *endpoint) hedgePlan {
	others := c.endpoints.othersUp(first)
	// Endpoints that should answer at once come first, then those whose connection must be opened, and last those that
	// owe an answer.
	rank := func(other *endpoint) int {
		switch isOpen, isSilent := c.connections.isOpen(other); {
		case isOpen && !isSilent:
			return 0
		case !isOpen:
			return 1
		default:
			return 2
		}
	}
	if len(others) > 0 {
		best := slices.MinFunc(others, func(a, b *endpoint) int { return cmp.Compare(rank(a), rank(b)) })
		return hedgePlan{endpoint: best, delay: c.hedges.delay(rank(best) == 1)}
	}
	return hedgePlan{endpoint: first, isSecond: true, delay: c.hedges.delay(true)}
}

// openHedge returns the function that opens the connection of the second request; nil if none may be sent.
func (c *Client) openHedge(plan *hedgePlan) func(*endpoint) (*connection, error) {
	switch {
	case c.hedges.isPaused():
		return nil
	case !plan.isSecond:
		return c.connections.begin
	case c.connections.maySecond(plan.endpoint):
		return c.connections.beginSecond
	default:
		return nil
	}
}
