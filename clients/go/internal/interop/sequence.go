package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"snowlane.dev/go"
)

// runSequence does the steps of the command sequence.
func runSequence(keys arguments) (any, error) {
	client, err := snowlane.NewClient(snowlane.Options{Endpoints: strings.Split(keys["endpoints"], ",")})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	var results []any
	for _, step := range strings.Split(keys["steps"], ",") {
		result, err := runStep(client, step)
		var failure *snowlane.Error
		if errors.As(err, &failure) {
			metadata := failure.Metadata
			if metadata == nil {
				metadata = map[string]string{}
			}
			result = map[string]any{"reason": failure.Reason, "code": codeName(failure.Code.String()), "metadata": metadata}
		} else if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return map[string]any{"results": results}, nil
}

// runStep does one step: OPERATION:NAME or OPERATION:NAME:COUNT.
func runStep(client *snowlane.Client, step string) (any, error) {
	ctx := context.Background()
	parts := append(strings.Split(step, ":"), "1")
	count, err := strconv.Atoi(parts[2])
	if err != nil {
		return nil, err
	}
	sequence := client.Sequence(parts[1])
	switch parts[0] {
	case "late":
		short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
		value, err := sequence.NextValue(short)
		return shown([]snowlane.SequenceValue{value}), err
	case "value":
		value, err := sequence.NextValue(ctx)
		return shown([]snowlane.SequenceValue{value}), err
	case "text":
		text, err := sequence.NextText(ctx)
		return map[string]any{"text": text}, err
	case "values":
		values, err := sequence.NextValues(ctx, count)
		return shown(values), err
	case "stream", "leave", "large":
		var all []snowlane.SequenceValue
		options := snowlane.StreamOptions{ChunkSize: 64}
		if parts[0] == "large" {
			options.ChunkSize = 65_536
		}
		for values, err := range sequence.Stream(ctx, count, options) {
			if err != nil {
				return nil, err
			}
			if parts[0] != "stream" {
				return map[string]any{"taken": len(values)}, nil
			}
			all = append(all, values...)
		}
		return shown(all), nil
	case "reserve":
		reserved, err := sequence.Reserve(ctx, count)
		runs := make([][]string, len(reserved.Runs))
		for index, run := range reserved.Runs {
			runs[index] = []string{fmt.Sprint(run.FirstValue), fmt.Sprint(run.Count), fmt.Sprint(run.Increment)}
		}
		return map[string]any{"runs": runs, "periodKey": reserved.PeriodKey}, err
	default:
		return nil, fmt.Errorf("there is no operation %s", parts[0])
	}
}

func shown(values []snowlane.SequenceValue) any {
	texts, keys, numbers := make([]string, len(values)), make([]string, len(values)), make([]string, len(values))
	for index, value := range values {
		numbers[index], texts[index], keys[index] = fmt.Sprint(value.Value), value.Text, value.PeriodKey
	}
	return map[string]any{"values": numbers, "texts": texts, "periodKeys": keys}
}
