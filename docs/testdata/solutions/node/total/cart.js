export const total = (items) => items.reduce((sum, { cents, count }) => sum + cents * count, 0)
export const shipping = (country) => undefined
export const discount = (cents, code) => undefined
