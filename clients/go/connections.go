package snowlane

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"
)

const (
	// A connection that is silent for so long is dark; twice as long for each new one in a row that answered nothing.
	silence    = time.Second
	silenceMax = 8 * time.Second
	// A connection that has not answered yet is left alone until it is so old: its server may be short of time, and
	// would be shorter of it with one more to greet.
	openingTime = 10 * time.Second
)

// connection is one channel to an endpoint. All but the channel is guarded by the mutex of its connections.
type connection struct {
	channel     *grpc.ClientConn
	openedAt    time.Time
	callCount   int
	hasAnswered bool
	// isSilent: it owes an answer, since silentSince: when the first request was sent after the last answer.
	isSilent    bool
	silentSince time.Time
	// isReplaced: its endpoint has another now, and it gets no more calls.
	isReplaced bool
}

// connections opens a connection to an endpoint at its first call, and another where that one is dark: where it stands
// and answers nothing.
type connections struct {
	open  func(*endpoint) (*grpc.ClientConn, error)
	clock Clock

	mutex           sync.Mutex
	isClosed        bool
	inUse           map[*endpoint]*connection
	replaced        map[*connection]struct{}
	unansweredInRow map[*endpoint]int
}

func newConnections(open func(*endpoint) (*grpc.ClientConn, error), clock Clock) *connections {
	return &connections{
		open: open, clock: clock,
		inUse: map[*endpoint]*connection{}, replaced: map[*connection]struct{}{}, unansweredInRow: map[*endpoint]int{},
	}
}

// begin gives the connection that an RPC takes. Each one is ended by end.
func (c *connections) begin(endpoint *endpoint) (*connection, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.isClosed {
		return nil, closedError("client")
	}
	used, ok := c.inUse[endpoint]
	if !ok {
		channel, err := c.open(endpoint)
		if err != nil {
			return nil, fmt.Errorf("snowlane: %w", err)
		}
		used = &connection{channel: channel, openedAt: c.clock.Now()}
		c.inUse[endpoint] = used
	}
	used.callCount++
	c.await(used)
	return used, nil
}

// end takes in how an RPC ended, and tells whether the next one at this endpoint takes another connection because this
// one was dark.
func (c *connections) end(endpoint *endpoint, used *connection, cause error) (isReplaced bool) {
	c.mutex.Lock()
	switch reason := reasonOfRPC(cause); reason {
	case DeadlineExceeded, Cancelled:
		c.noteLimit(endpoint, used)
		isReplaced = used.isReplaced
	case Unreachable:
		// It was refused or it ended: gRPC opens another in the same channel.
		used.isSilent = false
		used.hasAnswered = false
		used.openedAt = c.clock.Now()
		isReplaced = used.isReplaced
	default:
		c.answered(endpoint, used)
	}
	used.callCount--
	_, isLeft := c.replaced[used]
	isDone := isLeft && used.callCount == 0
	if isDone {
		delete(c.replaced, used)
	}
	c.mutex.Unlock()
	if isDone {
		_ = used.channel.Close()
	}
	return isReplaced
}

// awaitAnswer takes in that an answer is due from now on.
func (c *connections) awaitAnswer(used *connection) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.await(used)
}

// noteAnswer takes in that a server answered: with success, an error or a chunk.
func (c *connections) noteAnswer(endpoint *endpoint, used *connection) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.answered(endpoint, used)
}

// close closes all of them.
func (c *connections) close() error {
	c.mutex.Lock()
	c.isClosed = true
	var all []*connection
	for _, used := range c.inUse {
		all = append(all, used)
	}
	for used := range c.replaced {
		all = append(all, used)
	}
	clear(c.inUse)
	clear(c.replaced)
	c.mutex.Unlock()
	var faults []error
	for _, used := range all {
		faults = append(faults, used.channel.Close())
	}
	return errors.Join(faults...)
}

func (c *connections) await(used *connection) {
	if !used.isSilent {
		used.isSilent = true
		used.silentSince = c.clock.Now()
	}
}

func (c *connections) answered(endpoint *endpoint, used *connection) {
	used.isSilent = false
	used.hasAnswered = true
	if !used.isReplaced {
		c.unansweredInRow[endpoint] = 0
	}
}

func (c *connections) noteLimit(endpoint *endpoint, used *connection) {
	if c.inUse[endpoint] != used || !c.isDark(endpoint, used) {
		return
	}
	// The next call opens another. Calls that run out together find this one replaced.
	delete(c.inUse, endpoint)
	c.replaced[used] = struct{}{}
	c.unansweredInRow[endpoint]++
	used.isReplaced = true
}

func (c *connections) isDark(endpoint *endpoint, used *connection) bool {
	now := c.clock.Now()
	if !used.isSilent || (!used.hasAnswered && now.Sub(used.openedAt) < openingTime) {
		return false
	}
	limit := min(silenceMax, silence<<min(c.unansweredInRow[endpoint], 3))
	return now.Sub(used.silentSince) >= limit
}
