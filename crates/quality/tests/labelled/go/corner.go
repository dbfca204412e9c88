package more

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"
)

type Kind int

const (
	KindA Kind = iota // fine: CoM
	KindB
)

var (
	cache   = map[string]string{} // flag: CoI module-mutable
	logger  = newLogger()         // fine: CoI
	once    sync.Once             // fine: CoI
	running bool                  // flag: CoI
)

func Set(k, v string) { cache[k] = v }
func Read(k string) string { return cache[k] }

func Begin() { running = true }
func IsRunning() bool { return running }

func Log(s string) { logger.Print(s) }
func Log2(s string) { logger.Print(s + s) }

type Pipe struct {
	out  *os.File
	open bool
}

func NewPipe() *Pipe { return &Pipe{} }

func (p *Pipe) Attach(f *os.File) { p.out = f }

func (p *Pipe) Write(s string) (int, error) {
	if p.out == nil { // flag: CoE state-guard
		return 0, os.ErrClosed
	}
	return p.out.WriteString(s)
}

func (p *Pipe) Lazy() *os.File {
	if p.out == nil { // fine: CoE
		p.out = os.Stdout
	}
	return p.out
}

func Person() (string, string, int) {
	return "Ada", "Lovelace", 1984 // fine: CoP
}

func Show() string {
	first, last, year := Person() // fine: CoP
	_ = year
	return first + last
}

func Fields(line string) string {
	parts := strings.Split(line, ",")
	return parts[0] + parts[1] // fine: CoP
}

func Handle(ctx context.Context, id string, name string) error { // fine: CoP
	return nil
}

func (p *Pipe) Copy(a, b, c string) {} // fine: CoP

func Options(name string, opts ...func()) {} // fine: CoP

func Open(path string) (string, error) {
	f, err := os.Open(path) // flag: CoE unpaired
	if err != nil {
		return "", err
	}
	return f.Name(), nil
}

func OpenWell(path string) (string, error) {
	f, err := os.Open(path) // fine: CoE
	if err != nil {
		return "", err
	}
	defer f.Close()
	return f.Name(), nil
}

func OpenAway(path string) (*os.File, error) {
	return os.Open(path) // fine: CoE
}

func Rate(mode int, size int64) int {
	if mode == 0 || mode == 1 { // flag: CoM coded-value
		return 1
	}
	for i := 0; i < 12; i++ { // flag: CoM magic-number-cond
		size++
	}
	return int(size % 7) // flag: CoM magic-number-arith
}

func Timeout() time.Duration { return 30 * time.Second } // fine: CoM

func Pool(jobs []func()) {
	var wg sync.WaitGroup
	for _, job := range jobs {
		wg.Add(1)
		go func() { // fine: CoTm
			defer wg.Done()
			job()
		}()
	}
	wg.Wait()
}

func Warm(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Second): // fine: CoTm
	}
}

func Encrypt(text string) string { // flag: CoA
	out := ""
	for _, letter := range text {
		code := int(letter) + 2
		out += string(rune(code))
	}
	return out
}

func Decrypt(text string) string { // flag: CoA
	out := ""
	for _, letter := range text {
		code := int(letter) - 2
		out += string(rune(code))
	}
	return out
}

func First(a, b *sync.Mutex) {
	a.Lock()
	b.Lock() // flag: CoE lock-order
	b.Unlock()
	a.Unlock()
}

func Second(a, b *sync.Mutex) int {
	b.Lock()
	a.Lock() // flag: CoE lock-order
	a.Unlock()
	b.Unlock()
	return 1
}
