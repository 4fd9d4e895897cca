package proof

// openFlags is 0: Windows has no pipes in folders.
const openFlags = 0
