package snowlane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"google.golang.org/grpc"
	snowlanev1 "snowlane.dev/go/gen/snowlane/v1"
)

// StreamOptions says how a stream works. The zero value means the defaults.
type StreamOptions struct {
	// ChunkSize is the most IDs or values of one chunk: 1 to 65,536; 0 leaves it to the server.
	ChunkSize int
	// Ordered: a stream that breaks is not continued by another, so that all its IDs or values ascend.
	Ordered bool
}

// Stream issues count IDs, 1 to 10^9, in chunks: exactly that many, or an error as the last element. A stream that
// breaks is continued by another, whose IDs may start lower, unless Ordered is set. Leaving the loop cancels it.
// Without a deadline in the context, Options.Timeout bounds the wait for each chunk.
func (c *Client) Stream(ctx context.Context, count int, options StreamOptions) iter.Seq2[[]ID, error] {
	call := streamCall[ID]{client: c, method: "BatchNextIds", items: "IDs", options: options}
	call.open = func(ctx context.Context, channel *grpc.ClientConn, left int, admit admitted) (func() ([]ID, error), error) {
		request := &snowlanev1.BatchNextIdsRequest{Count: uint64(left), ChunkSize: uint32(options.ChunkSize)}
		stream, err := snowlanev1.NewIdServiceClient(channel).BatchNextIds(ctx, request)
		lastID := ID(0)
		return func() ([]ID, error) {
			response, err := stream.Recv()
			if err != nil {
				return nil, err
			}
			if err := admit.deployment(response.GetDeployment()); err != nil {
				return nil, err
			}
			ids := make([]ID, len(response.GetIds()))
			for index, id := range response.GetIds() {
				ids[index] = ID(id)
			}
			return ids, checkRising(ids, &lastID)
		}, err
	}
	return call.read(ctx, count)
}

// checkRising checks the IDs of one server's stream: all of them must rise, also from chunk to chunk.
func checkRising(ids []ID, lastID *ID) error {
	for _, id := range ids {
		if id <= *lastID || id > MaxID {
			return invalidResponse("the server sent IDs that are not in ascending order", map[string]string{"id": id.String(), "previous_id": lastID.String()})
		}
		*lastID = id
	}
	return nil
}

// streamCall is a stream of a given number of items, over as many RPCs as it takes.
type streamCall[Item any] struct {
	client  *Client
	method  string
	options StreamOptions
	// items is what error texts call the items.
	items string
	// open begins an RPC for the remaining items; the function that it returns waits for the next chunk.
	open func(ctx context.Context, channel *grpc.ClientConn, left int, admit admitted) (next func() ([]Item, error), err error)
}

// read yields the chunks of a stream of count items.
func (s *streamCall[Item]) read(ctx context.Context, count int) iter.Seq2[[]Item, error] {
	return func(yield func([]Item, error) bool) {
		if err := checkRange("count", count, 1, streamMax); err != nil {
			yield(nil, err)
			return
		}
		if err := checkRange("chunk_size", s.options.ChunkSize, 0, chunkSizeMax); err != nil {
			yield(nil, err)
			return
		}
		attempts := s.client.newAttempts(ctx, s.method)
		for left := count; left > 0; {
			if err := s.client.prepare(ctx); err != nil {
				yield(nil, err)
				return
			}
			attempt, err := attempts.begin(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			reader := streamReader[Item]{call: s, attempts: attempts, attempt: attempt, left: left}
			err = reader.read(ctx, yield)
			if errors.Is(err, errReaderLeft) {
				return
			}
			if err == nil {
				attempts.succeed(attempt)
				return
			}
			left, attempt = reader.left, reader.attempt
			failure := errorOfRPC(err, attempt.endpoint.address.url)
			if err = attempts.fail(ctx, attempt, err); err == nil && s.options.Ordered && left < count {
				err = failure
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// errReaderLeft means that the loop over the stream was left.
var errReaderLeft = errors.New("snowlane: the reader left")

// streamReader reads one server's stream.
type streamReader[Item any] struct {
	call     *streamCall[Item]
	attempts *attempts
	attempt  attempt
	// left is how many items are still to come.
	left int
}

func (r *streamReader[Item]) read(ctx context.Context, yield func([]Item, error) bool) error {
	client, endpoint := r.call.client, r.attempt.endpoint
	streaming, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	hasLeft := false
	isReplaced, err := client.exchange(streaming, endpoint, client.connections.beginStream, func(streaming context.Context, used *connection) error {
		admit := admitted{client, endpoint}
		stop := r.watch(cancel)
		next, err := r.call.open(streaming, used.channel, r.left, admit)
		stop()
		for err == nil {
			var items []Item
			if items, err = r.next(cancel, next); err != nil {
				break
			}
			client.connections.noteAnswer(endpoint, used)
			r.attempts.progress(r.attempt)
			if !yield(items, nil) {
				hasLeft = true
				return nil
			}
			r.attempts.awaitNext(ctx)
			client.connections.awaitAnswer(used)
		}
		if errors.Is(err, io.EOF) {
			return r.checkEnd()
		}
		return lateOr(streaming, err)
	})
	r.attempt.isReplaced = isReplaced
	if hasLeft {
		return errReaderLeft
	}
	return err
}

// next waits for the next chunk; io.EOF at the end.
func (r *streamReader[Item]) next(cancel context.CancelCauseFunc, next func() ([]Item, error)) ([]Item, error) {
	stop := r.watch(cancel)
	defer stop()
	items, err := next()
	if err != nil {
		return nil, err
	}
	if len(items) == 0 || len(items) > r.left {
		return nil, invalidResponse("the server sent an impossible chunk", map[string]string{"count": fmt.Sprint(len(items))})
	}
	r.left -= len(items)
	return items, nil
}

// watch cancels the stream if the next chunk does not come in time.
func (r *streamReader[Item]) watch(cancel context.CancelCauseFunc) (stop func()) {
	return r.call.client.options.Clock.AfterFunc(r.attempts.left(), func() { cancel(contextError(timedOut, nil)) })
}

// lateOr returns the error for a chunk that did not come in time, if that was the cause.
func lateOr(ctx context.Context, err error) error {
	var late *Error
	if errors.As(context.Cause(ctx), &late) {
		return late
	}
	return err
}

func (r *streamReader[Item]) checkEnd() error {
	if r.left == 0 {
		return nil
	}
	message := fmt.Sprintf("the server's stream ended %d %s early", r.left, r.call.items)
	return invalidResponse(message, map[string]string{"missing_count": fmt.Sprint(r.left)})
}
