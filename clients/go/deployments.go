package snowlane

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	snowlanev1 "snowlane.dev/go/gen/snowlane/v1"
)

// The longest time that the first ID waits for all endpoints to say which deployment they belong to.
const meetTimeout = 500 * time.Millisecond

// metServer is a server, and the number of its deployment.
type metServer struct {
	url string
	// number is never 0.
	number uint32
	// info is the server's description of itself; nil if it was not asked.
	info *snowlanev1.GetInfoResponse
}

// deploymentNumber returns the number of the deployment with a fingerprint, as answers carry it: the first 8 digits,
// where 00000000 counts as 1; 0 for an empty fingerprint.
func deploymentNumber(fingerprint string) uint32 {
	if fingerprint == "" {
		return 0
	}
	number, _ := strconv.ParseUint(fingerprint[:min(8, len(fingerprint))], 16, 32)
	return max(uint32(number), 1)
}

// deployments are those whose IDs a client uses: the first that it meets, and others whose IDs certainly differ from
// those of the first. Attempts 14 of docs/internals/client-contract.md has the rule.
//
// Of databases of sequences, a client uses only the first. ofValues is set for those; it selects texts and metadata.
type deployments struct {
	ofValues bool
	// listed has the deployments that the option lists: these and no others may be used. If it is nil, the first that
	// is met is used.
	listed map[uint32]bool

	mutex sync.Mutex
	// used has the first server of each number in use, in the order in which they were met.
	used []metServer
	// current is the number in the last answer; 0 before the first one that has a number.
	current  uint32
	conflict *Error
}

func newDeployments(fingerprints []string) *deployments {
	made := &deployments{}
	if len(fingerprints) > 0 {
		made.listed = map[uint32]bool{}
	}
	for _, fingerprint := range fingerprints {
		made.listed[deploymentNumber(fingerprint)] = true
	}
	return made
}

// currentNumber returns the number in the last answer; 0 before the first one that has a number.
func (d *deployments) currentNumber() uint32 {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.current
}

// checkConflict fails when two deployments were met before the first ID.
func (d *deployments) checkConflict() error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.conflict != nil {
		return d.conflict
	}
	return nil
}

// meetAtStart adds a server that was met before the first ID. No call gets an ID if the deployments of two such servers
// must not be mixed.
func (d *deployments) meetAtStart(server metServer) (isOfOne bool) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	isOfOne = d.join(server)
	if !isOfOne && d.conflict == nil {
		d.conflict = d.mismatch(server)
	}
	return isOfOne
}

// knows reports whether an answer with this number may be used as it is.
func (d *deployments) knows(number uint32) bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return number == 0 || d.isUsed(number)
}

// admit checks an answer's deployment number, before any ID of it is read. If it fails, the answer must be dropped
// whole.
func (d *deployments) admit(server metServer) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.conflict != nil {
		return d.conflict
	}
	if !d.join(server) {
		return d.mismatch(server)
	}
	d.current = server.number
	return nil
}

func (d *deployments) isUsed(number uint32) bool {
	return slices.ContainsFunc(d.used, func(used metServer) bool { return used.number == number })
}

func (d *deployments) join(server metServer) bool {
	if d.isUsed(server.number) {
		return true
	}
	if d.listed != nil && !d.listed[server.number] {
		return false
	}
	meets := func(used metServer) bool { return !areDisjoint(used.info, server.info) }
	if d.listed == nil && slices.ContainsFunc(d.used, meets) {
		return false
	}
	d.used = append(d.used, server)
	return true
}

func (d *deployments) mismatch(server metServer) *Error {
	var numbers []string
	for _, number := range slices.Sorted(maps.Keys(d.listed)) {
		numbers = append(numbers, hexOf(number))
	}
	key, noun, items := "deployment", "deployment", "IDs"
	if d.ofValues {
		key, noun, items = "database", "database of sequences", "values"
	}
	metadata := map[string]string{key: hexOf(server.number)}
	inUse := strings.Join(numbers, ", ")
	if len(d.used) > 0 {
		first := d.used[0]
		if d.listed == nil {
			inUse = hexOf(first.number)
		}
		metadata["endpoint_first"] = first.url
	}
	metadata["expected_"+key] = inUse
	if first := metadata["endpoint_first"]; first != "" {
		inUse += ", first at " + first
	}
	message := fmt.Sprintf("this server is of another %s (%s) than the one in use (%s): their %s can be equal; "+
		"correct the endpoints, or restart this process if the change is meant", noun, hexOf(server.number), inUse, items)
	return &Error{
		Reason: DeploymentMismatch, Code: codes.FailedPrecondition, Message: message, Metadata: metadata, Endpoint: server.url,
	}
}

