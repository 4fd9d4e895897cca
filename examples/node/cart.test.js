import assert from 'node:assert/strict'
import test from 'node:test'
import { discount, shipping, total } from './cart.js'

test('total', () => assert.equal(total([{ cents: 250, count: 2 }, { cents: 99, count: 1 }]), 599))

test('shipping', () => {
  assert.equal(shipping('DE'), 490)
  assert.equal(shipping('NZ'), 1990)
})

test('discount', () => {
  assert.equal(discount(1000, 'TEN'), 900)
  assert.equal(discount(1000, 'NONE'), 1000)
})
