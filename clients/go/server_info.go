package snowlane

import (
	"strings"
	"time"

	snowlanev1 "snowlane.dev/go/gen/snowlane/v1"
)

// ServerInfo describes a server. It is not a protobuf message: docs/adr/0224 says why.
type ServerInfo struct {
	Version string
	// DeploymentFingerprint is 32 hexadecimal digits, the same at all servers of a deployment; empty if the server
	// reports none.
	DeploymentFingerprint string
	// Layout is that of its IDs.
	Layout *Layout
	// DatacenterID and WorkerID are those in its IDs; 0 if the layout has no such field.
	DatacenterID, WorkerID int
	// RollbackPolicy is its policy for a wall clock that moves back: advance, reject, wait, logical or reuse.
	RollbackPolicy string
	// Ordering is rising-per-worker, or unordered-within-reuse-span.
	Ordering string
	// ExhaustionTime is when the layout has no further ticks.
	ExhaustionTime time.Time
	// ReserveCountMax is the most IDs of one reservation.
	ReserveCountMax int
	// BatchCountMax is the most IDs of one stream.
	BatchCountMax int
	// ChunkSizeMax is the most IDs of one chunk of a stream.
	ChunkSizeMax int
	// NextCountMax is the most IDs of one list.
	NextCountMax int
}

func serverInfoOf(info *snowlanev1.GetInfoResponse) (*ServerInfo, error) {
	layout, err := layoutOfResponse(info.GetLayout())
	if err != nil {
		return nil, err
	}
	limits := info.GetLimits()
	return &ServerInfo{
		Version:               info.GetVersion(),
		DeploymentFingerprint: info.GetDeploymentFingerprint(),
		Layout:                layout,
		DatacenterID:          int(info.GetDatacenterId()),
		WorkerID:              int(info.GetWorkerId()),
		RollbackPolicy:        wordOf(info.GetRollbackPolicy().String(), "ROLLBACK_POLICY_"),
		Ordering:              wordOf(info.GetOrdering().String(), "ORDERING_"),
		ExhaustionTime:        info.GetExhaustionTime().AsTime(),
		ReserveCountMax:       int(limits.GetReserveCountMax()),
		BatchCountMax:         int(limits.GetBatchCountMax()),
		ChunkSizeMax:          int(limits.GetChunkSizeMax()),
		NextCountMax:          int(limits.GetNextCountMax()),
	}, nil
}

// wordOf writes the name of an enum value as the command line does.
func wordOf(name, prefix string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, prefix)), "_", "-")
}
