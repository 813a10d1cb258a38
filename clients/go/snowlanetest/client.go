package snowlanetest

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"snowlane.dev/go"
)

// Step is one step of a script. [ID], [Run], [Fail] and [Delay] make steps; in the script of a sequence, [Value],
// [Values], [Fail] and [Delay] do.
type Step struct {
	run   snowlane.Run
	fault *snowlane.Error
	delay time.Duration
	// values that are left, in a script of a sequence.
	values []snowlane.SequenceValue
}

// ID gives one ID.
func ID(id snowlane.ID) Step {
	return Run(id, 1, 1)
}

// Run gives count IDs: first + i*stride.
func Run(first snowlane.ID, count int, stride uint64) Step {
	return Step{run: snowlane.Run{First: first, Count: count, Stride: stride}}
}

// Fail makes the call fail. The error is returned unchanged: a fake never retries.
func Fail(reason snowlane.Reason, code codes.Code, retryAfter time.Duration) Step {
	return Step{fault: &snowlane.Error{
		Reason: reason, Code: code, Message: fmt.Sprintf("the script says %s", reason), RetryAfter: retryAfter,
	}}
}

// Delay lets d pass on the clock before the step that follows.
func Delay(d time.Duration) Step {
	return Step{delay: d}
}

// Client replaces snowlane.Client in tests: it hands out the IDs of its script, without a server. Once the script has
// ended, calls fail with SCRIPT_ENDED.
type Client struct {
	// Clock is the clock that Delay and the buffers use.
	Clock *Clock
	// Deployment is the layout that Layout and TextCodec use. Default: twitter.
	Deployment *snowlane.Layout

	mutex     sync.Mutex
	steps     []Step
	buffers   []*snowlane.Buffer
	sequences map[string]*sequence
	closed    bool
}

var _ snowlane.IDSource = (*Client)(nil)

// NewClient makes a client with a clock of its own.
func NewClient(script ...Step) *Client {
	twitter, err := snowlane.Preset("twitter")
	if err != nil {
		panic(err)
	}
	return &Client{Clock: &Clock{}, Deployment: twitter, steps: script}
}

// NextID takes one ID of the script.
func (c *Client) NextID(ctx context.Context) (snowlane.ID, error) {
	ids, err := c.NextIDs(ctx, 1)
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// NextIDs takes count IDs of the script.
func (c *Client) NextIDs(ctx context.Context, count int) ([]snowlane.ID, error) {
	var ids []snowlane.ID
	for len(ids) < count || count < 1 {
		runs, err := c.Reserve(ctx, count-len(ids))
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			for index := range uint64(run.Count) {
				ids = append(ids, run.First+snowlane.ID(index*run.Stride))
			}
		}
	}
	return ids, nil
}

// Stream takes count IDs of the script, in chunks.
func (c *Client) Stream(ctx context.Context, count int, options snowlane.StreamOptions) iter.Seq2[[]snowlane.ID, error] {
	size := options.ChunkSize
	if size == 0 {
		size = 4_096
	}
	return func(yield func([]snowlane.ID, error) bool) {
		for left := count; left > 0 || count < 1; {
			ids, err := c.NextIDs(ctx, min(left, size))
			left -= len(ids)
			if !yield(ids, err) || err != nil {
				return
			}
		}
	}
}

// Reserve takes the IDs and runs of the script up to the next fault, delay or its end; at most count IDs.
func (c *Client) Reserve(ctx context.Context, count int) ([]snowlane.Run, error) {
	if err := checkCount(count); err != nil {
		return nil, err
	}
	for {
		c.mutex.Lock()
		runs, wait, err := c.take(count)
		c.mutex.Unlock()
		if wait == 0 {
			return runs, err
		}
		if err := c.pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// pause waits on the clock.
func (c *Client) pause(ctx context.Context, wait time.Duration) error {
	due := make(chan struct{})
	stop := c.Clock.AfterFunc(wait, func() { close(due) })
	select {
	case <-due:
		return nil
	case <-ctx.Done():
		stop()
		return failure(snowlane.Cancelled, codes.Canceled, "the caller cancelled")
	}
}

func (c *Client) isClosed() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.closed
}

// take takes steps; it asks for a wait where the next one is a delay.
func (c *Client) take(count int) (runs []snowlane.Run, wait time.Duration, err error) {
	for left := count; left > 0; {
		switch {
		case c.closed:
			return nil, 0, failure(snowlane.ClientClosed, codes.Canceled, "the client is closed")
		case len(c.steps) == 0 && left < count:
			return runs, 0, nil
		case len(c.steps) == 0:
			const message = "the script has ended: the code under test takes more IDs than it says"
			return nil, 0, failure(snowlane.ScriptEnded, codes.FailedPrecondition, message)
		}
		step := &c.steps[0]
		if step.run.Count == 0 {
			if left < count {
				return runs, 0, nil
			}
			taken := *step
			c.steps = c.steps[1:]
			if taken.fault != nil {
				return nil, 0, taken.fault
			}
			if taken.delay <= 0 {
				continue
			}
			return nil, taken.delay, nil
		}
		run := step.run
		run.Count = min(run.Count, left)
		runs = append(runs, run)
		left -= run.Count
		step.run.First += snowlane.ID(uint64(run.Count) * run.Stride)
		step.run.Count -= run.Count
		if step.run.Count == 0 {
			c.steps = c.steps[1:]
		}
	}
	return runs, 0, nil
}

// Layout returns Deployment.
func (c *Client) Layout(context.Context) (*snowlane.Layout, error) {
	return c.Deployment, nil
}

// TextCodec returns the text forms of Deployment and the namespace `default`.
func (c *Client) TextCodec(context.Context) (*snowlane.TextCodec, error) {
	return snowlane.NewTextCodec(c.Deployment, "default"), nil
}

// Prefetch makes a real buffer over the script and the clock.
func (c *Client) Prefetch(options snowlane.BufferOptions) (*snowlane.Buffer, error) {
	if options.Clock == nil {
		options.Clock = c.Clock
	}
	buffer, err := snowlane.NewBuffer(c, options)
	if err == nil {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.buffers = append(c.buffers, buffer)
	}
	return buffer, err
}

// Close closes the client and its buffers.
func (c *Client) Close() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.closed = true
	for _, buffer := range c.buffers {
		_ = buffer.Close()
	}
	return nil
}
