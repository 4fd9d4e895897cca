// Icon draws the plugin's icon, a loop around a check mark, as a PNG on standard
// output.
//
//	go run ./docs/icon > .claude-plugin/icon.png
package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
)

func main() {
	if err := png.Encode(os.Stdout, draw(512)); err != nil {
		fmt.Fprintln(os.Stderr, "icon: error:", err)
		os.Exit(1)
	}
}

// The unit is half the icon's side, from its middle; y points down.
type point struct{ x, y float64 }

func (p point) sub(q point) point     { return point{p.x - q.x, p.y - q.y} }
func (p point) dot(q point) float64   { return p.x*q.x + p.y*q.y }
func (p point) cross(q point) float64 { return p.x*q.y - p.y*q.x }
func (p point) times(f float64) point { return point{p.x * f, p.y * f} }
func (p point) length() float64       { return math.Hypot(p.x, p.y) }
func polar(r, degrees float64) point {
	s, c := math.Sincos(degrees * math.Pi / 180)
	return point{r * c, r * s}
}
func clamp(f, low, high float64) float64 { return max(low, min(high, f)) }

const (
	radius = 0.56 // of the loop
	stroke = 0.07 // half the width of all lines
	from   = -30  // degrees, clockwise from three o'clock
	to     = 275
)

var (
	ground = color.NRGBA{0x24, 0x3b, 0x4a, 0xff}
	loop   = color.NRGBA{0xf0, 0xc2, 0x6e, 0xff}
	mark   = color.NRGBA{0xfb, 0xf7, 0xef, 0xff}
)

// Each shape is the distance of a point from its edge, negative inside.

func tile(p point) float64 {
	const corner = 0.44
	q := point{math.Abs(p.x) - 1 + corner, math.Abs(p.y) - 1 + corner}
	return point{max(q.x, 0), max(q.y, 0)}.length() + min(max(q.x, q.y), 0) - corner
}

func segment(p, a, b point) float64 {
	along := clamp(p.sub(a).dot(b.sub(a))/b.sub(a).dot(b.sub(a)), 0, 1)
	return p.sub(a).sub(b.sub(a).times(along)).length()
}

func arc(p point) float64 {
	angle := math.Atan2(p.y, p.x) * 180 / math.Pi
	for angle < from {
		angle += 360
	}
	if angle <= to {
		return math.Abs(p.length()-radius) - stroke
	}
	return p.sub(polar(radius, from)).length() - stroke // its round begin; the head is at the end
}

// head is the arrow's, at the end of the arc, which goes clockwise.
func head(p point) float64 {
	const size, round = 0.16, 0.05
	base, ahead := polar(radius, to), polar(1, to+90)
	tip := base.sub(ahead.times(-1.3 * size))
	left, right := polar(radius-size, to), polar(radius+size, to)
	near, inside := math.Inf(1), true
	for _, edge := range [][2]point{{left, tip}, {tip, right}, {right, left}} {
		near = min(near, segment(p, edge[0], edge[1]))
		inside = inside && edge[1].sub(edge[0]).cross(p.sub(edge[0])) < 0
	}
	if inside {
		near = -near
	}
	return near - round
}

func check(p point) float64 {
	elbow := point{-0.06, 0.2}
	return min(segment(p, point{-0.26, 0}, elbow), segment(p, elbow, point{0.26, -0.18})) - stroke
}

func draw(side int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	unit := float64(side) / 2
	for y := range side {
		for x := range side {
			p := point{(float64(x)+0.5)/unit - 1, (float64(y)+0.5)/unit - 1}
			// How much of the pixel is inside.
			cover := func(distance float64) float64 { return clamp(0.5-distance*unit, 0, 1) }
			c := blend(ground, loop, cover(min(arc(p), head(p))))
			c = blend(c, mark, cover(check(p)))
			c.A = uint8(math.Round(255 * cover(tile(p))))
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

func blend(a, b color.NRGBA, share float64) color.NRGBA {
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (float64(b)-float64(a))*share)) }
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}
