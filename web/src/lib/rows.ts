/** Lists without a selection of their own: `j` and `k` move the focus from row to row, Enter does what it does there. */

/** Moves the focus among what is marked `data-row`, from where it is; from outside it begins at the end it comes from. */
export function walkRows(by: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')].filter((row) => row.checkVisibility())
  if (!rows.length) return false
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
  return true
}
