package snowlane

// SpreadCallers does what contention does, which no test can bring about at will.
func (b *Buffer) SpreadCallers() {
	b.spreadCallers()
}

// IsSpread tells whether callers claim from stripes.
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

// TargetOf is how gRPC is told an endpoint; empty if it is refused.
func TargetOf(endpoint string) string {
	address, err := (&Options{}).readEndpoint(endpoint)
	if err != nil {
		return ""
	}
	return address.target()
}

// IsRefilling tells whether a reservation is under way.
func (b *Buffer) IsRefilling() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.isRefilling
}
