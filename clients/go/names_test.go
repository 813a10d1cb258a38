package snowlane_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"snowlane.dev/go"
	snowlanev1 "snowlane.dev/go/gen/snowlane/v1"
)

// startAt starts a server for each of several addresses of this machine, all at one port.
func startAt(t *testing.T, addresses ...string) (servers []*scriptedServer, port string) {
	t.Helper()
	for range 100 {
		var listeners []net.Listener
		port = "0"
		for _, address := range addresses {
			listener, err := net.Listen("tcp", net.JoinHostPort(address, port))
			if err != nil {
				break
			}
			listeners = append(listeners, listener)
			_, port, _ = net.SplitHostPort(listener.Addr().String())
		}
		if len(listeners) < len(addresses) {
			for _, listener := range listeners {
				listener.Close()
			}
			continue
		}
		for _, listener := range listeners {
			server := &scriptedServer{address: listener.Addr().String(), server: grpc.NewServer()}
			snowlanev1.RegisterIdServiceServer(server.server, server)
			go func() { _ = server.server.Serve(listener) }()
			t.Cleanup(server.kill)
			servers = append(servers, server)
		}
		return servers, port
	}
	t.Fatal("no port is free at all addresses")
	return nil, ""
}

// lookUps are what a name resolves to, as a test says.
type lookUps struct {
	mutex sync.Mutex
	found []netip.Addr
	err   error
	count atomic.Int64
}

func (l *lookUps) set(found ...string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.found, l.err = nil, nil
	for _, ip := range found {
		l.found = append(l.found, netip.MustParseAddr(ip))
	}
	if len(found) == 0 {
		l.err = errors.New("no such host")
	}
}

func (l *lookUps) lookUp(context.Context, string) ([]netip.Addr, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.count.Add(1)
	return slices.Clone(l.found), l.err
}

// connectByName returns a client of a host name, whose lookups are due when its clock is set forward.
func connectByName(t *testing.T, port string, found ...string) (*snowlane.Client, *lookUps, *hastyClock) {
	t.Helper()
	looks, clock := &lookUps{}, &hastyClock{}
	looks.set(found...)
	client := connect(t, snowlane.Options{
		Endpoints: []string{"http://ids.test:" + port}, Clock: clock, AttemptTimeout: 10 * time.Second,
	})
	client.SetLookUp(looks.lookUp)
	return client, looks, clock
}

func TestANameWithSeveralAddressesIsAsManyEndpoints(t *testing.T) {
	servers, port := startAt(t, "127.0.0.2", "127.0.0.3")
	var authorities []string
	for _, server := range servers {
		server.setNextID(func(ctx context.Context) (uint64, error) {
			incoming, _ := metadata.FromIncomingContext(ctx)
			authorities = append(authorities, incoming.Get(":authority")...)
			return 1, nil
		})
	}
	client, _, _ := connectByName(t, port, "127.0.0.2", "127.0.0.3")
	if _, err := client.NextID(ctx); err != nil {
		t.Fatal(err)
	}
	urls := client.EndpointURLs()
	slices.Sort(urls)
	name := "http://ids.test:" + port
	if !slices.Equal(urls, []string{name + " [127.0.0.2]", name + " [127.0.0.3]"}) {
		t.Error(urls)
	}
	used := slices.IndexFunc(servers, func(server *scriptedServer) bool { return server.calls.Load() > 0 })
	servers[used].kill()
	if _, err := client.NextID(ctx); err != nil {
		t.Fatal(err)
	}
	if servers[1-used].calls.Load() == 0 {
		t.Error("the other address was not called")
	}
	for _, authority := range authorities {
		if authority != "ids.test:"+port {
			t.Error(authority)
		}
	}
	servers[1-used].kill()
	if _, err := client.NextID(ctx); err == nil || !strings.Contains(err.Error(), "(http://ids.test:"+port+" [127.0.0.") {
		t.Errorf("%v", err)
	}
}

func TestANameIsLookedUpAgainAndAnAddressThatIsGoneLongEnoughIsLeft(t *testing.T) {
	servers, port := startAt(t, "127.0.0.2", "127.0.0.3", "127.0.0.4")
	client, looks, clock := connectByName(t, port, "127.0.0.2", "127.0.0.3")
	next := func() {
		t.Helper()
		if _, err := client.NextID(ctx); err != nil {
			t.Fatal(err)
		}
	}
	next()
	used := slices.IndexFunc(servers, func(server *scriptedServer) bool { return server.calls.Load() > 0 })
	looks.set("127.0.0.4")
	for look := range 4 {
		clock.ahead.Add(int64(31 * time.Second))
		next()
		eventually(t, "a look", func() bool { return looks.count.Load() == int64(look)+2 })
	}
	eventually(t, "one address is gone", func() bool { return len(client.EndpointURLs()) == 2 })
	// That in use stays while it answers.
	if urls := strings.Join(client.EndpointURLs(), " "); !strings.Contains(urls, servers[used].address[:len("127.0.0.2")]) {
		t.Error(urls)
	}
	servers[used].kill()
	next()
	clock.ahead.Add(int64(31 * time.Second))
	next()
	eventually(t, "the other is gone, too", func() bool { return len(client.EndpointURLs()) == 1 })
	if servers[2].calls.Load() == 0 {
		t.Error("the new address was not called")
	}
}

func TestANameWithOneAddressOrNoneAndOneOfEachFamilyIsLeftToTheLibrary(t *testing.T) {
	for _, found := range [][]string{{"127.0.0.1"}, {}, {"::1", "127.0.0.1"}, {"127.0.0.1", "127.0.0.1"}} {
		client, looks, _ := connectByName(t, "1", found...)
		_, err := client.NextID(ctx)
		if err == nil || looks.count.Load() == 0 {
			t.Errorf("%v after %d looks", err, looks.count.Load())
		}
		if urls := client.EndpointURLs(); !slices.Equal(urls, []string{"http://ids.test:1"}) {
			t.Error(urls)
		}
	}
}

func TestAnAddressIsNotLookedUp(t *testing.T) {
	server := startServer(t)
	client := connect(t, snowlane.Options{}, server)
	client.SetLookUp(func(context.Context, string) ([]netip.Addr, error) {
		t.Error("looked up")
		return nil, nil
	})
	if _, err := client.NextID(ctx); err != nil {
		t.Error(err)
	}
}

func TestTheAddressesOfANameAreAskedOfWhichDeploymentTheyAre(t *testing.T) {
	servers, port := startAt(t, "127.0.0.2", "127.0.0.3")
	servers[0].deployment.Store(1)
	servers[1].deployment.Store(2)
	client, _, _ := connectByName(t, port, "127.0.0.2", "127.0.0.3")
	_, err := client.NextID(ctx)
	expectReason(t, err, snowlane.DeploymentMismatch)
}
