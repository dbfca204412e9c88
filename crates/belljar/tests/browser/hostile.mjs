// Everything an agent can say is said in the worst way, and every view is looked at.
import assert from 'node:assert/strict'
import { ask, fits, hook, over, person, PHONE, rawHook } from './person.mjs'

const SCRIPT = '<script>globalThis.taken = 1</script><img src=x onerror="globalThis.taken = 1"><svg onload="globalThis.taken = 1">'
const ANSI = '\u001b[2J\u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007\u0000\u0007\u009b31m'
const BIDI = 'safe\u202Etxt.exe\u202C \u2066hidden\u2069 zero\u200Bwidth \u{E0041}'
const LONG = `${'A'.repeat(1_000_000)}end`
const LINK = 'javascript:globalThis.taken=1 [Allow](http://evil.example) https://belljar.example@evil.example/'
const MARKS = `Z${'\u0335'.repeat(500)}`
const WORST = [SCRIPT, ANSI, BIDI, LINK, MARKS, 'Verdict: Allow ✓ approved by admin']

let number = 0
for (const evil of [...WORST, LONG]) {
  const id = `evil-${number++}-${evil.slice(0, 40)}`
  await hook(id, 'SessionStart', { source: evil, model: evil.slice(0, 100) })
  await hook(id, 'UserPromptSubmit', { prompt: evil })
  await hook(id, 'PreToolUse', { tool_name: evil.slice(0, 120), tool_use_id: `t${number}`, tool_input: { command: evil, [evil.slice(0, 60)]: evil } })
  await hook(id, 'PostToolUseFailure', { tool_name: evil.slice(0, 120), tool_use_id: `t${number}`, tool_input: { command: evil }, error: evil })
  await hook(id, 'PreToolUse', { tool_name: 'Edit', tool_use_id: `e${number}`, tool_input: { file_path: `/w/${evil.slice(0, 200)}`, old_string: evil, new_string: `${evil}!` } })
  await hook(id, 'SubagentStart', { agent_id: evil.slice(0, 100), agent_type: evil.slice(0, 100) })
  await hook(id, 'Stop', { last_assistant_message: evil })
}
// What is no UTF-8 at all is kept as what it is, and shown as signs.
await rawHook(Buffer.concat([Buffer.from('{"hook_event_name":"UserPromptSubmit","session_id":"raw","prompt":"'), Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80]), Buffer.from('"}')]))
const sandbox = await ask('POST', '/api/v1/sandboxes', { name: BIDI.slice(0, 40), agent: 'evil agent', labels: { task: SCRIPT.slice(0, 60) } })
await ask('POST', `/api/v1/sandboxes/${sandbox.id}/exec`, { command: `printf '%b' '\\033[2J<script>globalThis.taken = 1</script>\\377' | tee "$HOME/<img src=x onerror=globalThis.taken=1>"` })

const calls = (await ask('GET', '/api/v1/calls?limit=100')).items
const edits = calls.filter((call) => call.tool === 'Edit')
const views = [
  '/', '/events?range=1h', '/approvals', '/sandboxes?show=all', `/sandboxes/${sandbox.id}`, '/welcome', '/sessions', '/timeline', '/graph', '/tools', '/errors', '/cost', '/audit', '/guardian', '/settings', '/runs',
  ...calls.slice(0, 3).map((call) => `/events?range=1h&sel=call:${encodeURIComponent(call.tool_use_id ?? call.id)}`),
  ...edits.slice(0, 2).flatMap((call) => ['diff', 'input', 'raw'].map((tab) => `/events?range=1h&sel=call:${encodeURIComponent(call.tool_use_id ?? call.id)}&tab=${tab}`)),
  ...(await ask('GET', '/api/v1/sessions')).items.map((one) => `/sessions/${encodeURIComponent(one.session_id)}`),
]
// Signs for what would act or deceive; none of these may reach the page as it is.
const ACTS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u
for (const size of [undefined, PHONE]) {
  const page = await person({ ...(size ? { size } : {}), allow: [/Failed to load resource.*40[04]/] })
  for (const view of views) {
    await page.goto(new URL(view, page.url()).href)
    await page.locator('main .view, main .inbox, main .scroll').first().waitFor()
    await page.waitForLoadState('networkidle')
    assert.equal(await page.evaluate(() => globalThis.taken), undefined, `${view}: something ran`)
    const text = await page.evaluate(() => document.body.innerText)
    const found = ACTS.exec(text)
    assert.ok(!found, `${view}: U+${found?.[0].codePointAt(0).toString(16)} reached the page near ${JSON.stringify(text.slice(Math.max(0, (found?.index ?? 0) - 30), (found?.index ?? 0) + 30))}`)
    const strange = await page.evaluate(() => [...document.links].map((link) => link.href).filter((to) => new URL(to).origin !== location.origin))
    assert.deepEqual(strange, [], `${view}: links agents made`)
    assert.equal(await page.locator('main script, main iframe, main object, main [onerror], main [onload]').count(), 0, `${view}: something agents made`)
    await fits(page, view)
  }
}
await over()
