// A session longer than any page of the API: nothing of it is missing, and only what is in sight is laid out.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { ask, fits, hook, over, person } from './person.mjs'

const id = 'long-1'
const CALLS = 1300
await hook(id, 'SessionStart', { source: 'startup' })
await hook(id, 'UserPromptSubmit', { prompt: 'Count for a long time' })
const call = async (number) => {
  const fields = { tool_name: 'Bash', tool_use_id: `n${number}`, tool_input: { command: `seq ${number}` } }
  await hook(id, 'PreToolUse', fields)
  await hook(id, 'PostToolUse', { ...fields, tool_response: { stdout: String(number), stderr: '' } })
}
await call(0)
for (let at = 1; at < CALLS - 1; at += 16) await Promise.all(Array.from({ length: Math.min(16, CALLS - 1 - at) }, (_, by) => call(at + by)))
await call(CALLS - 1)
assert.ok((await ask('GET', `/api/v1/sessions/${id}/trace?limit=1000`)).next_cursor, 'one page has all of it')

const page = await person()
await page.goto(new URL(`/sessions/${id}`, page.url()).href)
// It opens at its end; its beginning is a button away, or a prompt.
await page.getByText(`seq ${CALLS - 1}`, { exact: true }).waitFor()
await page.getByRole('button', { name: /^Earlier: / }).waitFor()
assert.ok((await page.locator('.cc').count()) <= 300)
await page.getByRole('navigation', { name: 'Prompts' }).getByText('Count for a long time').click()
await page.getByText('seq 0', { exact: true }).waitFor()
const [kept] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export as Markdown' }).click()])
const text = readFileSync(await kept.path(), 'utf8')
for (const number of [0, 700, CALLS - 1]) assert.ok(text.includes(`\`Bash\` seq ${number} (success)`), `call ${number} is not in the export`)

await page.goto(new URL(`/sessions/${id}/trace`, page.url()).href)
await page.getByText('seq 0', { exact: true }).waitFor()
assert.ok((await page.getByRole('row').count()) < 120, 'more is laid out than can be seen')
// As far down as it goes, and quickly: no frame takes long.
const slow = await page.evaluate(async () => {
  const list = document.querySelector('.rows')
  const frames = []
  let last = performance.now()
  for (let at = 0; at <= 60; at++) {
    list.scrollTop = (list.scrollHeight / 60) * at
    await new Promise(requestAnimationFrame)
    frames.push(performance.now() - last)
    last = performance.now()
  }
  return frames.toSorted((a, b) => a - b)[Math.floor(frames.length * 0.9)]
})
assert.ok(slow < 250, `nine frames of ten take up to ${slow} ms`)
await page.getByText(`seq ${CALLS - 1}`, { exact: true }).waitFor()
await fits(page, 'a long trace')
await over()
