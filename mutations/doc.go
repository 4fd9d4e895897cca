// Package mutations shows that the promises of the documents are tested. Its table has promises, each with a change of
// the product that breaks it and the test that then fails. `make mutations` makes each change and sees its test fail;
// without the build tag mutations, it is only tested that the table fits the documents and the product, and that the
// scripts of a withdrawn mechanism are there as long as it is.
package mutations
