package snowlane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
)

const (
	// A connection counts as dark after this much silence. The time doubles for each new connection in a row that
	// answered nothing.
	silence    = time.Second
	silenceMax = 8 * time.Second
	// A connection that has not answered yet is not replaced before this age: its server may be overloaded, and one
	// more handshake would add to the load.
	openingTime = 10 * time.Second
	// The shortest time between two openings of a second connection beside one that has answered.
	secondEvery = 10 * time.Second
	// The most streams of one connection: servers allow 100 and more.
	streamsEach = 90
)

// connection is one channel to an endpoint. The mutex of its connections guards all fields but the channel.
type connection struct {
	channel     *grpc.ClientConn
	openedAt    time.Time
	callCount   int
	hasAnswered bool
	// isSilent is set while it owes an answer, since silentSince: the time of the first request after the last answer.
	isSilent    bool
	silentSince time.Time
	// isReplaced is set once its endpoint has another connection: it gets no more calls.
	isReplaced bool
	// isSecond is set if it was opened beside the one in use, for one RPC.
	isSecond bool
	// isWatched is set once it was open: its loss will be noticed.
	isWatched bool
}

// connections opens a connection to an endpoint at its first call, and another if that one is dark: it is open but
// answers nothing.
type connections struct {
	open  func(*endpoint) (*grpc.ClientConn, error)
	clock Clock
	// onReplaced, if set, is called without the mutex when a connection takes the place of one that answered nothing.
	onReplaced func(*endpoint)

	mutex    sync.Mutex
	isClosed bool
	inUse    map[*endpoint]*connection
	// streaming has the connections of streams. Calls use others, so that a paused reader holds up no call.
	streaming       map[*endpoint][]*connection
	replaced        map[*connection]struct{}
	unansweredInRow map[*endpoint]int
	// secondAt is when a second connection was opened last.
	secondAt map[*endpoint]time.Time
}

func newConnections(open func(*endpoint) (*grpc.ClientConn, error), clock Clock) *connections {
	return &connections{
		open: open, clock: clock,
		inUse: map[*endpoint]*connection{}, replaced: map[*connection]struct{}{}, unansweredInRow: map[*endpoint]int{},
		secondAt: map[*endpoint]time.Time{}, streaming: map[*endpoint][]*connection{},
	}
}

// begin returns the connection for an RPC. Each one must be ended by end.
func (c *connections) begin(endpoint *endpoint) (*connection, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.isClosed {
		return nil, closedError("client")
	}
	used, ok := c.inUse[endpoint]
	if !ok {
		var err error
		if used, err = c.make(endpoint); err != nil {
			return nil, err
		}
		c.inUse[endpoint] = used
	}
	c.watch(used)
	used.callCount++
	c.await(used)
	return used, nil
}

// watch notices when a connection is lost, and treats it as one that is being opened: gRPC opens another in the same
// channel, and a call that waits for it may succeed.
func (c *connections) watch(used *connection) {
	if used.isWatched || used.channel.GetState() != connectivity.Ready {
		return
	}
	used.isWatched = true
	go func() {
		// This ends at the latest when the channel is closed.
		used.channel.WaitForStateChange(context.Background(), connectivity.Ready)
		c.mutex.Lock()
		defer c.mutex.Unlock()
		used.isWatched = false
		c.noteOpening(used)
	}()
}

// noteOpening records that a connection is being opened. The time for which it owes an answer counts from now.
func (c *connections) noteOpening(used *connection) {
	used.hasAnswered = false
	used.openedAt = c.clock.Now()
	used.silentSince = used.openedAt
}

// beginStream returns the connection for a stream. Each one must be ended by end.
func (c *connections) beginStream(endpoint *endpoint) (*connection, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.isClosed {
		return nil, closedError("client")
	}
	open := c.streaming[endpoint]
	index := slices.IndexFunc(open, func(other *connection) bool { return other.callCount < streamsEach })
	if index < 0 {
		made, err := c.make(endpoint)
		if err != nil {
			return nil, err
		}
		index = len(open)
		c.streaming[endpoint] = append(open, made)
	}
	used := c.streaming[endpoint][index]
	used.callCount++
	c.await(used)
	return used, nil
}

// maySecond reports whether a second connection may be opened beside the one in use.
func (c *connections) maySecond(endpoint *endpoint) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	used, isThere := c.inUse[endpoint]
	at, isLater := c.secondAt[endpoint]
	return isThere && used.hasAnswered && (!isLater || c.clock.Now().Sub(at) >= secondEvery)
}

// beginSecond opens a connection beside the one in use, for one RPC. It closes after that RPC, unless it is adopted.
func (c *connections) beginSecond(endpoint *endpoint) (*connection, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.isClosed {
		return nil, closedError("client")
	}
	second, err := c.make(endpoint)
	if err != nil {
		return nil, err
	}
	c.secondAt[endpoint] = second.openedAt
	second.isReplaced, second.isSecond = true, true
	c.replaced[second] = struct{}{}
	second.callCount++
	c.await(second)
	return second, nil
}

