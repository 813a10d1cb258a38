package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"snowlane.dev/go"
)

// session is a client that is open, with its buffer if it has one.
type session struct {
	client *snowlane.Client
	buffer *snowlane.Buffer
	// leave ends the streams whose reading has stopped.
	leave []func()
}

// grace is how long after its time a take ends whose calls are late.
const grace = 5 * time.Second

var sessions = map[string]*session{}

func (s *session) next(ctx context.Context) (snowlane.ID, error) {
	if s.buffer != nil {
		return s.buffer.NextID(ctx)
	}
	return s.client.NextID(ctx)
}

// steppedClock is the clocks of this machine, of which the wall clock can be stepped.
type steppedClock struct {
	snowlane.SystemClock
	stepped atomic.Int64
}

func (c *steppedClock) Wall() time.Time {
	return time.Now().Round(0).Add(time.Duration(c.stepped.Load()))
}

var clock steppedClock

// step steps the wall clock of all clients.
func step(keys arguments) (any, error) {
	clock.stepped.Add(int64(keys.duration("ms")))
	return map[string]any{}, nil
}

func (a arguments) duration(name string) time.Duration {
	return time.Duration(a.number(name, 0)) * time.Millisecond
}

// open makes a client, with a buffer if buffer is 1.
func open(keys arguments) (any, error) {
	options := snowlane.Options{
		Endpoints: strings.Split(keys["endpoints"], ","), Token: keys.token(), Clock: &clock,
		Timeout: keys.duration("timeout_ms"), AttemptTimeout: keys.duration("attempt_timeout_ms"),
	}
	if keys["ca"] != "" {
		roots, err := os.ReadFile(keys["ca"])
		if err != nil {
			return nil, err
		}
		options.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
		options.TLS.RootCAs.AppendCertsFromPEM(roots)
	}
	switch {
	case keys["retry_max"] == "0":
		options.RetryMax = snowlane.NoRetries
	case keys["retry_max"] != "":
		options.RetryMax = keys.number("retry_max", 0)
	}
	client, err := snowlane.NewClient(options)
	if err != nil {
		return nil, err
	}
	made := &session{client: client}
	if keys["buffer"] == "1" {
		made.buffer, err = client.Prefetch(snowlane.BufferOptions{MaxAge: keys.duration("max_age_ms"), Outage: keys.duration("outage_ms")})
	}
	sessions[keys["client"]] = made
	return map[string]any{}, err
}

// shownError is how an error is printed; nil where it is not one of the client's.
func shownError(err error) map[string]any {
	var failure *snowlane.Error
	if !errors.As(err, &failure) {
		return nil
	}
	metadata := failure.Metadata
	if metadata == nil {
		metadata = map[string]string{}
	}
	var retryAfterMS any
	if failure.RetryAfter > 0 {
		retryAfterMS = failure.RetryAfter.Milliseconds()
	}
	return map[string]any{
		"reason": failure.Reason, "code": codeName(failure.Code.String()), "metadata": metadata,
		"retryAfterMs": retryAfterMS, "text": err.Error(),
	}
}

// call makes calls, one after the other; each result is an ID or an error.
func call(keys arguments) (any, error) {
	from := sessions[keys["client"]]
	var results []map[string]any
	for range keys.number("count", 1) {
		start := time.Now()
		id, err := from.next(context.Background())
		result := map[string]any{"id": fmt.Sprint(id)}
		if err != nil {
			if result = shownError(err); result == nil {
				return nil, err
			}
		}
		result["durationMs"] = milliseconds(time.Since(start))
		results = append(results, result)
	}
	return map[string]any{"results": results}, nil
}

func milliseconds(duration time.Duration) float64 {
	return float64(duration) / float64(time.Millisecond)
}

// take takes IDs at an even rate, each with the time at which it came; what fails is counted and not made again.
func take(keys arguments) (any, error) {
	from := sessions[keys["client"]]
	file, err := os.Create(keys["out"])
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriter(file)
	perSecond := keys.number("per_second", 100)
	count, failures, firstMS, longest := 0, 0, -1.0, time.Duration(0)
	reasons := map[snowlane.Reason]int{}
	start := time.Now()
	seconds := keys.number("seconds", 1)
	end := start.Add(time.Duration(seconds)*time.Second + grace)
	for index := 0; index < perSecond*seconds && time.Now().Before(end); index++ {
		time.Sleep(time.Until(start.Add(time.Duration(index) * time.Second / time.Duration(perSecond))))
		called := time.Now()
		id, err := from.next(context.Background())
		longest = max(longest, time.Since(called))
		if err != nil {
			failures++
			reasons[snowlane.ReasonOf(err)]++
			continue
		}
		count++
		if firstMS < 0 {
			firstMS = milliseconds(time.Since(start))
		}
		if err := binary.Write(out, binary.BigEndian, []uint64{uint64(id), uint64(time.Now().UnixMilli())}); err != nil {
			return nil, err
		}
	}
	err = errors.Join(out.Flush(), file.Close())
	return map[string]any{
		"count": count, "failures": failures, "reasons": reasons, "waitMaxMs": milliseconds(longest), "firstMs": firstMS,
	}, err
}

// streams opens streams, reads the first chunk of each, and no more: they stay open until the client is closed.
func streams(keys arguments) (any, error) {
	from := sessions[keys["client"]]
	total := keys.number("count", 1)
	opened := make(chan error, total)
	for range total {
		next, leave := iter.Pull2(from.client.Stream(context.Background(), 1_000_000, snowlane.StreamOptions{}))
		from.leave = append(from.leave, leave)
		go func() {
			_, err, _ := next()
			opened <- err
		}()
	}
	count, failures, reasons := 0, 0, map[snowlane.Reason]int{}
	for range total {
		if err := <-opened; err == nil {
			count++
		} else {
			failures++
			reasons[snowlane.ReasonOf(err)]++
		}
	}
	return map[string]any{"count": count, "failures": failures, "reasons": reasons}, nil
}

func stats(keys arguments) (any, error) {
	found := sessions[keys["client"]].buffer.Stats()
	return map[string]any{
		"handedOut": found.HandedOut, "reserved": found.Reserved, "dropped": found.Dropped, "waits": found.Waits, "stock": found.Stock,
	}, nil
}

func closeClient(keys arguments) (any, error) {
	from := sessions[keys["client"]]
	for _, leave := range from.leave {
		leave()
	}
	from.client.Close()
	delete(sessions, keys["client"])
	return map[string]any{}, nil
}
