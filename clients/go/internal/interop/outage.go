package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"time"

	"snowlane.dev/go"
)

// outage takes IDs at an even rate of a buffer that keeps a stock.
func outage(keys arguments) (any, error) {
	client, err := snowlane.NewClient(snowlane.Options{Endpoints: strings.Split(keys["endpoints"], ",")})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	stock := time.Duration(keys.number("outage_ms", 0)) * time.Millisecond
	buffer, err := client.Prefetch(snowlane.BufferOptions{Outage: stock})
	if err != nil {
		return nil, err
	}
	file, err := os.Create(keys["out"])
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriter(file)
	count, failures := 0, 0
	start := time.Now()
	for step := range keys.number("seconds", 1) * 100 {
		for range keys.number("per_second", 100) / 100 {
			id, err := buffer.NextID(context.Background())
			if err != nil {
				failures++
				continue
			}
			count++
			if err := binary.Write(out, binary.BigEndian, uint64(id)); err != nil {
				return nil, err
			}
		}
		time.Sleep(time.Until(start.Add(time.Duration(step+1) * 10 * time.Millisecond)))
	}
	err = errors.Join(out.Flush(), file.Close())
	return map[string]any{"count": count, "failures": failures, "waits": buffer.Stats().Waits}, err
}
