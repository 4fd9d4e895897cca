// Command sbom writes what a binary of ours is made of, as its linker noted it:
//
//	sbom BINARY VERSION OUT
//
// The form is CycloneDX 1.6. The same binary gives the same document.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// component is a module, or Go itself.
type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

type metadata struct {
	Component component `json:"component"`
}

type document struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: sbom BINARY VERSION OUT")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}
	of := func(kind, module, version string) component {
		purl := "pkg:golang/" + module + "@" + version
		return component{Type: kind, Ref: purl, Name: module, Version: version, PURL: purl}
	}
	d := document{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata:   metadata{of("application", info.Main.Path, args[1])},
		Components: []component{of("library", "std", strings.TrimPrefix(info.GoVersion, "go"))},
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		d.Components = append(d.Components, of("library", m.Path, m.Version))
	}
	all := dependency{Ref: d.Metadata.Component.Ref}
	for _, c := range d.Components {
		all.On = append(all.On, c.Ref)
	}
	d.Dependencies = []dependency{all}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(args[2], append(text, '\n'), 0o644)
}
