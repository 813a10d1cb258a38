package snowlane

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
)

// attempts makes the attempts of one call: it chooses the endpoint, waits where that helps, and decides when to give
// up.
type attempts struct {
	client *Client
	method string
	// number is that of the current attempt, from 1.
	number int
	// deadline is that of the call, by the client's clock.
	deadline time.Time
	// limit is how long the call may take in all; a stream without a deadline starts it again with each chunk.
	limit time.Duration
	// lastFailure is the error to report when time runs out: the last failure that was not itself caused by time
	// running out.
	lastFailure *Error
	// quotaWait is how long the server asked the caller to wait.
	quotaWait time.Duration
}

// attempt is one attempt of a call.
type attempt struct {
	endpoint *endpoint
	number   int
	// isHedge is set if its second request was answered.
	isHedge   bool
	startedAt time.Time
	// attempts is the call's attempts, which it belongs to.
	attempts *attempts
	// isReplaced is set if its connection was dark: the next attempt at this endpoint takes another one.
	isReplaced bool
}

func (c *Client) newAttempts(ctx context.Context, method string) *attempts {
	now := c.options.Clock.Now()
	limit := c.options.Timeout
	if deadline, ok := ctx.Deadline(); ok {
		limit = time.Until(deadline)
	}
	return &attempts{client: c, method: method, deadline: now.Add(limit), limit: limit}
}

// left is how long the current attempt may still take.
func (a *attempts) left() time.Duration {
	return min(a.client.options.AttemptTimeout, a.deadline.Sub(a.client.options.Clock.Now()))
}

// begin waits until the next attempt is due, and chooses its endpoint. Each attempt must be ended by succeed or fail.
func (a *attempts) begin(ctx context.Context) (attempt, error) {
	clock := a.client.options.Clock
	chosen, wait, endpointFailure := a.client.endpoints.choose()
	if moved, isNew := a.client.endpoints.announce(); isNew {
		event := StateEvent{State: StateMoved, Endpoint: moved.address.url}
		if a.lastFailure != nil {
			event.Reason = a.lastFailure.Reason
		}
		a.client.states.tell(event)
	}
	wait = max(wait, a.quotaWait)
	a.quotaWait = 0
	if ended := a.client.closedOrCancelled(ctx); ended != nil {
		return attempt{}, ended
	}
	if wait >= a.deadline.Sub(clock.Now()) {
		for _, failure := range []*Error{a.lastFailure, endpointFailure} {
			if failure != nil {
				return attempt{}, failure
			}
		}
		return attempt{}, contextError(timedOut, nil)
	}
	if wait > 0 {
		due := make(chan struct{})
		stop := clock.AfterFunc(wait, func() { close(due) })
		defer stop()
		select {
		case <-due:
		case <-ctx.Done():
			return attempt{}, contextError(ctx, a.lastFailure)
		case <-a.client.closing.Done():
			return attempt{}, closedError("client")
		}
	}
	a.number++
	return attempt{endpoint: chosen, number: a.number, startedAt: clock.Now(), attempts: a}, nil
}

// reportOther informs the observer about the request that did not decide the outcome of the attempt: it failed, or it
// was cancelled because the other one was answered first.
func (a *attempt) reportOther(endpoint *endpoint, isHedge bool, reason Reason) {
	other := *a
	other.endpoint, other.isHedge = endpoint, isHedge
	a.attempts.report(other, reason)
}

func (a *attempts) succeed(attempt attempt) {
	a.client.endpoints.noteSuccess(attempt.endpoint)
	a.report(attempt, "")
}

// progress records that a stream moved on: the count of attempts starts again.
func (a *attempts) progress(attempt attempt) {
	a.number = 1
	a.lastFailure = nil
	a.client.endpoints.noteSuccess(attempt.endpoint)
}

// awaitNext records that a stream's reader waits for the next chunk: the time starts again, unless the caller set a
// deadline.
func (a *attempts) awaitNext(ctx context.Context) {
	if _, ok := ctx.Deadline(); !ok {
		a.deadline = a.client.options.Clock.Now().Add(a.limit)
	}
}

// fail records that an attempt failed. It returns the error of the call if the call is over, and nil if another attempt
// may be made.
func (a *attempts) fail(ctx context.Context, attempt attempt, cause error) error {
	options := &a.client.options
	failure := errorOfRPC(cause, attempt.endpoint.address.url)
	if ended := a.client.closedOrCancelled(ctx); ended != nil {
		failure = ended
	}
	a.report(attempt, failure.Reason)
	hasRunOut := failure.Reason == DeadlineExceeded
	if failure.Endpoint != "" && !hasRunOut && (failure.Reason != Unreachable || failure.isAnswer) {
		a.client.endpoints.noteAnswer()
	}
	isOver := ctx.Err() != nil || !options.Clock.Now().Before(a.deadline)
	switch {
	case failure.Reason == QuotaExceeded:
		a.quotaWait = stretch(min(failure.RetryAfter, quotaWaitMax), options.Random)
	case attempt.isReplaced:
		a.client.endpoints.noteDarkConnection(attempt.endpoint)
	case hasRunOut && isOver:
		// The caller's own time has run out, which says nothing about the endpoint.
	case failure.Code == codes.Unavailable || failure.Reason == DeploymentMismatch || hasRunOut:
		failure = a.client.endpoints.noteFailure(attempt.endpoint, failure)
		if isFirstMistake(failure) {
			return failure
		}
	default:
		return failure
	}
	if !hasRunOut {
		a.lastFailure = failure
	}
	if !isOver && a.number <= max(0, options.RetryMax) {
		return nil
	}
	if a.lastFailure != nil {
		failure = a.lastFailure
	}
	return failure.atEndOf(ctx)
}

func (a *attempts) report(attempt attempt, reason Reason) {
	options := &a.client.options
	notify(options.Observer.OnAttempt, AttemptEvent{
		Method: a.method, Endpoint: attempt.endpoint.address.url, Attempt: attempt.number, IsHedge: attempt.isHedge,
		Duration: options.Clock.Now().Sub(attempt.startedAt), Reason: reason,
	})
}
