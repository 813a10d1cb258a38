// Command http2-load is the load of ../README.md, by grpc-go or by connect-go.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	pb "snowlane.dev/go/gen/snowlane/v1"
)

// client is what grpc-go and connect-go have in common.
type client interface {
	nextID(ctx context.Context) (uint64, error)
	// batch hands the IDs of each message to take, which says whether to go on.
	batch(ctx context.Context, request *pb.BatchNextIdsRequest, take func([]uint64) bool) error
	parse(ctx context.Context, request *pb.ParseRequest) error
	code(err error) codes.Code
}

type grpcClient struct{ pb.IdServiceClient }

func (c grpcClient) nextID(ctx context.Context) (uint64, error) {
	answer, err := c.NextId(ctx, &pb.NextIdRequest{})
	return answer.GetId(), err
}

func (c grpcClient) batch(ctx context.Context, request *pb.BatchNextIdsRequest, take func([]uint64) bool) error {
	stream, err := c.BatchNextIds(ctx, request)
	if err != nil {
		return err
	}
	for {
		answer, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !take(answer.GetIds()) {
			return nil
		}
	}
}

func (c grpcClient) parse(ctx context.Context, request *pb.ParseRequest) error {
	_, err := c.Parse(ctx, request)
	return err
}

func (c grpcClient) code(err error) codes.Code { return status.Code(err) }

type connectClient struct {
	nextIDs *connect.Client[pb.NextIdRequest, pb.NextIdResponse]
	batches *connect.Client[pb.BatchNextIdsRequest, pb.BatchNextIdsResponse]
	parses  *connect.Client[pb.ParseRequest, pb.ParseResponse]
}

func newConnectClient(address string) connectClient {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	httpClient := &http.Client{Transport: &http.Transport{Protocols: protocols}}
	base := "http://" + address + "/snowlane.v1.IdService/"
	return connectClient{
		nextIDs: connect.NewClient[pb.NextIdRequest, pb.NextIdResponse](httpClient, base+"NextId", connect.WithGRPC()),
		batches: connect.NewClient[pb.BatchNextIdsRequest, pb.BatchNextIdsResponse](httpClient, base+"BatchNextIds", connect.WithGRPC()),
		parses:  connect.NewClient[pb.ParseRequest, pb.ParseResponse](httpClient, base+"Parse", connect.WithGRPC()),
	}
}

func (c connectClient) nextID(ctx context.Context) (uint64, error) {
	answer, err := c.nextIDs.CallUnary(ctx, connect.NewRequest(&pb.NextIdRequest{}))
	if err != nil {
		return 0, err
	}
	return answer.Msg.GetId(), nil
}

func (c connectClient) batch(ctx context.Context, request *pb.BatchNextIdsRequest, take func([]uint64) bool) error {
	stream, err := c.batches.CallServerStream(ctx, connect.NewRequest(request))
	if err != nil {
		return err
	}
	defer stream.Close()
	for stream.Receive() {
		if !take(stream.Msg().GetIds()) {
			return nil
		}
	}
	return stream.Err()
}

func (c connectClient) parse(ctx context.Context, request *pb.ParseRequest) error {
	_, err := c.parses.CallUnary(ctx, connect.NewRequest(request))
	return err
}

func (c connectClient) code(err error) codes.Code { return codes.Code(connect.CodeOf(err)) }

type load struct {
	client
	mutex    sync.Mutex
	Count    int      `json:"count"`
	Distinct int      `json:"distinct"`
	Streams  int      `json:"streams"`
	Problems []string `json:"problems"`
	ids      map[uint64]bool
}

func (l *load) take(ids ...uint64) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.Count += len(ids)
	for _, id := range ids {
		l.ids[id] = true
	}
}

func (l *load) problem(format string, values ...any) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.Problems = append(l.Problems, fmt.Sprintf(format, values...))
}

func (l *load) askOnce(turn int) {
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second+time.Duration(turn)*time.Millisecond)
	var allowed codes.Code
	switch turn % 8 {
	case 0:
		allowed = codes.Canceled
		time.AfterFunc(time.Duration(turn%3)*time.Millisecond, cancel)
	case 1:
		allowed = codes.DeadlineExceeded
		cancel()
		ctx, cancel = context.WithTimeout(context.Background(), time.Duration(1+turn%4)*time.Millisecond)
	}
	defer cancel()
	id, err := l.nextID(ctx)
	if err == nil {
		l.take(id)
	} else if allowed == codes.OK || l.code(err) != allowed {
		l.problem("unary %d: %v", turn%8, err)
	}
}

func (l *load) stream(index int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	received := 0
	err := l.batch(ctx, &pb.BatchNextIdsRequest{Count: 20_000, ChunkSize: 2_000}, func(ids []uint64) bool {
		l.take(ids...)
		received += len(ids)
		if index%4 == 1 {
			time.Sleep(5 * time.Millisecond)
		}
		return index%4 != 0
	})
	if err != nil || (index%4 != 0 && received != 20_000) {
		l.problem("stream %d: %d IDs, %v", index, received, err)
	} else if index%4 != 0 {
		l.mutex.Lock()
		l.Streams++
		l.mutex.Unlock()
	}
}

func (l *load) upload() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	text := &pb.ParseRequest_Text{Text: strings.Repeat("x", 200_000)}
	if err := l.parse(ctx, &pb.ParseRequest{Source: text}); l.code(err) != codes.ResourceExhausted {
		l.problem("upload: %v", err)
	}
}

func newClient(kind, address string) (client, error) {
	if kind == "connect-go" {
		return newConnectClient(address), nil
	}
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	return grpcClient{pb.NewIdServiceClient(connection)}, err
}

func main() {
	client, err := newClient(os.Args[1], os.Args[2])
	if err != nil {
		panic(err)
	}
	l := &load{client: client, ids: map[uint64]bool{}, Problems: []string{}}
	var all sync.WaitGroup
	start := func(count int, work func(index int)) {
		for index := range count {
			all.Add(1)
			go func() {
				defer all.Done()
				work(index)
			}()
		}
	}
	start(64, func(caller int) {
		for turn := range 150 {
			l.askOnce(caller*150 + turn)
		}
	})
	start(40, l.stream)
	start(20, func(int) { l.upload() })
	all.Wait()
	l.Distinct = len(l.ids)
	if err := json.NewEncoder(os.Stdout).Encode(l); err != nil {
		panic(err)
	}
}
