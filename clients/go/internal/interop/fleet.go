package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"snowlane.dev/go"
)

// startingMax clients wait for their first ID at a time.
const startingMax = 50

// fleet makes many clients, each with a buffer that hands out IDs at an even rate once all have had their first one. It
// counts the calls that fail.
func fleet(keys arguments) (any, error) {
	perSecond, total := keys.number("per_second", 1), keys.number("per_second", 1)*keys.number("seconds", 1)
	var mutex sync.Mutex
	var problem error
	count, failures, reasons := 0, 0, map[snowlane.Reason]int{}
	note := func(err error) {
		mutex.Lock()
		defer mutex.Unlock()
		if err == nil {
			count++
		} else {
			failures++
			reasons[snowlane.ReasonOf(err)]++
		}
	}
	var begun sync.WaitGroup
	begun.Add(keys.number("clients", 1))
	starting := make(chan struct{}, startingMax)
	member := func() error {
		begin := sync.OnceFunc(begun.Done)
		defer begin()
		client, err := snowlane.NewClient(snowlane.Options{Endpoints: strings.Split(keys["endpoints"], ",")})
		if err != nil {
			return err
		}
		defer client.Close()
		buffer, err := client.Prefetch(snowlane.BufferOptions{})
		if err != nil {
			return err
		}
		starting <- struct{}{}
		// Connecting may take a busy machine a while.
		patient, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		_, err = buffer.NextID(patient)
		<-starting
		note(err)
		begin()
		begun.Wait()
		start := time.Now()
		for index := range total {
			time.Sleep(time.Until(start.Add(time.Duration(index) * time.Second / time.Duration(perSecond))))
			_, err := buffer.NextID(context.Background())
			note(err)
		}
		return nil
	}
	var members sync.WaitGroup
	for range keys.number("clients", 1) {
		members.Add(1)
		go func() {
			defer members.Done()
			if err := member(); err != nil {
				mutex.Lock()
				defer mutex.Unlock()
				problem = errors.Join(problem, err)
			}
		}()
	}
	members.Wait()
	return map[string]any{"count": count, "failures": failures, "reasons": reasons}, problem
}
