package main

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// TestIcon compares the plugin's icon with the one that this program draws. Platforms
// round a colour differently, by one step.
func TestIcon(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", ".claude-plugin", "icon.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	have, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	want := draw(512)
	if have.Bounds() != want.Bounds() {
		t.Fatalf("it is %v, want %v; run make icon", have.Bounds(), want.Bounds())
	}
	for y := range 512 {
		for x := range 512 {
			r, g, b, a := have.At(x, y).RGBA()
			wr, wg, wb, wa := want.At(x, y).RGBA()
			for _, d := range []int{int(r) - int(wr), int(g) - int(wg), int(b) - int(wb), int(a) - int(wa)} {
				if d < -0x200 || d > 0x200 {
					t.Fatalf("the point %d,%d differs; run make icon", x, y)
				}
			}
		}
	}
}
