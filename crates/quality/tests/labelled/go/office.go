package office

import "sync"

type Desk struct {
	mu sync.Mutex
	n  int
}

func (d *Desk) Take() int {
	d.mu.Lock()
	defer d.mu.Unlock() // fine: CoE
	d.n++
	return d.n
}

func (d *Desk) Grab() int {
	d.mu.Lock() // flag: CoE unpaired
	d.n++
	return d.n
}

func Fire(work func()) {
	go work() // flag: CoTm detached
}

func Join(work func()) {
	var group sync.WaitGroup
	group.Add(1)
	go func() { // fine: CoTm
		defer group.Done()
		work()
	}()
	group.Wait()
}

func Split(text string) (string, error) { // fine: CoP
	return text, nil
}

var d sync.Mutex // fine: CoI

type Drawer struct {
	open bool
}

func (d *Drawer) Pull() { d.open = true }

func (d *Drawer) Push() { d.open = false }

func Guarded() {
	d.Lock()
	defer d.Unlock()
}
