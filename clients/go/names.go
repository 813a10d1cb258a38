package snowlane

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"
)

const (
	// A name is looked up again after this time,
	lookAgain = 30 * time.Second
	// or after this time where one of its addresses is down.
	lookSoon = 5 * time.Second
	// The longest time that the first call waits for a name; after it, gRPC looks the name up.
	lookWait = 500 * time.Millisecond
	// An address counts as gone once this many lookups in a row did not return it: some name services answer with only
	// a part of their addresses.
	missedLooksMax = 3
	// The most addresses of a name that a client uses.
	addressesMax = 64
)

// names looks up the host names among the endpoints. A name with several addresses counts as that many endpoints. A
// name with one address or none is left to gRPC, and so is one that is reached through a proxy.
type names struct {
	endpoints *endpoints
	clock     Clock
	random    func() float64
	// lookUp returns the addresses of a host in the order in which to try them.
	lookUp func(ctx context.Context, host string) ([]netip.Addr, error)

	mutex sync.Mutex
	all   []*name
}

// name is one host name. The mutex of its names guards all fields but known.
type name struct {
	address endpointAddress
	host    string
	// endpoints are its addresses, or the name itself as gRPC looks it up.
	endpoints []*endpoint
	isLooking bool
	lookedAt  time.Time
	// known is closed after the first lookup.
	known chan struct{}
}

func newNames(endpoints *endpoints, clock Clock, random func() float64) *names {
	n := &names{endpoints: endpoints, clock: clock, random: random, lookUp: lookUpHost}
	for _, one := range endpoints.all {
		host, _, _ := net.SplitHostPort(one.address.hostPort)
		if _, err := netip.ParseAddr(host); host == "" || err == nil || hasProxy(one.address.hostPort) {
			continue
		}
		n.all = append(n.all, &name{
			address: one.address, host: host, endpoints: []*endpoint{one}, known: make(chan struct{}),
		})
	}
	return n
}

func lookUpHost(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// hasProxy reports whether gRPC goes through a proxy, by the variables that gRPC reads.
func hasProxy(hostPort string) bool {
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: hostPort}})
	return err != nil || proxy != nil
}

// look makes sure that names are looked up from time to time, in the background. The first call waits for them.
func (n *names) look(ctx, closing context.Context) {
	for _, one := range n.all {
		if n.isDue(one) {
			go n.lookAt(closing, one)
		}
		select {
		case <-one.known:
		case <-ctx.Done():
		case <-closing.Done():
		}
	}
}

// isDue reports whether the caller must look the name up now.
func (n *names) isDue(one *name) bool {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	every := lookAgain
	if slices.ContainsFunc(one.endpoints, func(each *endpoint) bool { return n.endpoints.areDown([]*endpoint{each}) }) {
		every = lookSoon
	}
	isDue := !one.isLooking && (one.lookedAt.IsZero() || n.clock.Now().Sub(one.lookedAt) >= every)
	if isDue {
		one.isLooking = true
		one.lookedAt = n.clock.Now()
	}
	return isDue
}

func (n *names) lookAt(closing context.Context, one *name) {
	ctx, cancel := context.WithTimeout(closing, lookWait)
	defer cancel()
	found, err := n.lookUp(ctx, one.host)
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if err == nil {
		n.take(one, found)
	}
	one.isLooking = false
	select {
	case <-one.known:
	default:
		close(one.known)
	}
}

// take records which addresses a lookup has found.
func (n *names) take(one *name, found []netip.Addr) {
	for index, ip := range found {
		found[index] = ip.Unmap()
	}
	isSingle := !one.endpoints[0].address.ip.IsValid()
	found = n.inUse(found, !isSingle && n.endpoints.areDown(one.endpoints))
	if len(found) == 0 || (isSingle && len(found) == 1) {
		return
	}
	var gone, come []*endpoint
	var stay []netip.Addr
	for _, each := range one.endpoints {
		ip := each.address.ip
		switch {
		case slices.Contains(found, ip):
			each.missedLooks = 0
			stay = append(stay, ip)
		case !ip.IsValid() || each.missedLooks+1 >= missedLooksMax:
			gone = append(gone, each)
		default:
			each.missedLooks++
			stay = append(stay, ip)
		}
	}
	for _, ip := range found {
		if !slices.Contains(stay, ip) && len(stay) < addressesMax {
			come = append(come, &endpoint{address: one.address.at(ip)})
			stay = append(stay, ip)
		}
	}
	kept := n.endpoints.replace(gone, come)
	one.endpoints = slices.DeleteFunc(append(one.endpoints, come...), func(each *endpoint) bool {
		return each != kept && slices.Contains(gone, each)
	})
}

// inUse returns the addresses to use of those that were found, in random order: those of the same family as the first,
// or all.
func (n *names) inUse(found []netip.Addr, isAnyFamily bool) []netip.Addr {
	var used []netip.Addr
	for _, ip := range found {
		if (isAnyFamily || ip.Is4() == found[0].Is4()) && !slices.Contains(used, ip) {
			used = append(used, ip)
		}
	}
	for last := len(used) - 1; last > 0; last-- {
		drawn := int(n.random() * float64(last+1))
		used[last], used[drawn] = used[drawn], used[last]
	}
	return used
}