func hexOf(number uint32) string {
	return fmt.Sprintf("%08x", number)
}

// areDisjoint reports whether two stores of one layout are bound to different worker IDs, so that their IDs differ.
func areDisjoint(a, b *snowlanev1.GetInfoResponse) bool {
	if a.GetLayout() == nil || b.GetLayout() == nil || !proto.Equal(a.GetLayout(), b.GetLayout()) {
		return false
	}
	ofA, ofB := a.GetBinding(), b.GetBinding()
	if ids, others := ofA.GetWorkerIds(), ofB.GetWorkerIds(); ids != nil && others != nil {
		return ids.GetLast() < others.GetFirst() || others.GetLast() < ids.GetFirst()
	}
	isBound := len(ofA.GetDatacenterIds()) > 0 && len(ofB.GetDatacenterIds()) > 0
	isInB := func(id uint32) bool { return slices.Contains(ofB.GetDatacenterIds(), id) }
	return isBound && !slices.ContainsFunc(ofA.GetDatacenterIds(), isInB)
}

// admitted checks the number of an answer before any ID or value of it is read: that of its deployment, or that of its
// database of sequences.
type admitted struct {
	client   *Client
	endpoint *endpoint
}

func (a admitted) deployment(number uint32) error {
	return a.client.admit(a.endpoint, number)
}

func (a admitted) database(number uint32) error {
	return a.client.admitDatabase(a.endpoint, number)
}

// meet begins to ask all endpoints which deployment they belong to. It fails if they belong to two.
func (c *Client) meet() error {
	c.meetOnce.Do(func() {
		if len(c.endpoints.list()) < 2 {
			close(c.met)
			return
		}
		go c.meetAll()
	})
	return c.deployments.checkConflict()
}

func (c *Client) meetAll() {
	defer close(c.met)
	all := c.endpoints.list()
	answers := make([]*metServer, len(all))
	var asking sync.WaitGroup
	for index, endpoint := range all {
		asking.Add(1)
		go func() {
			defer asking.Done()
			answers[index] = c.askDeployment(endpoint)
		}()
	}
	asking.Wait()
	for _, server := range answers {
		if server != nil {
			if !c.deployments.meetAtStart(*server) {
				c.states.tell(StateEvent{State: StateMismatch, Reason: DeploymentMismatch, Endpoint: server.url})
			}
		}
	}
}

// askDeployment asks a server which deployment it belongs to; nil if it does not answer soon.
func (c *Client) askDeployment(endpoint *endpoint) *metServer {
	ctx, cancel := context.WithTimeout(c.closing, meetTimeout)
	defer cancel()
	var info *snowlanev1.GetInfoResponse
	_, err := c.exchange(ctx, endpoint, c.connections.begin, func(ctx context.Context, used *connection) (err error) {
		info, err = snowlanev1.NewIdServiceClient(used.channel).GetInfo(ctx, &snowlanev1.GetInfoRequest{})
		return err
	})
	number := deploymentNumber(info.GetDeploymentFingerprint())
	if err != nil || number == 0 {
		return nil
	}
	return &metServer{url: endpoint.address.url, number: number, info: info}
}

// admit checks the number of an answer's deployment. If it fails, the answer must be dropped whole.
func (c *Client) admit(endpoint *endpoint, number uint32) error {
	<-c.met
	if err := c.deployments.checkConflict(); err != nil || number == 0 {
		return err
	}
	server := metServer{url: endpoint.address.url, number: number}
	// With only one endpoint, there is nothing to compare its answer with.
	if !c.deployments.knows(number) && len(c.endpoints.list()) > 1 {
		if asked := c.askDeployment(endpoint); asked != nil && asked.number == number {
			server = *asked
		}
	}
	err := c.deployments.admit(server)
	if err != nil {
		c.states.tell(StateEvent{State: StateMismatch, Reason: DeploymentMismatch, Endpoint: server.url})
	}
	return err
}

// admitDatabase checks the number of the database of sequences that an answer's values come from. If it fails, the
// answer must be dropped whole.
func (c *Client) admitDatabase(endpoint *endpoint, number uint32) error {
	<-c.met
	if err := c.deployments.checkConflict(); err != nil || number == 0 {
		return err
	}
	err := c.databases.admit(metServer{url: endpoint.address.url, number: number})
	if err != nil {
		c.states.tell(StateEvent{State: StateMismatch, Reason: DeploymentMismatch, Endpoint: endpoint.address.url})
	}
	return err
}
