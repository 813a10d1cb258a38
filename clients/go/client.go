// Package snowlane is the Go client of Snowlane, which hands out unique, time-sorted 64-bit IDs.
//
// A [Client] makes one RPC for each call. A [Buffer], which [Client.Prefetch] makes, reserves IDs ahead and hands them
// out from memory, nanoseconds each. An ID is handed to at most one caller, whatever is cancelled, retried or
// restarted. [Layout] and [TextCodec] work offline.
package snowlane

import (
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	snowlanev1 "snowlane.dev/go/gen/snowlane/v1"
)

const (
	streamMax    = 1_000_000_000
	chunkSizeMax = 65_536
	// How long an attempt waits for a lost connection to come back, before the attempt counts as failed.
	reconnectWait = 100 * time.Millisecond
)

// Client calls the ID service: one RPC a call, tried up to four times, over one or more endpoints. It is safe for any
// number of goroutines.
type Client struct {
	options   Options
	endpoints *endpoints
	names     *names
	states    *states
	// closing ends all calls.
	closing context.Context
	close   context.CancelFunc

	connections *connections
	deployments *deployments
	databases   *deployments
	hedges      *hedges
	// met is closed once all endpoints were asked which deployment they belong to, in parallel with the first call.
	met      chan struct{}
	meetOnce sync.Once

	mutex sync.Mutex
	// buffers that are open.
	buffers map[*Buffer]struct{}
	// layout is that of the deployment with the number layoutDeployment.
	layout           *Layout
	layoutDeployment uint32
}

// NewClient makes a client. Connections are opened when they are first needed. The error names every option that is
// wrong.
func NewClient(options Options) (*Client, error) {
	addresses, err := options.settle()
	if err != nil {
		return nil, err
	}
	client := &Client{
		options:     options,
		endpoints:   newEndpoints(addresses, options.Clock, options.Random),
		deployments: newDeployments(options.Deployments),
		databases:   &deployments{ofValues: true},
		met:         make(chan struct{}),
		buffers:     map[*Buffer]struct{}{},
	}
	client.states = newStates(options.Clock, options.Observer, options.Logger)
	client.names = newNames(client.endpoints, options.Clock, options.Random)
	client.hedges = &hedges{clock: options.Clock, attemptTimeout: options.AttemptTimeout}
	client.connections = newConnections(client.connect, options.Clock)
	client.connections.onReplaced = func(endpoint *endpoint) {
		client.states.tell(StateEvent{State: StateReplaced, Endpoint: endpoint.address.url})
	}
	client.endpoints.onGone = client.connections.retire
	client.closing, client.close = context.WithCancel(context.Background())
	return client, nil
}

// NextID issues one ID, by one RPC.
func (c *Client) NextID(ctx context.Context) (ID, error) {
	return call(ctx, c, "NextId", func(ctx context.Context, channel *grpc.ClientConn, admit admitted) (ID, error) {
		response, err := snowlanev1.NewIdServiceClient(channel).NextId(ctx, &snowlanev1.NextIdRequest{})
		if err != nil {
			return 0, err
		}
		if err := admit.deployment(response.GetDeployment()); err != nil {
			return 0, err
		}
		id := ID(response.GetId())
		if id < idMin || id > MaxID {
			return 0, invalidResponse("the server sent an ID that is 0 or has bit 63 set", map[string]string{"id": id.String()})
		}
		return id, nil
	})
}

// NextIDs issues count IDs, 1 to 1,048,576, by as many reservations as it takes. They ascend as long as one server
// answers.
func (c *Client) NextIDs(ctx context.Context, count int) ([]ID, error) {
	if err := checkCount(count); err != nil {
		return nil, err
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.options.Timeout)
		defer cancel()
	}
	ids := make([]ID, 0, count)
	for len(ids) < count {
		runs, err := c.Reserve(ctx, count-len(ids))
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			for index := range uint64(run.Count) {
				ids = append(ids, run.First+ID(index*run.Stride))
			}
		}
	}
	return ids, nil
}

// Reserve reserves 1 to count IDs, as runs; a server grants what it has without waiting. They belong to the caller,
// used or not. count is 1 to 1,048,576.
func (c *Client) Reserve(ctx context.Context, count int) ([]Run, error) {
	if err := checkCount(count); err != nil {
		return nil, err
	}
	return call(ctx, c, "ReserveIds", reservation(count))
}

// refillSource is the source that the buffers of a client draw from. A lost reservation is only a gap, so a request may
// be sent twice if the first server takes long.
type refillSource struct {
	client *Client
}

func (s refillSource) Reserve(ctx context.Context, count int) ([]Run, error) {
	return hedgedCall(ctx, s.client, "ReserveIds", reservation(count))
}

// reservation is the work of reserving 1 to count IDs.
func reservation(count int) work[[]Run] {
	return func(ctx context.Context, channel *grpc.ClientConn, admit admitted) ([]Run, error) {
		response, err := snowlanev1.NewIdServiceClient(channel).ReserveIds(ctx, &snowlanev1.ReserveIdsRequest{Count: uint32(count)})
		if err != nil {
			return nil, err
		}
		if err := admit.deployment(response.GetDeployment()); err != nil {
			return nil, err
		}
		runs := make([]Run, len(response.GetRuns()))
		for index, run := range response.GetRuns() {
			runs[index] = Run{First: ID(run.GetFirstId()), Count: int(run.GetCount()), Stride: run.GetStride()}
		}
		if _, err := countOfAnswer(runs, count); err != nil {
			return nil, err
		}
		return runs, nil
	}
}

