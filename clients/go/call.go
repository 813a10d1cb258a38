package snowlane

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// work makes one RPC, and reads its answer once the answer is admitted.
type work[Answer any] func(ctx context.Context, channel *grpc.ClientConn, admit admitted) (Answer, error)

// try makes one attempt of a call.
type try[Answer any] func(ctx context.Context, c *Client, attempt *attempt, work work[Answer]) (Answer, error)

// call runs a call of one answer, with its attempts.
func call[Answer any](ctx context.Context, c *Client, method string, work work[Answer]) (Answer, error) {
	return runAttempts(ctx, c, method, work, tryOnce[Answer])
}

// hedgedCall is a call that may be sent twice in each attempt.
func hedgedCall[Answer any](ctx context.Context, c *Client, method string, work work[Answer]) (Answer, error) {
	return runAttempts(ctx, c, method, work, tryHedged[Answer])
}

func runAttempts[Answer any](
	ctx context.Context, c *Client, method string, work work[Answer], try try[Answer],
) (none Answer, err error) {
	attempts := c.newAttempts(ctx, method)
	for {
		if err := c.prepare(ctx); err != nil {
			return none, err
		}
		attempt, err := attempts.begin(ctx)
		if err != nil {
			return none, err
		}
		limited, cancel := context.WithTimeout(ctx, attempts.left())
		answer, err := try(limited, c, &attempt, work)
		cancel()
		if err == nil {
			attempts.succeed(attempt)
			return answer, nil
		}
		if err = attempts.fail(ctx, attempt, err); err != nil {
			return none, err
		}
	}
}

// prepare makes sure that names are looked up, and that the endpoints are known to belong to one deployment.
func (c *Client) prepare(ctx context.Context) error {
	c.names.look(ctx, c.closing)
	return c.meet()
}

func tryOnce[Answer any](ctx context.Context, c *Client, attempt *attempt, work work[Answer]) (answer Answer, err error) {
	attempt.isReplaced, err = c.exchange(ctx, attempt.endpoint, c.connections.begin,
		func(ctx context.Context, used *connection) (err error) {
			answer, err = work(ctx, used.channel, admitted{c, attempt.endpoint})
			return err
		})
	return answer, err
}

// exchange makes one RPC at an endpoint: it passes run the connection, and a context with the token. It reports whether
// the next RPC takes another connection, because this one was dark.
func (c *Client) exchange(
	ctx context.Context, endpoint *endpoint, begin func(*endpoint) (*connection, error), run func(context.Context, *connection) error,
) (isReplaced bool, err error) {
	if c.options.Token != nil {
		bearer, err := c.options.bearer(ctx)
		if err != nil {
			return false, err
		}
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", bearer)
	}
	used, err := begin(endpoint)
	if err != nil {
		return false, err
	}
	awaitRecovery(ctx, used.channel)
	err = run(ctx, used)
	return c.connections.end(endpoint, used, err), err
}

// errLegLost means that the other RPC of the attempt was answered first.
var errLegLost = errors.New("snowlane: the other request was answered first")

// leg is the result of one of the two RPCs of an attempt.
type leg[Answer any] struct {
	isHedge    bool
	endpoint   *endpoint
	took       time.Duration
	answer     Answer
	isReplaced bool
	err        error
}

// tryHedged sends a second RPC if the first has no answer after a while, and takes the first valid answer. The other
// RPC is cancelled and its answer never read. If both fail, the attempt fails with the error of the first.
//
// Attempts 13 of docs/internals/client-contract.md has the rule.
func tryHedged[Answer any](ctx context.Context, c *Client, attempt *attempt, work work[Answer]) (none Answer, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(errLegLost)
	ended := make(chan leg[Answer], 2)
	go func() { ended <- runLeg(ctx, c, attempt.endpoint, nil, work) }()
	plan := c.planHedge(attempt.endpoint)
	due := make(chan struct{})
	stop := c.options.Clock.AfterFunc(plan.delay, func() { close(due) })
	defer stop()
	var first, failedHedge *leg[Answer]
	for underWay := 1; underWay > 0; {
		select {
		case <-due:
			due = nil
			if open := c.openHedge(&plan); open != nil {
				underWay++
				go func() { ended <- runLeg(ctx, c, plan.endpoint, open, work) }()
			}
		case leg := <-ended:
			underWay--
			if leg.err == nil {
				c.hedges.noteAnswer(leg.took)
				c.endpoints.noteHedge(leg.endpoint, leg.endpoint != attempt.endpoint)
				switch {
				case underWay > 0 && leg.isHedge:
					attempt.reportOther(attempt.endpoint, false, Cancelled)
				case underWay > 0:
					attempt.reportOther(plan.endpoint, true, Cancelled)
				case first != nil:
					attempt.reportOther(first.endpoint, false, reasonOfRPC(first.err))
				case failedHedge != nil:
					attempt.reportOther(failedHedge.endpoint, true, reasonOfRPC(failedHedge.err))
				}
				attempt.endpoint, attempt.isHedge, attempt.isReplaced = leg.endpoint, leg.isHedge, leg.isReplaced
				return leg.answer, nil
			}
			if leg.isHedge {
				failedHedge = &leg
			} else {
				first = &leg
				// After an error there is no hedge, but the next attempt.
				due = nil
			}
		}
	}
	if failedHedge != nil {
		attempt.reportOther(failedHedge.endpoint, true, reasonOfRPC(failedHedge.err))
	}
	if reasonOfRPC(first.err) == QuotaExceeded {
		c.hedges.noteQuota()
	}
	attempt.isReplaced = first.isReplaced
	return none, first.err
}

// runLeg makes one RPC of an attempt; open, if set, opens the connection of a hedge.
func runLeg[Answer any](
	ctx context.Context, c *Client, to *endpoint, open func(*endpoint) (*connection, error), work work[Answer],
) leg[Answer] {
	ran := leg[Answer]{isHedge: open != nil, endpoint: to}
	if open == nil {
		open = c.connections.begin
	}
	startedAt := c.options.Clock.Now()
	ran.isReplaced, ran.err = c.exchange(ctx, to, open, func(ctx context.Context, used *connection) (err error) {
		ran.answer, err = work(ctx, used.channel, admitted{c, to})
		if err == nil {
			c.connections.adopt(to, used)
		} else if context.Cause(ctx) == errLegLost {
			err = errLegLost
		}
		return err
	})
	ran.took = c.options.Clock.Now().Sub(startedAt)
	return ran
}
