/** Numbers for people: three significant digits, thin units, a real minus. */
import { brief } from './safe'

const significant = (value: number): string => {
  const size = Math.abs(value)
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2
  return value.toFixed(digits).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '').replace('-', '−')
}

export function bytes(count: number | null | undefined): string {
  if (count == null) return 'unknown'
  let value = count
  for (const unit of ['B', 'KB', 'MB', 'GB', 'TB']) {
    if (Math.abs(value) < 1000 || unit === 'TB') return `${unit === 'B' ? value : significant(value)} ${unit}`
    value /= 1024
  }
  return `${significant(value)} TB`
}

/** `412k`, `1.2M`. */
export function count(value: number | null | undefined): string {
  if (value == null) return 'unknown'
  if (Math.abs(value) < 1000) return String(value)
  if (Math.abs(value) < 999_500) return `${significant(value / 1000)}k`
  return `${significant(value / 1e6)}M`
}

/** `1,204`. */
export const whole = (value: number): string => value.toLocaleString('en-US')

export function usd(value: number | null | undefined): string {
  if (value == null) return 'unknown'
  if (value === 0) return '$0'
  if (value < 0.01) return `$${value.toFixed(4)}`
  return `$${value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
}

/** What something cost, where the price of its models is known. */
export const spentWords = (spent: { cost_usd: number; requests: number; unpriced: number }): string => (spent.requests && spent.unpriced === spent.requests ? 'no price' : usd(spent.cost_usd))

export const percent = (part: number): string => `${Math.round(part * 100)}%`

export const rate = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(1))

export const plural = (number: number, one: string, many = `${one}s`): string => `${whole(number)} ${number === 1 ? one : many}`

/** An id as people recognise it: its prefix and its last eight letters, where random ones are. */
export const shortId = (full: string): string => {
  const id = brief(full, 200)
  const at = id.indexOf('_')
  return at > 0 && id.length > 20 ? `${id.slice(0, at)}_…${id.slice(-8)}` : id.length > 14 ? `${id.slice(0, 8)}` : id
}
