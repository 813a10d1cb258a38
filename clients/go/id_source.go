package snowlane

import (
	"context"
	"iter"
)

// IDSource is where IDs come from: a [Client], or a snowlanetest.Client in tests. Code that takes an IDSource needs no
// server in tests.
type IDSource interface {
	RunSource
	NextID(ctx context.Context) (ID, error)
	NextIDs(ctx context.Context, count int) ([]ID, error)
	Stream(ctx context.Context, count int, options StreamOptions) iter.Seq2[[]ID, error]
	Layout(ctx context.Context) (*Layout, error)
	TextCodec(ctx context.Context) (*TextCodec, error)
	Prefetch(options BufferOptions) (*Buffer, error)
	Sequence(name string) Sequence
	Close() error
}

var _ IDSource = (*Client)(nil)
