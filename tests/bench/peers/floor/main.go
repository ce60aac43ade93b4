// Command floor sends the requests that nobody can do without, and nothing
// else: what the API server itself can do is the floor of every tool.
//
//	floor list|metadata -bed DIR -set DIR
//	floor apply|dry-run -bed DIR -set DIR [-in-flight 8]
//
// The set's lists.txt names a collection a line; its namespaces.jsonl and
// requests.jsonl hold one {"path", "object"} a line.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// request is one object and where it belongs.
type request struct {
	Path   string          `json:"path"`
	Object json.RawMessage `json:"object"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("list, metadata, apply or dry-run?")
	}
	flags := flag.NewFlagSet("floor", flag.ContinueOnError)
	bed := flags.String("bed", "", "folder of the control plane")
	set := flags.String("set", "", "folder of the set")
	inFlight := flags.Int("in-flight", 8, "requests at a time")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	server, err := connect(*bed, *inFlight)
	if err != nil {
		return err
	}
	switch args[0] {
	case "list":
		return server.list(*set, "application/json")
	case "metadata":
		return server.list(*set, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
	case "apply":
		return server.apply(*set, "")
	case "dry-run":
		return server.apply(*set, "&dryRun=All")
	}
	return fmt.Errorf("unknown action %q", args[0])
}

// list reads every collection, page by page.
func (s *server) list(set, accept string) error {
	text, err := os.ReadFile(filepath.Join(set, "lists.txt"))
	if err != nil {
		return err
	}
	for _, collection := range strings.Fields(string(text)) {
		s.start(func() error { return s.pages(collection, accept) })
	}
	return s.wait()
}

// apply sends the namespaces, and when they are there everything else.
func (s *server) apply(set, query string) error {
	for _, name := range []string{"namespaces.jsonl", "requests.jsonl"} {
		requests, err := read(filepath.Join(set, name))
		if err != nil {
			return err
		}
		for _, r := range requests {
			s.start(func() error { return s.patch(r.Path+"?fieldManager=floor&force=true"+query, r.Object) })
		}
		if err := s.wait(); err != nil {
			return err
		}
	}
	return nil
}

func read(path string) ([]request, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []request
	decoder := json.NewDecoder(bufio.NewReaderSize(file, 1<<20))
	for decoder.More() {
		var r request
		if err := decoder.Decode(&r); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
