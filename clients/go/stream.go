package snowlane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	snowlanev1 "snowlane.dev/go/gen/snowlane/v1"
)

// StreamOptions says how a stream works. The zero value means the defaults.
type StreamOptions struct {
	// ChunkSize is the most IDs of one chunk: 1 to 65,536; 0 leaves it to the server.
	ChunkSize int
	// Ordered: a stream that breaks is not taken up by another, so that all its IDs ascend.
	Ordered bool
}

// Stream issues count IDs, 1 to 10^9, in chunks: exactly so many, or an error as the last element. A stream that breaks
// is taken up by another, whose IDs may start lower, unless Ordered is set. Leaving the loop cancels it. Without a
// deadline in the context, Options.Timeout bounds the wait for each chunk.
func (c *Client) Stream(ctx context.Context, count int, options StreamOptions) iter.Seq2[[]ID, error] {
	return func(yield func([]ID, error) bool) {
		if err := checkRange("count", count, 1, streamMax); err != nil {
			yield(nil, err)
			return
		}
		if err := checkRange("chunk_size", options.ChunkSize, 0, chunkSizeMax); err != nil {
			yield(nil, err)
			return
		}
		attempts := c.newAttempts(ctx, "BatchNextIds")
		for left := count; left > 0; {
			attempt, err := attempts.begin(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			reader := streamReader{client: c, attempts: attempts, attempt: attempt, left: left}
			err = reader.read(ctx, options, yield)
			if errors.Is(err, errReaderLeft) {
				return
			}
			if err == nil {
				attempts.succeed(attempt)
				return
			}
			left = reader.left
			failure := errorOfRPC(err, attempt.endpoint.address.url)
			if err = attempts.fail(ctx, attempt, err); err == nil && options.Ordered && left < count {
				err = failure
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// errReaderLeft: the loop over the stream was left.
var errReaderLeft = errors.New("snowlane: the reader left")

// streamReader reads one server's stream.
type streamReader struct {
	client   *Client
	attempts *attempts
	attempt  attempt
	// left is how many IDs are still to come.
	left int
	// lastID is 0 before the first.
	lastID ID
}

func (r *streamReader) read(ctx context.Context, options StreamOptions, yield func([]ID, error) bool) error {
	streaming, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	streaming, service, err := r.client.prepare(streaming, r.attempt)
	if err != nil {
		return err
	}
	request := &snowlanev1.BatchNextIdsRequest{Count: uint64(r.left), ChunkSize: uint32(options.ChunkSize)}
	stop := r.watch(cancel)
	stream, err := service.BatchNextIds(streaming, request)
	stop()
	if err != nil {
		return lateOr(streaming, err)
	}
	for {
		stop := r.watch(cancel)
		response, err := stream.Recv()
		stop()
		if errors.Is(err, io.EOF) {
			return r.checkEnd()
		}
		if err != nil {
			return lateOr(streaming, err)
		}
		ids := make([]ID, len(response.GetIds()))
		for index, id := range response.GetIds() {
			ids[index] = ID(id)
		}
		if err := r.checkChunk(ids); err != nil {
			return err
		}
		r.attempts.progress(r.attempt)
		if !yield(ids, nil) {
			return errReaderLeft
		}
		r.attempts.awaitNext(ctx)
	}
}

// watch cancels the stream if the next chunk does not come in time.
func (r *streamReader) watch(cancel context.CancelCauseFunc) (stop func()) {
	return r.client.options.Clock.AfterFunc(r.attempts.left(), func() { cancel(contextError(timedOut, nil)) })
}

// lateOr gives the error for a chunk that did not come in time, where that was the cause.
func lateOr(ctx context.Context, err error) error {
	var late *Error
	if errors.As(context.Cause(ctx), &late) {
		return late
	}
	return err
}

// checkChunk holds a chunk to the rules: not empty, no more than were asked for, all IDs rising, from chunk to chunk
// too.
func (r *streamReader) checkChunk(ids []ID) error {
	if len(ids) == 0 || len(ids) > r.left {
		return invalidResponse("the server sent a chunk that cannot be", map[string]string{"count": fmt.Sprint(len(ids))})
	}
	for _, id := range ids {
		if id <= r.lastID || id > MaxID {
			return invalidResponse("the server sent IDs that do not rise", map[string]string{"id": id.String(), "previous_id": r.lastID.String()})
		}
		r.lastID = id
	}
	r.left -= len(ids)
	return nil
}

func (r *streamReader) checkEnd() error {
	if r.left == 0 {
		return nil
	}
	message := fmt.Sprintf("the server's stream ended %d IDs early", r.left)
	return invalidResponse(message, map[string]string{"missing_count": fmt.Sprint(r.left)})
}
