package ledger

import (
	"context"
	"errors"
	"sync"
	"time"
)

const retries = 4 // fine: CoM

var cache = map[string]int{} // flag: CoI module-mutable

var errClosed = errors.New("closed") // fine: CoI

func Put(key string, value int) {
	cache[key] = value
}

func Get(key string) int {
	return cache[key]
}

func Handle(ctx context.Context, name string, size int, done func()) error { // fine: CoP
	return nil
}

func Move(from, to, unit, reason string) {} // flag: CoP many-positional

func Store(value interface{}) {} // flag: CoT

func Discount(kind int, amount float64) float64 {
	if kind == 2 { // flag: CoM coded-value
		return amount * 0.85 // flag: CoM magic-number-arith
	}
	return amount
}

func Wait(limit int) time.Duration {
	if limit > 37 { // flag: CoM magic-number-cond
		return 5 * time.Minute // fine: CoM
	}
	return time.Duration(retries) * time.Second // fine: CoM
}

func Boot(start func()) {
	start()
	time.Sleep(3 * time.Second) // flag: CoTm sleep-sync
}

func Fire(work func()) {
	go work() // flag: CoTm detached
}

func FireAll(work []func()) {
	var group sync.WaitGroup
	for _, each := range work {
		group.Add(1)
		go func() { // fine: CoTm
			defer group.Done()
			each()
		}()
	}
	group.Wait()
}

type Pair struct {
	left, right sync.Mutex
}

func (p *Pair) Forward() {
	p.left.Lock()
	defer p.left.Unlock()
	p.right.Lock() // flag: CoE lock-order
	defer p.right.Unlock()
}

func (p *Pair) Backward() {
	p.right.Lock()
	defer p.right.Unlock()
	p.left.Lock()
	defer p.left.Unlock()
}
