//go:build unix

package main

import "github.com/ralph-stop-hook/ralph-stop-hook/internal/hostile"

// The tables of hostile inputs are long, so what they often name has a short name here.
type (
	big   = hostile.Big
	place = hostile.Place
)

var (
	fifo, folder, nowhere = hostile.FIFO, hostile.Folder, hostile.Nowhere
	zeros, itself         = hostile.Zeros, hostile.Itself
	missing               = hostile.Missing
	link, inside, second  = hostile.Link, hostile.Inside, hostile.Second
	sparse, many, around  = hostile.Sparse, hostile.Many, hostile.Around
	utf16                 = hostile.UTF16
)
