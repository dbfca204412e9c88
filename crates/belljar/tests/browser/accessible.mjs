// Every view with something in it, on desktop and phone, dark and light: nothing serious for axe-core, nothing too wide.
import assert from 'node:assert/strict'
import { accessible, ask, DESKTOP, fits, hook, over, person, PHONE, settled } from './person.mjs'

for (const name of ['one', 'two', 'three']) {
  await hook(name, 'SessionStart', { source: 'startup', model: 'claude-opus-4-5' })
  await hook(name, 'UserPromptSubmit', { prompt: `Do ${name}` })
  await hook(name, 'PreToolUse', { tool_name: 'Bash', tool_use_id: `a${name}`, tool_input: { command: 'make' } })
  await hook(name, 'PostToolUseFailure', { tool_name: 'Bash', tool_use_id: `a${name}`, tool_input: { command: 'make' }, error: 'exit code 2' })
  await hook(name, 'PreToolUse', { tool_name: 'Bash', tool_use_id: `b${name}`, tool_input: { command: 'make test' } })
}
await hook('three', 'StopFailure', { error: 'overloaded' })
const sandbox = await ask('POST', '/api/v1/sandboxes', { name: 'looked-at' })
const first = ['/', '/events', '/events?sel=call:aone', '/approvals', '/sandboxes', '/sandboxes?new=1', `/sandboxes/${sandbox.id}`, '/welcome']
const all = [
  ...first, '/timeline', '/timeline?as=table', '/sessions', '/sessions/one', '/sessions/one/trace',
  '/graph', '/graph?as=sequence', '/agents', '/agents?by=app', '/tools', '/errors', '/cost', '/runs', '/guardian?try=rm -rf ~', '/guardian?tab=agents', '/guardian?tab=budgets', '/audit', '/settings',
]
// The colours are the same everywhere, so what is left out in one theme is seen in the other.
for (const [size, theme, views] of [[DESKTOP, 'dark', all], [PHONE, 'light', all], [DESKTOP, 'light', first], [PHONE, 'dark', first]]) {
  const page = await person({ size, theme, allow: [/Failed to load resource.*404/] })
  for (const view of views) {
    const where = `${view} ${size.width} ${theme}`
    await page.goto(new URL(view, page.url()).href)
    const shown = page.locator('main .view, main .inbox, main .scroll, main .reader').first()
    await shown.waitFor().catch((error) => assert.fail(`${where}: ${error.message}`))
    await settled(page)
    await accessible(page, where)
    await fits(page, where)
  }
}
await over()
