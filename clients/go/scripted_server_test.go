package snowlane_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"
	snowlanev1 "snowlane.dev/go/gen/snowlane/v1"
)

// scriptedServer follows a test's script, for faults that a real server cannot be made to show at will. It counts up
// from 1, or from next.
//
// docs/adr/0223 says what is tested by it, and what by the conformance program.
type scriptedServer struct {
	snowlanev1.UnimplementedIdServiceServer
	next atomic.Uint64
	// calls to issue; infoCalls are beside them.
	calls, infoCalls atomic.Int64
	// deployment is its number; 0: it reports none.
	deployment atomic.Uint32

	mutex   sync.Mutex
	address string
	server  *grpc.Server
	// What a test has put in place of the methods that count.
	nextID  func(ctx context.Context) (uint64, error)
	reserve func(count uint32) ([]*snowlanev1.IdRun, error)
	batch   func(count uint64, stream grpc.ServerStreamingServer[snowlanev1.BatchNextIdsResponse]) error
	info    *snowlanev1.GetInfoResponse

	sequences scriptedSequences
}

func startServer(t *testing.T) *scriptedServer {
	t.Helper()
	s := &scriptedServer{}
	s.start(t)
	t.Cleanup(s.kill)
	return s
}

func (s *scriptedServer) url() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return "http://" + s.address
}

// start listens: on a free port the first time, on the same one after a kill.
func (s *scriptedServer) start(t *testing.T) {
	t.Helper()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	listener, err := s.listen()
	if err != nil {
		t.Fatal(err)
	}
	s.server = grpc.NewServer()
	snowlanev1.RegisterIdServiceServer(s.server, s)
	snowlanev1.RegisterSequenceServiceServer(s.server, &s.sequences)
	go func(server *grpc.Server) { _ = server.Serve(listener) }(s.server)
}

// listen takes a port below those that systems give to outgoing connections: on those, a server that comes back may
// find its port taken by one of them, even by one that was calling it.
func (s *scriptedServer) listen() (net.Listener, error) {
	for s.address == "" {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(22_000)))
		if err == nil {
			s.address = listener.Addr().String()
			return listener, nil
		}
	}
	return net.Listen("tcp", s.address)
}

// kill cuts every connection and stops listening, as a crash does.
func (s *scriptedServer) kill() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.server.Stop()
}

func (s *scriptedServer) setNextID(nextID func(ctx context.Context) (uint64, error)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.nextID = nextID
}

func (s *scriptedServer) setReserve(reserve func(count uint32) ([]*snowlanev1.IdRun, error)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.reserve = reserve
}

func (s *scriptedServer) NextId(ctx context.Context, _ *snowlanev1.NextIdRequest) (*snowlanev1.NextIdResponse, error) {
	s.calls.Add(1)
	s.mutex.Lock()
	nextID := s.nextID
	s.mutex.Unlock()
	if nextID == nil {
		return &snowlanev1.NextIdResponse{Id: s.next.Add(1), Deployment: s.deployment.Load()}, nil
	}
	id, err := nextID(ctx)
	return &snowlanev1.NextIdResponse{Id: id, Deployment: s.deployment.Load()}, err
}

func (s *scriptedServer) ReserveIds(
	_ context.Context, request *snowlanev1.ReserveIdsRequest,
) (*snowlanev1.ReserveIdsResponse, error) {
	s.calls.Add(1)
	s.mutex.Lock()
	reserve := s.reserve
	s.mutex.Unlock()
	if reserve != nil {
		runs, err := reserve(request.GetCount())
		return &snowlanev1.ReserveIdsResponse{Runs: runs}, err
	}
	last := s.next.Add(uint64(request.GetCount()))
	run := &snowlanev1.IdRun{FirstId: last - uint64(request.GetCount()) + 1, Count: request.GetCount(), Stride: 1}
	return &snowlanev1.ReserveIdsResponse{Runs: []*snowlanev1.IdRun{run}, Deployment: s.deployment.Load()}, nil
}

func (s *scriptedServer) BatchNextIds(
	request *snowlanev1.BatchNextIdsRequest, stream grpc.ServerStreamingServer[snowlanev1.BatchNextIdsResponse],
) error {
	s.calls.Add(1)
	if s.batch != nil {
		return s.batch(request.GetCount(), stream)
	}
	size := uint64(request.GetChunkSize())
	if size == 0 {
		size = 4_096
	}
	for left := request.GetCount(); left > 0; {
		ids := make([]uint64, min(left, size))
		last := s.next.Add(uint64(len(ids)))
		for index := range ids {
			ids[index] = last - uint64(len(ids)) + 1 + uint64(index)
		}
		left -= uint64(len(ids))
		if err := stream.Send(&snowlanev1.BatchNextIdsResponse{Ids: ids, Deployment: s.deployment.Load()}); err != nil {
			return err
		}
	}
	return nil
}

func (s *scriptedServer) GetInfo(context.Context, *snowlanev1.GetInfoRequest) (*snowlanev1.GetInfoResponse, error) {
	s.infoCalls.Add(1)
	info := &snowlanev1.GetInfoResponse{}
	if s.info != nil {
		proto.Merge(info, s.info)
	}
	if number := s.deployment.Load(); number != 0 {
		info.DeploymentFingerprint = fingerprint(number)
	}
	return info, nil
}

func fingerprint(deployment uint32) string {
	return fmt.Sprintf("%08x%024x", deployment, 0)
}

// faultOf makes the error that a Snowlane server sends for a reason.
func faultOf(code codes.Code, reason string, retryAfter time.Duration, metadata map[string]string) error {
	var details []protoadapt.MessageV1
	if reason != "" {
		details = append(details, &errdetails.ErrorInfo{Reason: reason, Domain: "snowlane.dev", Metadata: metadata})
	}
	if retryAfter > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(retryAfter)})
	}
	answer, err := status.New(code, "scripted "+reason).WithDetails(details...)
	if err != nil {
		panic(err)
	}
	return answer.Err()
}
