export const total = (items) => items.reduce((sum, { cents, count }) => sum + cents * count, 0)
export const shipping = (country) => (country === 'DE' ? 490 : 1990)
export const discount = (cents, code) => (code === 'TEN' ? Math.round(cents * 0.9) : cents)