// Info asks a server what it is: layout, worker ID, limits, version.
func (c *Client) Info(ctx context.Context) (*ServerInfo, error) {
	info, err := c.getInfo(ctx)
	if err != nil {
		return nil, err
	}
	return serverInfoOf(info)
}

func (c *Client) getInfo(ctx context.Context) (*snowlanev1.GetInfoResponse, error) {
	type response = *snowlanev1.GetInfoResponse
	return call(ctx, c, "GetInfo", func(ctx context.Context, channel *grpc.ClientConn, admit admitted) (response, error) {
		info, err := snowlanev1.NewIdServiceClient(channel).GetInfo(ctx, &snowlanev1.GetInfoRequest{})
		if err != nil {
			return nil, err
		}
		return info, admit.deployment(deploymentNumber(info.GetDeploymentFingerprint()))
	})
}

// Ready asks a server what it is. When it succeeds, a connection is open and the credentials are right.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.getInfo(ctx)
	return err
}

// Prefetch makes a buffer that draws from this client, and is closed with it. The client keeps it until one of the two
// is closed.
func (c *Client) Prefetch(options BufferOptions) (*Buffer, error) {
	setDefault(&options.Timeout, c.options.Timeout)
	setDefault(&options.Observer, c.options.Observer)
	if options.Clock == nil {
		options.Clock = c.options.Clock
	}
	if options.Random == nil {
		options.Random = c.options.Random
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closing.Err() != nil {
		return nil, closedError("client")
	}
	buffer, err := NewBuffer(refillSource{c}, options)
	if err == nil {
		if options.Logger == nil && options.Observer == c.options.Observer {
			buffer.states = c.states
		}
		buffer.onClose = func() { c.forget(buffer) }
		c.buffers[buffer] = struct{}{}
	}
	return buffer, err
}

func (c *Client) forget(buffer *Buffer) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.buffers, buffer)
}

// Close ends all calls with CLIENT_CLOSED, closes the buffers and the connections. Closing again does nothing.
func (c *Client) Close() error {
	c.mutex.Lock()
	if c.closing.Err() != nil {
		c.mutex.Unlock()
		return nil
	}
	c.close()
	buffers := slices.Collect(maps.Keys(c.buffers))
	// From here on there are no new buffers. A buffer that closes removes itself from the client's list, under the
	// mutex.
	c.mutex.Unlock()
	var faults []error
	for _, buffer := range buffers {
		faults = append(faults, buffer.Close())
	}
	return errors.Join(append(faults, c.connections.close())...)
}

// closedOrCancelled returns the error for a client that is closed or a caller that cancelled.
func (c *Client) closedOrCancelled(ctx context.Context) *Error {
	if c.closing.Err() != nil {
		return closedError("client")
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return contextError(ctx, nil)
	}
	return nil
}

// awaitRecovery lets a channel that has lost its connection try again now: the endpoints, not the channel, decide when
// to try.
func awaitRecovery(ctx context.Context, channel *grpc.ClientConn) {
	if channel.GetState() == connectivity.TransientFailure {
		channel.ResetConnectBackoff()
		wait, cancel := context.WithTimeout(ctx, reconnectWait)
		channel.WaitForStateChange(wait, connectivity.TransientFailure)
		cancel()
	}
}

// connect makes a channel to an endpoint. No two channels share a connection.
func (c *Client) connect(endpoint *endpoint) (*grpc.ClientConn, error) {
	transport := insecure.NewCredentials()
	if endpoint.address.isTLS {
		transport = credentials.NewTLS(c.tls())
	}
	options := append(slices.Clone(c.options.DialOptions),
		grpc.WithUserAgent("snowlane-go/"+version),
		grpc.WithTransportCredentials(transport),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           grpcbackoff.Config{BaseDelay: backoffBase, Multiplier: 1.6, Jitter: 0.5, MaxDelay: backoffMax},
			MinConnectTimeout: c.options.AttemptTimeout,
		}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 5 * time.Second}),
		grpc.WithDisableServiceConfig(),
	)
	if endpoint.address.ip.IsValid() {
		// Whether to use a proxy was decided by the name.
		options = append(options, grpc.WithNoProxy())
		if transport.Info().ServerName == "" {
			options = append(options, grpc.WithAuthority(endpoint.address.hostPort))
		}
	}
	return grpc.NewClient(endpoint.address.target(), options...)
}

func (c *Client) tls() *tls.Config {
	if c.options.TLS != nil {
		return c.options.TLS.Clone()
	}
	return &tls.Config{MinVersion: tls.VersionTLS12}
}

// Layout returns the deployment's layout, or that of the options. A server is asked for it once, and again when another
// deployment of the option Deployments answers.
func (c *Client) Layout(ctx context.Context) (*Layout, error) {
	if c.options.Layout != nil {
		return c.options.Layout, nil
	}
	c.mutex.Lock()
	layout, number := c.layout, c.layoutDeployment
	c.mutex.Unlock()
	if layout != nil && number == c.deployments.currentNumber() {
		return layout, nil
	}
	info, err := c.getInfo(ctx)
	if err != nil {
		return nil, err
	}
	layout, err = layoutOfResponse(info.GetLayout())
	if err != nil {
		return nil, err
	}
	number = deploymentNumber(info.GetDeploymentFingerprint())
	if number == 0 {
		number = c.deployments.currentNumber()
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.layout, c.layoutDeployment = layout, number
	return layout, nil
}

// TextCodec returns the text forms of the deployment's IDs, by [Client.Layout].
func (c *Client) TextCodec(ctx context.Context) (*TextCodec, error) {
	layout, err := c.Layout(ctx)
	if err != nil {
		return nil, err
	}
	return NewTextCodec(layout, c.options.Namespace), nil
}
