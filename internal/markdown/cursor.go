package markdown

// cursor is a place in a line. A tab reaches to the next multiple of four columns.
type cursor struct {
	line    string
	at, col int
	inTab   int // columns of the tab before at that are not passed yet
}

// indent returns how many columns of white space come next, and the offset after them.
func (c *cursor) indent() (columns, after int) {
	columns, after = c.inTab, c.at
	for col := c.col; after < len(c.line); after++ {
		width := 1
		switch c.line[after] {
		case '\t':
			width = 4 - col%4
		case ' ':
		default:
			return columns, after
		}
		columns += width
		col += width
	}
	return columns, after
}

// skip passes at most so many columns of white space.
func (c *cursor) skip(columns int) {
	for ; columns > 0; columns-- {
		switch {
		case c.inTab > 0:
			c.inTab--
		case c.at < len(c.line) && c.line[c.at] == '\t':
			c.inTab = 3 - c.col%4
			c.col += 4 - c.col%4
			c.at++
		case c.at < len(c.line) && c.line[c.at] == ' ':
			c.pass(1)
		default:
			return
		}
	}
}

// pass passes bytes that are no tabs.
func (c *cursor) pass(n int) { c.at, c.col = c.at+n, c.col+n }
