package snowlane

import (
	"context"
	"log/slog"
	"net/netip"
	"time"
)

// SpreadCallers does what contention does, which no test can bring about at will.
func (b *Buffer) SpreadCallers() {
	b.spreadCallers()
}

// IsSpread reports whether callers claim from stripes.
func (b *Buffer) IsSpread() bool {
	return b.spread.Load() != nil
}

// Held is how many IDs lie in stripes.
func (b *Buffer) Held() int {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return int(b.stripes.unclaimed(nil))
}

// BufferCount is how many buffers a client keeps.
func (c *Client) BufferCount() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return len(c.buffers)
}

// TargetOf returns the gRPC target of an endpoint; empty if it is refused.
func TargetOf(endpoint string) string {
	address, err := (&Options{}).readEndpoint(endpoint)
	if err != nil {
		return ""
	}
	return address.target()
}

// IsRefilling reports whether a reservation is on its way.
func (b *Buffer) IsRefilling() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.isRefilling
}

// SetLookUp puts another way of looking up names in place of the system's.
func (c *Client) SetLookUp(lookUp func(ctx context.Context, host string) ([]netip.Addr, error)) {
	c.names.lookUp = lookUp
}

// EndpointURLs are those that a client chooses among.
func (c *Client) EndpointURLs() []string {
	var urls []string
	for _, one := range c.endpoints.list() {
		urls = append(urls, one.address.url)
	}
	return urls
}

// NewStates returns the part that reports states to the observer and the log.
func NewStates(clock Clock, observer *ClientObserver, logger *slog.Logger) func(StateEvent) {
	return newStates(clock, observer, logger).tell
}

// RefillPolicy is the policy of a buffer, for the example in its comment.
type RefillPolicy struct{ refillPolicy }

// NewRefillPolicy makes one with these bounds.
func NewRefillPolicy(countMin, countMax int) *RefillPolicy {
	return &RefillPolicy{refillPolicy{countMin: countMin, countMax: countMax}}
}

func (p *RefillPolicy) NoteHandedOut(at time.Duration, count uint64) {
	p.noteHandedOut(handed{at: time.Unix(0, 0).Add(at), count: count})
}

func (p *RefillPolicy) NoteRoundTrip(took time.Duration)              { p.noteRoundTrip(took) }
func (p *RefillPolicy) NoteMark(count uint64, duration time.Duration) { p.noteMark(count, duration) }
func (p *RefillPolicy) ReserveCount() int                             { return p.reserveCount() }
func (p *RefillPolicy) LowWater(count uint64) uint64                  { return p.lowWater(count) }
func (p *RefillPolicy) Rate() float64                                 { return p.rate }

// MayOpenSecond reports whether a refill may open a second connection to the one endpoint.
func (c *Client) MayOpenSecond() bool {
	return c.connections.maySecond(c.endpoints.all[0])
}
