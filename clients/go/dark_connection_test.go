package snowlane_test

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"snowlane.dev/go"
)

// swallowingLink is a link to a server whose connections can be made dark: they stay open, and let nothing through.
type swallowingLink struct {
	listener net.Listener
	target   string

	// accepted counts the connections.
	accepted atomic.Int64

	mutex sync.Mutex
	// dark is closed when the connections are that were accepted so far.
	dark chan struct{}
}

func startLink(t *testing.T, server *scriptedServer) *swallowingLink {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	link := &swallowingLink{listener: listener, target: server.url()[len("http://"):], dark: make(chan struct{})}
	t.Cleanup(func() { listener.Close() })
	go link.serve()
	return link
}

func (l *swallowingLink) url() string {
	return "http://" + l.listener.Addr().String()
}

// swallow makes all open connections dark; new ones work.
func (l *swallowingLink) swallow() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	close(l.dark)
	l.dark = make(chan struct{})
}

func (l *swallowingLink) serve() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.accepted.Add(1)
		server, err := net.Dial("tcp", l.target)
		if err != nil {
			client.Close()
			continue
		}
		l.mutex.Lock()
		dark := l.dark
		l.mutex.Unlock()
		go pass(client, server, dark)
		go pass(server, client, dark)
	}
}

// pass forwards bytes, until the connection is dark.
func pass(from, to net.Conn, dark chan struct{}) {
	defer to.Close()
	bytes := make([]byte, 32_768)
	for {
		count, err := from.Read(bytes)
		if err != nil {
			return
		}
		select {
		case <-dark:
			_, _ = io.Copy(io.Discard, from)
			return
		default:
			if _, err := to.Write(bytes[:count]); err != nil {
				return
			}
		}
	}
}

func TestNoCallFailsAndNoStreamEndsWhenAConnectionIsSwallowed(t *testing.T) {
	link := startLink(t, startServer(t))
	client := connect(t, snowlane.Options{Endpoints: []string{link.url()}, AttemptTimeout: time.Second})
	if _, err := client.NextID(ctx); err != nil {
		t.Fatal(err)
	}
	link.swallow()
	if _, err := client.NextID(ctx); err != nil {
		t.Fatal(err)
	}
	seen := map[snowlane.ID]bool{}
	for ids, err := range client.Stream(ctx, 20_000, snowlane.StreamOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if len(seen) == 0 {
			link.swallow()
		}
		for _, id := range ids {
			seen[id] = true
		}
	}
	if len(seen) != 20_000 {
		t.Errorf("%d distinct IDs", len(seen))
	}
}

func TestALimitOfTheCallerCountsToo(t *testing.T) {
	link := startLink(t, startServer(t))
	client := connect(t, snowlane.Options{Endpoints: []string{link.url()}, AttemptTimeout: 20 * time.Second})
	if _, err := client.NextID(ctx); err != nil {
		t.Fatal(err)
	}
	link.swallow()
	short, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	_, err := client.NextID(short)
	expectReason(t, err, snowlane.DeadlineExceeded)
	next, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := client.NextID(next); err != nil {
		t.Error(err)
	}
}
