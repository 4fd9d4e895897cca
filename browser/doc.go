// Package browser opens the page of `ralph-runner serve` in a real browser. With the build tag browser it holds the
// tests, which need chromium, and draws the pictures of the documents. Nothing in it is imported by the product. Run it
// with `make browser`.
package browser
