package bank

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

type Color int

const (
	Red   Color = 3 // fine: CoM
	Green Color = 7 // fine: CoM
)

const maxAge = 120 // fine: CoM

var sessions = make(map[string]*Session) // flag: CoI module-mutable
var total int                            // flag: CoI module-mutable
var defaultNames = []string{"a", "b"}    // fine: CoI
var mu sync.Mutex                        // fine: CoI

func Put(id string, s *Session) {
	sessions[id] = s
	total += 1
}

func Get(id string) (*Session, int) {
	return sessions[id], total
}

func Names() []string {
	return defaultNames
}

type Session struct {
	ready bool
	conn  *Conn
	Level int
	State int
}

func (s *Session) Start() {
	s.ready = true
}

func (s *Session) Connect(c *Conn) {
	s.conn = c
}

func (s *Session) Do() error {
	if !s.ready { // flag: CoE state-guard
		return errors.New("start first")
	}
	return nil
}

func (s *Session) Query() (string, error) {
	if s.conn == nil { // flag: CoE state-guard
		return "", fmt.Errorf("not connected")
	}
	return "", nil
}

func (s *Session) Must() {
	if !s.ready { // flag: CoE state-guard
		panic("start first")
	}
}

func Judge(s *Session, age int, code int) string {
	if s.Level == 2 { // flag: CoM coded-value
		return "two"
	}
	if age > 17 { // flag: CoM magic-number-cond
		return "adult"
	}
	if code == 404 { // fine: CoM
		return "missing"
	}
	if code/100 == 5 { // fine: CoM
		return "broken"
	}
	switch s.State { // flag: CoM coded-value
	case 0:
		return "idle"
	case 1:
		return "busy"
	}
	return ""
}

func Price(net float64) float64 {
	return net * 1.19 // flag: CoM magic-number-arith
}

func Wait(n int) time.Duration {
	return time.Duration(n) * 250 * time.Millisecond // fine: CoM
}

func Register(first, last, street, city string) string { // flag: CoP many-positional
	return first + last + street + city
}

func Mixed(a string, b int, c bool, d float64) string { // fine: CoP
	return fmt.Sprint(a, b, c, d)
}

func NewDate(year, month, day int) Date {
	return Date{year, month, day}
}

func today() Date {
	return NewDate(2024, 12, 11) // flag: CoP swappable-call
}

func Save(value interface{}) error { // flag: CoT any-type
	return nil
}

func Printf(format string, args ...any) { // fine: CoT
}

func hidden(value any) { // fine: CoT
}

func Boot(server *Server) {
	server.Start()
	time.Sleep(2 * time.Second) // flag: CoTm sleep-sync
}

func retryDial(server *Server) {
	time.Sleep(time.Second) // fine: CoTm
}

func Fire(work func()) {
	go func() { // flag: CoTm detached
		work()
	}()
}

func FireWell(work func()) {
	done := make(chan struct{})
	go func() { // fine: CoTm
		work()
		close(done)
	}()
	<-done
}

func Close(f *os.File) {
	f.Close()
	f.WriteString("late") // flag: CoE use-after-terminal
}

func Locked(m *sync.Mutex) {
	m.Lock() // fine: CoE
	defer m.Unlock()
}

func LockedByHand(m *sync.Mutex, work func()) {
	m.Lock() // fine: CoE
	work()
	m.Unlock()
}

func Forgotten(m *sync.Mutex, work func()) {
	m.Lock() // flag: CoE unpaired
	work()
}

func SumPrices(items []Item) int { // flag: CoA clone
	sum := 0
	for _, item := range items {
		line := item.Price * item.Count
		sum += line
	}
	return sum
}

func CartValue(goods []Item) int { // flag: CoA clone
	value := 0
	for _, good := range goods {
		row := good.Price * good.Count
		value += row
	}
	return value
}

func Parse(s string) (int, error) {
	return 0, nil // fine: CoP
}

type House struct{}
type Flat struct{}

func (House) HeatPumpPrice() float64 { return 10.50 } // flag: CoV
func (Flat) HeatPumpPrice() float64  { return 10.50 } // flag: CoV

func exists(path string) ([]byte, error) {
	if _, err := os.Stat(path); os.IsNotExist(err) { // flag: CoTm toctou
		return nil, err
	}
	return os.ReadFile(path)
}
