// Command peer is what Snowlane is measured beside: NextId served by grpc-go or connect-go over bwmarrin/snowflake,
// and a grpc-go client that reads one BatchNextIds stream.
//
//	peer grpc|connect ADDRESS [CERTIFICATE KEY [CLIENT_AUTHORITY]]
//	peer read ADDRESS COUNT
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"github.com/bwmarrin/snowflake"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	pb "snowlane.dev/go/gen/snowlane/v1"
)

type idServer struct {
	pb.UnimplementedIdServiceServer
	node *snowflake.Node
}

func (s *idServer) NextId(context.Context, *pb.NextIdRequest) (*pb.NextIdResponse, error) {
	return &pb.NextIdResponse{Id: uint64(s.node.Generate().Int64())}, nil
}

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: peer grpc|connect ADDRESS [CERTIFICATE KEY [CLIENT_AUTHORITY]] | peer read ADDRESS COUNT")
	}
	var err error
	switch mode, address := os.Args[1], os.Args[2]; mode {
	case "grpc":
		err = serveGrpc(address, os.Args[3:])
	case "connect":
		err = serveConnect(address)
	case "read":
		err = readStream(address, os.Args[3])
	default:
		err = fmt.Errorf("unknown mode %q", mode)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func newIDServer() (*idServer, error) {
	node, err := snowflake.NewNode(1)
	return &idServer{node: node}, err
}

func serveGrpc(address string, certificate []string) error {
	ids, err := newIDServer()
	if err != nil {
		return err
	}
	var options []grpc.ServerOption
	if len(certificate) >= 2 {
		config, err := tlsConfig(certificate)
		if err != nil {
			return err
		}
		options = append(options, grpc.Creds(credentials.NewTLS(config)))
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := grpc.NewServer(options...)
	pb.RegisterIdServiceServer(server, ids)
	return server.Serve(listener)
}

// tlsConfig asks for a client certificate where a third file names its authority.
func tlsConfig(files []string) (*tls.Config, error) {
	own, err := tls.LoadX509KeyPair(files[0], files[1])
	if err != nil {
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{own}}
	if len(files) == 3 {
		authority, err := os.ReadFile(files[2])
		if err != nil {
			return nil, err
		}
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(authority) {
			return nil, fmt.Errorf("%s has no certificate", files[2])
		}
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return config, nil
}

func serveConnect(address string) error {
	ids, err := newIDServer()
	if err != nil {
		return err
	}
	handler := connect.NewUnaryHandler(pb.IdService_NextId_FullMethodName,
		func(ctx context.Context, request *connect.Request[pb.NextIdRequest]) (*connect.Response[pb.NextIdResponse], error) {
			response, err := ids.NextId(ctx, request.Msg)
			return connect.NewResponse(response), err
		})
	mux := http.NewServeMux()
	mux.Handle(pb.IdService_NextId_FullMethodName, handler)
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{Addr: address, Handler: mux, Protocols: protocols}
	return server.ListenAndServe()
}

// readStream prints how many IDs a second one stream brought, and whether they rose.
func readStream(address, count string) error {
	wanted, err := strconv.ParseUint(count, 10, 64)
	if err != nil {
		return err
	}
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	client := pb.NewIdServiceClient(connection)
	if _, err := client.NextId(context.Background(), &pb.NextIdRequest{}); err != nil {
		return err
	}
	started := time.Now()
	stream, err := client.BatchNextIds(context.Background(), &pb.BatchNextIdsRequest{Count: wanted})
	if err != nil {
		return err
	}
	var received, last uint64
	rising := true
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		for _, id := range response.Ids {
			rising = rising && id > last
			last = id
		}
		received += uint64(len(response.Ids))
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"ids": received, "seconds": time.Since(started).Seconds(), "rising": rising,
	})
}