// adopt puts a second connection that answered first in place of the one in use.
func (c *connections) adopt(endpoint *endpoint, second *connection) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	slow, isThere := c.inUse[endpoint]
	// A connection without a call owes no answer, so it is no longer the slow one.
	if !second.isSecond || (isThere && slow.callCount == 0) {
		return
	}
	delete(c.replaced, second)
	second.isReplaced, second.isSecond = false, false
	if isThere {
		slow.isReplaced = true
		c.replaced[slow] = struct{}{}
	}
	c.inUse[endpoint] = second
}

// isOpen reports whether an endpoint has a connection that has answered, and whether that connection owes an answer
// now.
func (c *connections) isOpen(endpoint *endpoint) (isOpen, isSilent bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	used, isThere := c.inUse[endpoint]
	return isThere && used.hasAnswered, isThere && used.isSilent
}

func (c *connections) make(endpoint *endpoint) (*connection, error) {
	channel, err := c.open(endpoint)
	if err != nil {
		return nil, fmt.Errorf("snowlane: %w", err)
	}
	return &connection{channel: channel, openedAt: c.clock.Now()}, nil
}

// end records how an RPC ended, and reports whether the next one at this endpoint takes another connection because this
// one was dark.
func (c *connections) end(endpoint *endpoint, used *connection, cause error) (isReplaced bool) {
	c.mutex.Lock()
	wasReplaced := used.isReplaced
	switch reason := reasonOfRPC(cause); {
	case cause == errLegLost:
		// All that is known is that it may still be slow. If it is dark, the next call finds out.
	case reason == DeadlineExceeded || reason == Cancelled:
		c.noteLimit(endpoint, used)
		isReplaced = used.isReplaced
	case reason == Unreachable:
		// The connection was refused or it ended: gRPC opens another in the same channel.
		used.isSilent = false
		c.noteOpening(used)
		isReplaced = used.isReplaced
	default:
		c.answered(endpoint, used)
	}
	isNewlyReplaced := used.isReplaced && !wasReplaced
	used.callCount--
	// The first connection for streams stays, others close when they are empty.
	if used.callCount == 0 && slices.Index(c.streaming[endpoint], used) > 0 {
		c.leave(endpoint, used)
	}
	_, isLeft := c.replaced[used]
	isDone := isLeft && used.callCount == 0
	if isDone {
		delete(c.replaced, used)
	}
	c.mutex.Unlock()
	if isDone {
		_ = used.channel.Close()
	}
	if isNewlyReplaced && c.onReplaced != nil {
		c.onReplaced(endpoint)
	}
	return isReplaced
}

// awaitAnswer records that an answer is due from now on.
func (c *connections) awaitAnswer(used *connection) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.await(used)
}

// noteAnswer records that a server answered: with success, an error or a chunk.
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
	for _, open := range c.streaming {
		all = append(all, open...)
	}
	for used := range c.replaced {
		all = append(all, used)
	}
	clear(c.inUse)
	clear(c.streaming)
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
	// The next call opens another. Calls that time out together find this one replaced.
	if c.isDark(endpoint, used) && c.leave(endpoint, used) {
		c.unansweredInRow[endpoint]++
	}
}

// leave makes sure that a connection gets no more calls, and closes after the last. It returns false if the connection
// was out of use already.
func (c *connections) leave(endpoint *endpoint, used *connection) bool {
	open := c.streaming[endpoint]
	index := slices.Index(open, used)
	switch {
	case c.inUse[endpoint] == used:
		delete(c.inUse, endpoint)
	case index >= 0:
		c.streaming[endpoint] = slices.Delete(open, index, index+1)
	default:
		return false
	}
	c.replaced[used] = struct{}{}
	used.isReplaced = true
	return true
}

// retire closes the connections to an endpoint after their last calls: its address is gone.
func (c *connections) retire(endpoint *endpoint) {
	c.mutex.Lock()
	all := slices.Clone(c.streaming[endpoint])
	if used, isThere := c.inUse[endpoint]; isThere {
		all = append(all, used)
	}
	var idle []*connection
	for _, used := range all {
		c.leave(endpoint, used)
		if used.callCount == 0 {
			delete(c.replaced, used)
			idle = append(idle, used)
		}
	}
	delete(c.streaming, endpoint)
	delete(c.unansweredInRow, endpoint)
	delete(c.secondAt, endpoint)
	c.mutex.Unlock()
	for _, used := range idle {
		_ = used.channel.Close()
	}
}

func (c *connections) isDark(endpoint *endpoint, used *connection) bool {
	now := c.clock.Now()
	if !used.isSilent || (!used.hasAnswered && now.Sub(used.openedAt) < openingTime) {
		return false
	}
	limit := min(silenceMax, silence<<min(c.unansweredInRow[endpoint], 3))
	return now.Sub(used.silentSince) >= limit
}
