package shop

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"
)

const Limit = 25                     // fine: CoM
const Timeout = 5 * time.Minute      // fine: CoM
var registry = map[string]int{}      // flag: CoI module-mutable
var hits int                         // flag: CoI module-mutable
var ErrClosed = errors.New("closed") // fine: CoI

func Register(name string, value int) {
	registry[name] = value
	hits++
}

func Lookup(name string) int {
	return registry[name] + hits
}

func Closed() error {
	return ErrClosed
}

func AlsoClosed() bool {
	return ErrClosed != nil
}

type Order struct {
	Status int
	Total  int
	open   bool
	conn   *Conn
	mu     sync.Mutex
}

func (o *Order) Open() {
	o.open = true
}

func (o *Order) Add(amount int) error {
	if !o.open { // flag: CoE state-guard
		return errors.New("not open")
	}
	o.Total += amount
	return nil
}

func (o *Order) Dial() {
	o.conn = newConn()
}

func (o *Order) Read() error {
	if o.conn == nil { // flag: CoE state-guard
		return ErrClosed
	}
	return nil
}

func (o *Order) Check(amount *int) error {
	if amount == nil { // fine: CoE
		return ErrClosed
	}
	return nil
}

func Judge(o *Order, age int, items []int, resp *http.Response) int {
	if o.Status == 1 { // flag: CoM coded-value
		return 0
	}
	if age > 18 { // flag: CoM magic-number-cond
		return 1
	}
	if len(items) == 3 { // fine: CoM
		return 2
	}
	if resp.StatusCode == 503 { // fine: CoM
		return 1
	}
	switch o.Status { // flag: CoM coded-value
	case 2:
		return 10
	case 3:
		return age * 37 // flag: CoM magic-number-arith
	}
	wait := time.Duration(age) * time.Second // fine: CoM
	_ = wait
	_ = Order{Status: 4} // flag: CoM coded-value
	return age * 60      // fine: CoM
}

func Route(name, method, path string, size int) string { // flag: CoP many-positional
	return name + method + path
}

func Handle(ctx context.Context, w http.ResponseWriter, r *http.Request, opts Options) { // fine: CoP
}

func Send(mail interface{}) { // flag: CoT any-type
}

func Keep(mail any) { // flag: CoT any-type
}

func Logf(format string, args ...interface{}) { // fine: CoT
}

func Map[T any](items []T) []T { // fine: CoT
	return items
}

func private(mail any) { // fine: CoT
}

func NewClock(hour, minute, second int) Clock {
	return Clock{hour, minute, second}
}

func noon() Clock {
	return NewClock(12, 0, 30) // flag: CoP swappable-call
}

func pair() (int, error) {
	return 3, nil // fine: CoP
}

func usePair() int {
	value, err := pair() // fine: CoP
	if err != nil {
		return 0
	}
	return value
}

func fields(o *Order) []string {
	return []string{o.name(), o.street(), "x"} // flag: CoP positional-record
}

func street(o *Order) string {
	f := fields(o)
	return f[1]
}

func third(row []string) string {
	return row[2] // flag: CoP positional-record
}

func Boot(start func()) {
	start()
	time.Sleep(3 * time.Second) // flag: CoTm sleep-sync
}

func Poll(ready func() bool) {
	for !ready() {
		time.Sleep(time.Second) // fine: CoTm
	}
}

func Detach(work func()) {
	go work() // flag: CoTm detached
}

func Group(work func()) {
	var wg sync.WaitGroup
	go work() // fine: CoTm
	wg.Wait()
}

func Load(path string) ([]byte, error) {
	if _, err := os.Stat(path); err != nil { // flag: CoTm toctou
		return nil, err
	}
	return os.ReadFile(path)
}

func (o *Order) Held() int {
	o.mu.Lock() // fine: CoE
	defer o.mu.Unlock()
	return o.Total
}

func (o *Order) Leaky() int {
	o.mu.Lock() // flag: CoE unpaired
	return o.Total
}

func Forward(a, b *sync.Mutex) { // fine: CoA
	a.Lock()
	defer a.Unlock()
	b.Lock() // flag: CoE lock-order
	defer b.Unlock()
}

func Backward(a, b *sync.Mutex) { // fine: CoA
	b.Lock()
	defer b.Unlock()
	a.Lock() // flag: CoE lock-order
	defer a.Unlock()
}

func Finish(f *os.File) {
	f.Close()
	f.Write([]byte("late")) // flag: CoE use-after-terminal
}

func Well(f *os.File) {
	defer f.Close()
	f.Write([]byte("fine")) // fine: CoE
}

func SumOpen(orders []Order) int { // flag: CoA clone
	total := 0
	for _, order := range orders {
		if order.open && order.Total > 0 {
			total += order.Total
		}
	}
	return total
}

func AddOpen(bills []Order) int { // flag: CoA clone
	sum := 0
	for _, bill := range bills {
		if bill.open && bill.Total > 0 {
			sum += bill.Total
		}
	}
	return sum
}

const DefaultPort = 8080 // flag: CoV same-name-same-literal

func Serve() int {
	port := 8080 // flag: CoV same-name-same-literal
	return port
}
