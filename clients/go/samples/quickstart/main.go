package main

import (
	"context"
	"fmt"

	"snowlane.dev/go"
)

func main() {
	client, _ := snowlane.NewClient(snowlane.Options{})
	defer client.Close()
	ids, _ := client.Prefetch(snowlane.BufferOptions{})
	id, err := ids.NextID(context.Background())
	fmt.Println(id, err)
}
