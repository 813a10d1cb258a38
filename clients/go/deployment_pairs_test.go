package snowlane

import (
	"strings"
	"testing"

	snowlanev1 "snowlane.dev/go/gen/snowlane/v1"
)

// boundTo is what a server says whose store is bound to some worker IDs.
func boundTo(bits uint32, binding *snowlanev1.WorkerBinding) *snowlanev1.GetInfoResponse {
	fields := []*snowlanev1.LayoutField{{Kind: snowlanev1.LayoutFieldKind_LAYOUT_FIELD_KIND_WORKER, Bits: bits}}
	return &snowlanev1.GetInfoResponse{Layout: &snowlanev1.Layout{Name: "x", Fields: fields}, Binding: binding}
}

func datacenters(ids ...uint32) *snowlanev1.WorkerBinding {
	return &snowlanev1.WorkerBinding{DatacenterIds: ids}
}

func workers(first, last uint32) *snowlanev1.WorkerBinding {
	return &snowlanev1.WorkerBinding{WorkerIds: &snowlanev1.WorkerIdRange{First: first, Last: last}}
}

func TestWhichDeploymentsGoTogether(t *testing.T) {
	for _, row := range []struct {
		name       string
		isTogether bool
		a, b       *snowlanev1.GetInfoResponse
	}{
		{"servers that were not asked", false, nil, nil},
		{"a server that was not asked", false, boundTo(10, datacenters(1)), nil},
		{"stores that are not bound", false, boundTo(10, nil), boundTo(10, nil)},
		{"a store that is not bound", false, boundTo(10, datacenters(1)), boundTo(10, nil)},
		{"stores of different datacenters", true, boundTo(10, datacenters(1, 2)), boundTo(10, datacenters(3))},
		{"stores of one datacenter", false, boundTo(10, datacenters(1, 2)), boundTo(10, datacenters(2, 3))},
		{"stores of different worker IDs", true, boundTo(10, workers(0, 9)), boundTo(10, workers(10, 19))},
		{"stores of one worker ID", false, boundTo(10, workers(0, 10)), boundTo(10, workers(10, 19))},
		{"stores of different layouts", false, boundTo(10, datacenters(1)), boundTo(9, datacenters(2))},
		{"a store of datacenters and one of worker IDs", false, boundTo(10, datacenters(1)), boundTo(10, workers(10, 19))},
	} {
		deployments := newDeployments(nil)
		if err := deployments.admit(metServer{"http://a", 1, row.a}); err != nil {
			t.Fatal(err)
		}
		err := deployments.admit(metServer{"http://b", 2, row.b})
		if (err == nil) != row.isTogether || deployments.knows(2) != row.isTogether {
			t.Errorf("%s: %v", row.name, err)
		}
		const both = "00000002) than the one in use (00000001, first at http://a)"
		if err != nil && !strings.Contains(err.Error(), both) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

func TestTheNumberOfADeployment(t *testing.T) {
	for fingerprint, want := range map[string]uint32{
		"": 0, strings.Repeat("0", 32): 1, "1f00a3c2" + strings.Repeat("0", 24): 0x1f00a3c2,
	} {
		if number := deploymentNumber(fingerprint); number != want {
			t.Errorf("%q: %d, want %d", fingerprint, number, want)
		}
	}
	if !newDeployments(nil).knows(0) || newDeployments(nil).knows(7) {
		t.Error("the number 0 is not a deployment, and 7 is not known yet")
	}
}
