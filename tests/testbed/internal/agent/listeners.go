package agent

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// endpoint says what answers at one address. Two equal endpoints need no new
// listener.
type endpoint struct {
	mode    string // http, tcp, forward
	service string // namespace/name, for http and tcp
	port    int32
	tlsName string // not empty: TLS with a certificate for that name
	target  string // for forward
}

// listeners opens and closes sockets so that they match what is wanted.
type listeners struct {
	mu      sync.Mutex
	open    map[string]*listener        // by address
	failed  map[string]string           // address to the error that was told
	answer  func(endpoint) http.Handler // for mode http
	greet   func(endpoint) []byte       // for mode tcp
	certify func(string) (*tls.Certificate, error)
}

type listener struct {
	owner string
	endpoint
	close func()
}

func newListeners() *listeners {
	return &listeners{open: map[string]*listener{}, failed: map[string]string{}}
}

// set makes the sockets of one owner match. It returns the addresses that
// cannot be listened on; those are tried again with the next call.
func (s *listeners) set(owner string, want map[string]endpoint) map[string]error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for addr, l := range s.open {
		if l.owner != owner {
			continue
		}
		if e, ok := want[addr]; !ok || e != l.endpoint {
			l.close()
			delete(s.open, addr)
		}
	}
	bad := map[string]error{}
	for addr, e := range want {
		if l := s.open[addr]; l != nil {
			if l.owner != owner {
				bad[addr] = errors.New("in use for " + l.owner)
			}
			continue
		}
		stop, err := s.listen(addr, e)
		if err != nil {
			bad[addr] = err
			if s.failed[addr] != err.Error() { // once, not with every retry
				log.Printf("%s: %v", owner, err)
				s.failed[addr] = err.Error()
			}
			continue
		}
		delete(s.failed, addr)
		s.open[addr] = &listener{owner: owner, endpoint: e, close: stop}
		log.Printf("%s: listening on %s (%s%s)", owner, addr, e.mode, arrow(e.target))
	}
	return bad
}

func arrow(target string) string {
	if target == "" {
		return ""
	}
	return " to " + target
}

func (s *listeners) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for addr, l := range s.open {
		l.close()
		delete(s.open, addr)
	}
}

func (s *listeners) listen(addr string, e endpoint) (func(), error) {
	l, err := net.Listen("tcp4", addr)
	if err != nil {
		return nil, err
	}
	if e.tlsName != "" {
		cert, err := s.certify(e.tlsName)
		if err != nil {
			l.Close()
			return nil, err
		}
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{*cert}, NextProtos: []string{"http/1.1"}})
	}
	switch e.mode {
	case "http":
		server := &http.Server{Handler: s.answer(e), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
		go server.Serve(l)
		// Close ends idle and active connections too: who keeps one alive must
		// notice as well that nothing is ready any more.
		return func() { server.Close() }, nil
	case "tcp":
		go accept(l, func(c net.Conn) { c.Write(s.greet(e)) })
	default:
		go accept(l, func(c net.Conn) { forward(c, e.target) })
	}
	return func() { l.Close() }, nil
}

func accept(l net.Listener, serve func(net.Conn)) {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		go func() {
			defer c.Close()
			serve(c)
		}()
	}
}

// forward copies both ways until both are done. A target that does not answer
// looks like a Service without endpoints: the connection breaks at once.
func forward(c net.Conn, target string) {
	up, err := net.DialTimeout("tcp", target, 2*time.Second)
	if err != nil {
		if t, ok := c.(*net.TCPConn); ok {
			t.SetLinger(0)
		}
		return
	}
	defer up.Close()
	done := make(chan struct{})
	go func() {
		io.Copy(up, c)
		if t, ok := up.(*net.TCPConn); ok {
			t.CloseWrite()
		}
		close(done)
	}()
	io.Copy(c, up)
	if t, ok := c.(*net.TCPConn); ok {
		t.CloseWrite()
	}
	<-done
}
