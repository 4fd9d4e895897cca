package client

import (
	"flag"
	"fmt"
	"io"
	"time"
)

// UsualTimeout is the timeout in the settings entry that `init` writes.
const UsualTimeout = 660 * time.Second

// Call is what the words of a settings entry say after "hook".
type Call struct {
	Client              *Client
	LoopDir, OnComplete string
	Timeout             time.Duration
	ByEntry             bool // it has --timeout, as that of an entry
}

// Parse reads the words. What they do not name stays as it is.
func (c *Call) Parse(words []string) error {
	f := flag.NewFlagSet("hook", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&c.LoopDir, "loop-dir", c.LoopDir, "")
	f.Func("client", "", func(name string) (err error) {
		c.Client, err = Of(name)
		return err
	})
	f.DurationVar(&c.Timeout, "timeout", UsualTimeout, "")
	f.StringVar(&c.OnComplete, "on-complete", c.OnComplete, "")
	err := f.Parse(words)
	f.Visit(func(given *flag.Flag) { c.ByEntry = c.ByEntry || given.Name == "timeout" })
	switch {
	case err != nil:
	case f.NArg() > 0:
		err = fmt.Errorf("unknown argument %q", f.Arg(0))
	case c.Timeout <= 0:
		err = fmt.Errorf("--timeout %v; want more than 0", c.Timeout)
	}
	return err
}
