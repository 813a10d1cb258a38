module snowlane.dev/bench

go 1.23.0

require (
	github.com/bwmarrin/snowflake v0.3.0
	github.com/sony/sonyflake/v2 v2.2.0
	snowlane.dev/go v0.0.0
)

require (
	golang.org/x/net v0.38.0 // indirect
	golang.org/x/sys v0.31.0 // indirect
	golang.org/x/text v0.23.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20250324211829-b45e905df463 // indirect
	google.golang.org/grpc v1.73.0 // indirect
	google.golang.org/protobuf v1.36.6 // indirect
)

replace snowlane.dev/go => ../../../../clients/go
